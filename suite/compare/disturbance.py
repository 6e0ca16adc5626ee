# SPDX-License-Identifier: MIT
"""What else used the machine while a run measured, and where two runs are unlike in it."""

import math
from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import UNSET

from frobench.suite.compare.rank_tests import compare_values
from frobench.suite.profiles import LARGEST_LOAD
from frobench.suite.statistics import LEAST_LAUNCHES
from frobench.suite.stored.run import Case, Run
from frobench.suite.units import counted, format_value

BUSY = "busy-processor"
DISTURBING = frozenset({"busy-accelerator", BUSY, "held-back", "little-memory", "on-battery"})
"""Codes of `frobench doctor` for what comes and goes and moves numbers."""
Gauges = Mapping[str, Sequence[float]]
LARGEST_SHIFT = 0.05
"""Largest conclusive shift of a gauge that disturbs no comparison, as a ratio less 1."""


def disturbing(run: Run) -> frozenset[str] | None:
    """Return the codes of what disturbed a run; ``None`` where it does not say.

    Launches know how busy other programs kept the processor better than the moment before them.
    """
    load, troubles = others_load(run), run.frobench.troubles
    if troubles is UNSET and load is None:
        return None
    codes = {trouble.code for trouble in troubles or ()} & DISTURBING
    if load is not None:
        codes = codes - {BUSY} | ({BUSY} if load > LARGEST_LOAD else set())
    return frozenset(codes)


def others_load(run: Run) -> float | None:
    """Return the part of the usable cores that other programs kept busy in the median launch."""
    loads = [launch.others for launch in run.frobench.launches if launch.others is not UNSET]
    cores = run.frobench.environment.cpu.usable_cores
    return median(loads) / cores if loads and cores > 0 else None


def busy(run: Run) -> str:
    """Say what other programs used while a run measured; nothing where that disturbed nothing."""
    load, cores = others_load(run), run.frobench.environment.cpu.usable_cores
    if load is None or load <= LARGEST_LOAD:
        return ""
    return f"other programs used {load * cores:.1f} of {counted(cores, 'core')}"


def gauges(run: Run) -> dict[str, list[float]]:
    """Return the times of each body of the gauge, where enough launches have it."""
    times_of: dict[str, list[float]] = {}
    for launch in run.frobench.launches:
        for name, seconds in launch.gauge.items():
            if seconds > 0:
                times_of.setdefault(name, []).append(seconds)
    return {name: times for name, times in times_of.items() if len(times) >= LEAST_LAUNCHES}


def conclusive_shifts(before: Gauges, after: Gauges) -> dict[str, float]:
    """Return for each body of the gauge by how much its times conclusively differ, as a log.

    That is the end of the 95% interval that is nearer to no difference; 0 where that is inside.
    """
    return {name: _nearer_end(before[name], after[name]) for name in before if name in after}


def _nearer_end(before: Sequence[float], after: Sequence[float]) -> float:
    ratio = compare_values(before, after).ratio
    if ratio.low is None or ratio.high is None or ratio.low <= 1 <= ratio.high:
        return 0.0
    return min(math.log(ratio.low), math.log(ratio.high), key=abs)


def shift_of(case: Case, shifts: Mapping[str, float]) -> float:
    """Return the largest shift of the gauges of a case's devices."""
    devices = {device.partition("/")[0] for device in case.extra_info.devices}
    mine = (abs(by) for name, by in shifts.items() if name.rpartition("/")[0] in devices)
    return max(mine, default=0.0)


def disturbances(base: Run, new: Run) -> dict[str, str]:
    """Return by a case's full name why it gets no verdict.

    Other programs that kept the processor busy in either run disturb all cases: they never do
    the same twice. Of all else only what disturbed one of the runs counts.
    """
    if whole := _busy(base, new) or _unlike(base, new):
        return {case.fullname: f"disturbed: {whole}" for case in new.benchmarks}
    return _shifted(base, new) | _throttled(base, new)


def _busy(base: Run, new: Run) -> str:
    return ", ".join(
        f"other programs kept {format_value(load, '1', digits=2)} of the cores busy in {side}"
        for side, load in (("base", others_load(base)), ("new", others_load(new)))
        if load is not None and load > LARGEST_LOAD
    )


def _unlike(base: Run, new: Run) -> str:
    """Say what disturbed one of the runs only, if anything did."""
    before, after = disturbing(base), disturbing(new)
    if before is None or after is None:
        return ""
    sides = {"base": before - after, "new": after - before}
    return "; ".join(
        f"{', '.join(sorted(codes))} in {side} only" for side, codes in sides.items() if codes
    )


def _shifted(base: Run, new: Run) -> dict[str, str]:
    shifts = conclusive_shifts(gauges(base), gauges(new))
    shift_by_case = {case.fullname: shift_of(case, shifts) for case in new.benchmarks}
    return {
        name: "disturbed: a gauge of its device differs by more than "
        + format_value(math.expm1(shift), "1", digits=2)
        for name, shift in shift_by_case.items()
        if shift > math.log1p(LARGEST_SHIFT)
    }


def _throttled(base: Run, new: Run) -> dict[str, str]:
    before, after = (
        {each.case for each in run.frobench.conclusions if each.code == "throttled-case"}
        for run in (base, new)
    )
    return {
        name: f"disturbed: throttled in {'new' if name in after else 'base'} only"
        for name in before ^ after
        if name
    }
