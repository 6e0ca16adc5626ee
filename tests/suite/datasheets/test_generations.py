# SPDX-License-Identifier: MIT
"""What is known of devices without a datasheet, and that no honest figure is above it."""

import pytest
from msgspec.structs import replace

from frobench.suite.checks import plausibility, rule, too_good
from frobench.suite.datasheets import catalog
from tests.instruments.faults.judging import keep
from tests.instruments.faults.published_figures import device_of, multiplied
from tests.instruments.faults.spoiling import good, last, product, sense
from tests.instruments.runs.made_up import capability_of

GUIDE = {
    "6.0": (64, 32),
    "6.1": (128, 4),
    "7.0": (64, 32),
    "7.5": (64, 0),
    "8.0": (64, 0),
    "8.6": (128, 2),
    "8.9": (128, 0),
    "9.0": (128, 0),
}
"""Results of 32-bit and of 64-bit multiply-adds on CUDA cores in a clock of a multiprocessor.
Source: CUDA C++ Programming Guide, throughput of native arithmetic instructions."""
ROUNDED = 1.03


def test_generations_agree_with_the_programming_guide() -> None:
    known = catalog.generations()
    assert {name: known[name].wide for name in GUIDE} == {
        name: 2 * max(wide) for name, wide in GUIDE.items()
    }


def test_no_listed_device_is_above_its_generation() -> None:
    for name, figures in catalog.devices().items():
        capability = capability_of(name)
        if capability is None:
            assert next(iter(figures.values())).vendor in {"Intel", "Apple"}, name
            continue
        most = catalog.generations()[capability]
        values = {what: figure.value for what, figure in figures.items()}
        assert values.get("memory_bandwidth", 0.0) <= ROUNDED * most.memory, name
        assert values.get("peer_bandwidth", 0.0) <= most.peer, name
        for quantity, figure in figures.items():
            clock = figure.clock_hz or values.get("boost_clock")
            if quantity.startswith("peak_") and clock and "multiprocessors" in values:
                done = figure.value / values["multiprocessors"] / clock
                precision = quantity.removeprefix("peak_")
                assert done <= ROUNDED * most.operations(precision), (name, quantity)


@pytest.mark.parametrize(
    ("facts", "precision", "rate", "named"),
    [
        ({"capability": "7.5", "multiprocessors": 40}, "float16", 40 * 2e9 * 1024, True),
        ({"capability": "gfx942:xnack-", "multiprocessors": 38}, "float16", 38 * 2e9 * 2048, True),
        ({"capability": "8.9", "multiprocessors": 24}, "float64", 24 * 2e9 * 256, True),
        ({"capability": "8.9", "multiprocessors": 24}, "int4", 24 * 2e9 * 4096, True),
        ({"capability": "8.9", "multiprocessors": None}, "float16", 2.5e15, True),
        ({"capability": "14.0", "multiprocessors": 100}, "float32", 100 * 2e9 * 256, False),
    ],
)
def test_units_and_clock_say_what_a_device_without_a_datasheet_can_do(
    facts: dict[str, object],
    precision: str,
    rate: float,
    named: bool,  # noqa: FBT001 - a parameter
) -> None:
    device = replace(device_of("Another"), max_clock_hz=2e9, **facts)
    for factor, severity in ((0.95, ""), (1.2, "warning"), (1.4, "error")):
        run = multiplied(device, precision, factor * rate)
        found = [one for one in rule.conclusions(run, plausibility, too_good) if one.case]
        assert {one.severity for one in found} == ({severity} - {""} if named else set())


@pytest.mark.parametrize(
    ("clock_hz", "doubted"),
    [(345e6, False), (1.98e9, False), (1.2e9, True)],
)
def test_a_clock_that_was_read_at_rest_makes_no_product_doubtful(
    clock_hz: float,
    doubted: bool,  # noqa: FBT001 - a fact
) -> None:
    """A product at 80% of the peak of an H200; readings of short cases fall between their calls."""
    run = good()
    one = product(run)
    keep(run, lambda other: other is one)
    last(run, 2.0 * 16384**3 / (0.8 * 67e12), one)
    sense(one, "sm_clock_hz", 345e6, min(clock_hz, 345e6), clock_hz)
    codes = {found.code for found in rule.conclusions(run, too_good)}
    assert ("near-peak" in codes) == doubted
