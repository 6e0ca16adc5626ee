# SPDX-License-Identifier: MIT
"""What a catalog of datasheet figures must be, and what betrays a figure that is not.

Datasheets print sparse rates beside dense ones, and lists copied from them mix both. A figure
that is twice too high shows in two ways here: divided by clock and multiprocessors, a peak is a
power of two, and which one is known of the chip's family; and the precisions of one chip stand
in fixed ratios.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from frobench.suite.datasheets.catalog import PRECISIONS, Figure

PEAKS = {f"peak_{precision}" for precision in PRECISIONS}
QUANTITIES = {
    **dict.fromkeys(PEAKS, ("FLOP/s", 1e11, 1e17)),
    "peak_int8": ("op/s", 1e11, 1e17),
    "multiprocessors": ("count", 1, 1e3),
    "memory_bytes": ("B", 2**32, 2**39),
    "boost_clock": ("Hz", 1e9, 4e9),
    "memory_bandwidth": ("B/s", 5e10, 2e13),
    "l2_bytes": ("B", 2**20, 2**29),
    "last_level_cache_bytes": ("B", 2**20, 2**29),
    "peer_bandwidth": ("B/s", 1e10, 2e12),
    "host_bandwidth": ("B/s", 1e10, 2e12),
    "power_limit": ("W", 10, 3e3),
}
"""Unit, least and most of each quantity."""
ACCUMULATORS = {"peak_float64": "float64", "peak_int8": "int32"}
"""Those that PyTorch uses; the others are float32."""
UNITS = "CUDA cores|tensor cores|vector units|matrix cores|XMX engines"
FAMILIES = {
    r"V100.*|TITAN V": (1024, 0, 0),
    r"Tesla T4|Quadro RTX .*": (1024, 0, 2048),
    r"GeForce RTX 20.*": (512, 0, 2048),
    r"GeForce RTX [345]0.*|A10G": (512, 512, 2048),
    r"L40": (512, 512, 1024),
    r"RTX A\d.*|A10|A16|A40|RTX .* Ada|L4|L40S|RTX PRO .*": (1024, 1024, 2048),
    r"A[18]00.*|A30|Jetson AGX Orin .*": (2048, 2048, 4096),
    r"H100.*|H200.*|GH200.*": (4096, 4096, 8192),
    r"H20": (1024, 1024, 2048),
    r"B200|GB200|B300": (8192, 8192, 16384),
    r"Instinct MI100": (1024, 512, 0),
    r"Instinct MI2.*": (1024, 1024, 1024),
    r"Instinct MI3[02].*|Radeon RX 9.*": (2048, 2048, 4096),
    r"Instinct MI35.*": (4096, 4096, 8192),
    r"Radeon RX 7.*": (1024, 1024, 0),
    r"Arc A.*": (128, 128, 0),
    r"Arc B.*": (256, 256, 512),
    r"Data Center GPU Max .*": (512, 512, 0),
}
"""What the units of a multiprocessor, as torch counts these, compute densely in a clock: in
float16 and bfloat16 with a float32 accumulator, and in int8; by the architecture's description,
and 0 where that has nothing to compute it with."""
OF_FAMILY = ("peak_float16", "peak_bfloat16", "peak_int8")
NEAR = 0.03
"""How far the rounding on datasheets moves a ratio."""


def faults(figures: Iterable[Figure]) -> Iterator[str]:
    """Name everything that is wrong with a catalog."""
    devices: dict[str, dict[str, Figure]] = {}
    for one in figures:
        known = devices.setdefault(one.device, {})
        if one.quantity in known:
            yield f"{one.device}: two rows of {one.quantity}"
        known[one.quantity] = one
        yield from (f"{one.device}, {one.quantity}: {fault}" for fault in _row(one))
    for device, known in devices.items():
        for what in ("vendor", "torch_name"):
            if len({getattr(one, what) for one in known.values()}) > 1:
                yield f"{device}: more than one {what}"
        yield from (f"{device}: {fault}" for fault in [*_ratios(known), *_per_clock(device, known)])


def _row(one: Figure) -> Iterator[str]:
    """Name what is wrong with a row by itself."""
    if one.quantity not in QUANTITIES:
        yield "no such quantity"
        return
    unit, least, most = QUANTITIES[one.quantity]
    if one.unit != unit:
        yield f"in {one.unit}, not {unit}"
    if not least <= one.value <= most:
        yield f"{one.value} is not between {least} and {most}"
    for what in ("device", "vendor", "conditions", "source"):
        if not getattr(one, what).strip():
            yield f"no {what}"
    if not re.fullmatch(r"\^.+\$", one.torch_name):
        yield f"the pattern {one.torch_name} does not begin with ^ and end with $"
    if one.quantity in PEAKS:
        accumulator = ACCUMULATORS.get(one.quantity, "float32")
        if not re.match(rf"dense, ({UNITS}), {accumulator} accumulator(;|$)", one.conditions):
            yield f"not dense, units, {accumulator} accumulator: {one.conditions}"
    elif one.clock_hz is not None:
        yield "a clock, though it is no peak"


def _ratios(known: Mapping[str, Figure]) -> Iterator[str]:
    """Name precisions that do not stand to each other as on every chip."""
    for one, other, allowed in (
        ("peak_bfloat16", "peak_tfloat32", {2}),
        ("peak_float8_e4m3fn", "peak_bfloat16", {2}),
        ("peak_float32", "peak_float64", {1, 2, 4, 16, 32, 64}),
    ):
        if one in known and other in known:
            ratio = known[one].value / known[other].value
            if not any(math.isclose(ratio, times, rel_tol=NEAR) for times in allowed):
                yield f"{one} is {ratio:.3g} times {other}"


def _per_clock(device: str, known: Mapping[str, Figure]) -> Iterator[str]:
    """Name peaks that clock and multiprocessors, or the family's other peaks, do not make."""
    families = [dense for name, dense in FAMILIES.items() if re.fullmatch(name, device)]
    if known.keys() & set(OF_FAMILY) and len(families) != 1:
        yield f"in {len(families)} of the families whose operations in a clock are known"
        return
    expected = dict(zip(OF_FAMILY, families[0], strict=True)) if families else {}
    for quantity in sorted(PEAKS & known.keys()):
        done = _done(known, quantity)
        right = expected.get(quantity) or (done and 2 ** round(math.log2(done)))
        if done and right and not math.isclose(done, right, rel_tol=NEAR):
            yield f"{quantity} is {done:.4g} operations in a clock of a multiprocessor"
    half = known.get("peak_float16")
    for quantity in OF_FAMILY[1:]:
        if half and quantity in known and expected[quantity]:
            ratio = known[quantity].value / half.value
            right = expected[quantity] / expected[half.quantity]
            if known[quantity].clock_hz != half.clock_hz:
                yield f"{quantity} and peak_float16 assume two clocks"
            if not math.isclose(ratio, right, rel_tol=NEAR):
                yield f"{quantity} is {ratio:.3g} times peak_float16"


def _done(known: Mapping[str, Figure], quantity: str) -> float | None:
    """Return the operations in a clock of a multiprocessor, where both are known."""
    count, clock = known.get("multiprocessors"), known[quantity].clock_hz
    return known[quantity].value / count.value / clock if count and clock else None
