# SPDX-License-Identifier: MIT
"""Errors that end a run or a case, and what is stored of those that others raise."""

import math
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from frobench.suite.stored.types import Check


class CannotRunError(RuntimeError):
    """The machine cannot do what was asked; the message says why and what helps."""


class CutShortError(CannotRunError):
    """A run ended before its last launch did, and can be resumed by its name, `run`."""

    def __init__(self, message: str, run: str) -> None:
        super().__init__(message)
        self.run = run


class NothingMeasuredError(RuntimeError):
    """No selected case could be measured: some `failed`, or all were left out."""

    def __init__(self, message: str, *, failed: bool) -> None:
        super().__init__(message)
        self.failed = failed


class NothingSelectedError(ValueError):
    """No case is selected."""


class DoesNotFitError(Exception):
    """A case needs more of a device than is free: of its memory, or the device for itself."""


class LostRankError(RuntimeError):
    """A process of a group ended or did not answer, or its network broke; the message names it."""


class ClockError(RuntimeError):
    """The host's clock does not do what a clock must."""


class Interrupted(Exception):  # noqa: N818 - not an error: the user asked for it
    """The user ended the run.

    run : its name, to resume it by
    stored : where everything finished was saved; ``None`` if nothing was
    """

    def __init__(self, run: str, stored: Path | None) -> None:
        super().__init__(run)
        self.run = run
        self.stored = stored


class WrongResultError(Exception):
    """A timed result is not the right one, so its speed is worth nothing."""

    def __init__(self, check: Check) -> None:
        off = f"{check.compared} is off by {check.error:.2g}, over the bound of {check.bound:.2g}"
        if check.error == math.inf:  # as between two shapes
            off = f"compared {check.compared}: no match"
        super().__init__(f"wrong result: {off}")
        # The stored file knows neither infinity nor NaN.
        error = check.error if math.isfinite(check.error) else sys.float_info.max
        self.check = replace(check, error=error)


_DTYPE = r"(?:Bool|Byte|Char|Short|Int|Long|Half|Float|Double|BFloat16|Float8_\w+|Complex\w+)"
_SIZE = r"\d[\d.]* (?:bytes|[KMGT]iB)"
_TEMPLATES = (
    rf"out of memory\. Tried to allocate {_SIZE}(?:\. GPU \d+ has a total capacity of {_SIZE})?",
    r"(?:can't allocate memory|not enough memory): you tried to allocate \d+ bytes",
    r"CUDA-capable device(?:\(s\) is/are|s are) busy or unavailable",
    r"no kernel image is available for execution on the device",
    r"PyTorch was not built for this generation",
    r"The NVIDIA driver on your system is too old \(found version \d+\)",
    r"CUDA driver version is insufficient for CUDA runtime version",
    r"Found no NVIDIA driver on your system|No (?:CUDA|HIP|XPU) GPUs are available",
    r"Torch not compiled with CUDA enabled|torch is built without (?:gloo|mpi|nccl|ucc|xccl)",
    r"Cannot access accelerator device when none is available",
    r"(?:CUDA|HIP) error: (?:out of memory|device-side assert triggered|initialization error)",
    r"an illegal memory access was encountered|misaligned address|unspecified launch failure",
    r"uncorrectable ECC error encountered|the launch timed out and was terminated",
    r"too many resources requested for launch|operation not supported",
    r"invalid (?:argument|configuration argument|device function|device ordinal)",
    r"operation not permitted when stream is capturing",
    r"Graph is not supported on device type: (?:cpu|cuda|mps|xpu)",
    r"only supported on CUDA devices with compute capability >= \d+\.\d+|doesn't support float64",
    rf"not implemented for '{_DTYPE}'|expected scalar type {_DTYPE} but found {_DTYPE}",
    r"expected m1 and m2 to have the same dtype",
    r"Expected all tensors to be on the same device",
    r"mat1 and mat2 shapes cannot be multiplied \(\d+x\d+ and \d+x\d+\)",
    r"The size of tensor a \(\d+\) must match the size of tensor b \(\d+\)",
    r"Trying to backward through the graph a second time",
    r"module 'torch(?:\.\w+)*' has no attribute",
    r"CU(?:BLAS|DNN|FFT|SOLVER|SPARSE)_STATUS_[A-Z_]+",
    r"nccl(?:Internal|InvalidUsage|Remote|System|UnhandledCuda)Error",
    r"Connection closed by peer|Timed out waiting \d+ms for (?:recv|send) operation to complete",
    r"No working C\+\+ compiler found|Failed to find C compiler",
    r"Cannot find a working triton installation|too old to be supported by the triton GPU compiler",
)
"""What PyTorch says that has only numbers, sizes and types in it; no other text of it is stored."""


def known_message(text: str) -> str:
    """Return the part of a message that is known to name no person or host, or nothing."""
    match = re.search("|".join(_TEMPLATES), text)
    return match[0] if match else ""


def in_brief(error: BaseException) -> str:
    """Return what is stored of an error that others raised: its type, and a message if known.

    NVML and the system have a fixed text for each error number, without names.
    """
    kind, message = type(error), ""
    with suppress(Exception):  # the text of an error may itself raise another one
        if kind.__module__ == "pynvml":
            return str(error)
        ours = kind.__module__.startswith("frobench.")
        message = str(error) if ours else known_message(str(error))
    if isinstance(error, OSError) and isinstance(error.errno, int):
        message = os.strerror(error.errno)
    return f"{kind.__name__}: {message}" if message else kind.__name__
