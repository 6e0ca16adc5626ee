# SPDX-License-Identifier: MIT
"""Which of NVIDIA's GPUs a build of torch has code for, and which 8-bit floats AMD's have."""

from collections.abc import Sequence


def serves(built: Sequence[str], capability: str) -> bool:
    """Tell whether code for one of some architectures, such as `sm_90`, runs on a GPU such as 9.0.

    `sm_XY` and `sm_XYf` are for their major version from that minor on, and `sm_XYa` is for itself
    alone; from `compute_XY` the driver compiles for whatever is newer.
    """
    major, minor = map(int, capability.split("."))
    for architecture in built:
        kind, _, digits = architecture.removesuffix("f").partition("_")
        if not digits.isdecimal():
            runs = digits.rstrip("a") == f"{major}{minor}"
        else:
            made_for = int(digits[:-1]), int(digits[-1])
            runs = made_for <= (major, minor) and (kind != "sm" or made_for[0] == major)
        if runs:
            return True
    return False


def eight_bit_float(gfx: str | None) -> str:
    """Return the type of 8-bit floats, by torch's name, that a GPU has units for.

    gfx : AMD's name of the architecture, such as `gfx942:sramecc+:xnack-`; nothing of other GPUs

    Only gfx94x (MI300X, MI325X) has the type without infinities and negative zero; newer ones have
    that of the Open Compute Project, as NVIDIA's do:
    https://rocm.docs.amd.com/projects/hipBLASLt/en/latest/reference/data-type-support.html
    """
    return "float8_e4m3fnuz" if gfx and gfx.startswith("gfx94") else "float8_e4m3fn"
