# SPDX-License-Identifier: MIT
"""What held a device back is told for what it is: its limit, or a clock that was chosen for it."""

import pytest

from frobench.suite.checks import conclude
from frobench.suite.stored.types import Conclusion, Run, Sensed
from tests.instruments.faults.judging import made

RULES = {"throttled-case", "power-limited-case", "fixed-clock-case"}


@pytest.fixture(scope="module")
def run() -> Run:
    """Return a run on a device that may draw 700 W."""
    found = made(accelerators=1)
    found.frobench.environment.accelerators[0].power_limit_watts = 700.0
    found.benchmarks = found.benchmarks[:1]
    return found


def said(
    run: Run, parts: dict[str, float], values: dict[str, tuple[float, float, float]] | None = None
) -> list[Conclusion]:
    """Return what is said of a case whose device was held back in these parts of its readings."""
    seen = Sensed(readings=40, values=values or {}, held_back=parts)
    run.benchmarks[0].extra_info.telemetry = {"cuda:0": seen}
    return [one for one in conclude(run) if one.code in RULES]


@pytest.mark.parametrize(
    ("watts", "utilization", "limited"),
    [
        (120.0, 0.02, False),  # it rests, whatever its driver says
        (690.0, None, True),
        (690.0, 0.02, True),
        (120.0, 0.97, True),  # the limit of more than the card, as of a module or a laptop
        (120.0, None, False),
        (None, 0.02, False),
        (None, 0.97, True),
        (None, None, True),
    ],
)
def test_a_power_limit_needs_a_draw_near_it_or_work(
    run: Run, watts: float | None, utilization: float | None, *, limited: bool
) -> None:
    values = {"power_watts": (100.0, 110.0, watts)} if watts else {}
    values |= {"utilization": (0.0, utilization, 1.0)} if utilization else {}
    codes = [one.code for one in said(run, {"SwPowerCap": 0.9}, values)]
    assert codes == ["power-limited-case"] * limited


@pytest.mark.parametrize("name", ["ApplicationsClocksSetting", "SyncBoost", "DisplayClockSetting"])
def test_a_clock_that_was_chosen_for_a_device_has_a_warning_of_its_own(run: Run, name: str) -> None:
    (found,) = said(run, {"GpuIdle": 0.2, name: 0.9})
    assert (found.code, found.severity) == ("fixed-clock-case", "warning")
    assert f"({name}) in 90% of 40 readings" in found.message
    assert "nvidia-smi -rac" in found.advice
    assert said(run, {name: 0.04}) == []
