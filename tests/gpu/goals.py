# SPDX-License-Identifier: MIT
"""What is asked of a run on a real GPU: judged from stored files, and from the anchors' figures.

All times are in seconds. Nothing here needs a GPU, or torch.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from frobench.suite.statistics import case_medians, estimate
from frobench.suite.stored.types import Case, Estimate, Run
from frobench.suite.units import counted, format_estimate, format_seconds, format_value
from tests.gpu.anchors_figures import (
    AHEAD,
    EVENTS,
    PYTORCH,
    RUNTIME,
    SEARCH,
    SPAN,
    Figures,
    Judged,
    Peak,
)

RATIO = "\N{MULTIPLICATION SIGN}"
NEAR_TIME, NEAR_COPY, NEAR_SUM, NEAR_START = 0.02, 0.03, 0.03, 0.01
LEAST_PEAK = 0.98
LARGE_COPY = 2**26
"""Bytes from which a copy tells the link's rate rather than what launching takes."""
STARTS = 5
LONGEST_STANDARD = 480.0
BRIEF = 1e-4
"""Seconds below which most of a case is launching it from Python."""
LOOPS = {
    "each norm read back": ("bench_item", "bench_norm_only", "bench_read_ready"),
    "a log read once": ("bench_log_on_device", "bench_log_kept", "bench_read_ready_log"),
}
"""A loop of exercise B, the loop without its reading back, and reading back by itself."""
LAUNCHING, COMPUTING = "bench_launch_only", "bench_norm_only"


def judge(figures: Figures, runs: Sequence[Run]) -> list[Judged]:
    """Judge every goal."""
    found = [
        list(_times(figures)),
        list(_copies(figures)),
        list(_peak(figures.peak)),
        [judged for run in runs for judged in _sums(run)],
        list(_starts(runs)),
        list(_standard(runs)),
    ]
    asked = (
        "device times within 2% of other tools'",
        "pinned copies within 3% of the CUDA runtime's",
        "the search within 98% of the best of a scan",
        "the parts of exercise B make its whole within 3%",
        "five cold starts of the headline cases within 1%",
        "`standard` within 8 minutes",
    )
    return [
        judged
        for goal, group in zip(asked, found, strict=True)
        for judged in group or [Judged(goal=goal, seen="not measured", met=None)]
    ]


def near(ratio: Estimate, by: float) -> bool:
    """Tell whether a ratio is 1 within a part of it."""
    return abs(ratio.value - 1) <= by


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
    """Divide round by round; where the rounds are not the same, by the median of theirs."""
    if len(ours) != len(theirs):
        theirs = [median(theirs)] * len(ours)
    return estimate([mine / its for mine, its in zip(ours, theirs, strict=True)])


def _times(figures: Figures) -> Iterator[Judged]:
    for timed in figures.times:
        seen = timed.seconds
        for tool in (name for name in seen if name not in (SPAN, AHEAD)):
            ratio, ahead = (_ratio(seen[way], seen[tool]) for way in (SPAN, AHEAD))
            before = format_seconds(median(seen[SPAN]) - median(seen[AHEAD]))
            yield Judged(
                goal=f"{timed.body}: device time within 2% of {tool}'s",
                seen=format_estimate(ratio, RATIO),
                met=near(ratio, NEAR_TIME),
                why=f"{before} of it pass until the idle device begins; with work ahead of it, it "
                f"takes {format_estimate(ahead, RATIO)}",
            )


def _copies(figures: Figures) -> Iterator[Judged]:
    for copied in figures.copies:
        if copied.size >= LARGE_COPY:
            seen = copied.seconds
            ratio, events = (_ratio(seen[PYTORCH], seen[way]) for way in (RUNTIME, EVENTS))
            yield Judged(
                goal=f"{copied.function}, {format_value(copied.size, 'B')}: within 3% of the CUDA "
                "runtime's",
                seen=format_estimate(ratio, RATIO),
                met=near(ratio, NEAR_COPY),
                why=f"{format_estimate(events, RATIO)} of what the runtime's own events say",
            )


def _peak(peak: Peak | None) -> Iterator[Judged]:
    if peak is None:
        return
    best = max(peak.rates.keys() - {SEARCH}, key=lambda name: median(peak.rates[name]))
    ratio = _ratio(peak.rates[SEARCH], peak.rates[best])
    yield Judged(
        goal=f"the search's shape within 98% of the best of {peak.tried:,} scanned",
        seen=f"{format_estimate(ratio, '1')} in {format_seconds(peak.search_seconds)}, against "
        f"{format_seconds(peak.scan_seconds)}",
        met=ratio.value >= LEAST_PEAK,
        why=f"{_shape(peak.shapes[SEARCH])} was found, and {_shape(peak.shapes[best])} is faster",
    )


def _shape(sides: Sequence[int]) -> str:
    return RATIO.join(map(str, sides))


def _sums(run: Run) -> Iterator[Judged]:
    for device in _accelerators(run):
        steps = _steps(run, device)
        for loop, (whole, rest, ready) in LOOPS.items():
            if not {whole, rest, ready, LAUNCHING, COMPUTING} <= steps.keys():
                goal = f"{device}, {loop}: its parts make the whole within 3%"
                yield Judged(goal=goal, seen="not every loop was measured", met=None)
                continue
            less = [LAUNCHING, COMPUTING, *([rest] if rest != COMPUTING else []), whole]
            parts = median(steps[LAUNCHING]) + sum(
                median(more - fewer for more, fewer in zip(steps[b], steps[a], strict=True))
                for a, b in pairwise(less)
            )
            share = parts / median(steps[whole])
            yield Judged(
                goal=f"{device}, {loop}: its parts, as differences, make the whole within 3%",
                seen=format_value(share, "1", digits=4),
                met=abs(share - 1) <= NEAR_SUM,
                why="the launches differ by more than that",
            )
            apart = [one + other for one, other in zip(steps[rest], steps[ready], strict=True)]
            ratio = _ratio(apart, steps[whole])
            yield Judged(
                goal=f"{device}, {loop}: the same with reading back measured by itself",
                seen=format_estimate(ratio, "1"),
                met=near(ratio, NEAR_SUM),
                why="reading back in each step also keeps launches from overlapping",
            )


def _steps(run: Run, device: str) -> dict[str, list[float]]:
    """Return the launch medians of exercise B's longest loops that every part has."""
    cases = [
        case
        for case in run.benchmarks
        if case.group == "norm_logging" and case.extra_info.device == device
    ]
    split = [case for case in cases if case.name.startswith(f"{LAUNCHING}[")]
    longest = max((int(str(case.params["steps"])) for case in split), default=0)
    return {
        case.name.partition("[")[0]: _medians(case)
        for case in cases
        if case.params["steps"] == longest and None not in case_medians(case)
    }


def _starts(runs: Sequence[Run]) -> Iterator[Judged]:
    """Hold five cold starts against each other: five runs, or the launches of one."""
    several = len(runs) >= STARTS
    for run in runs[:1] if several else runs:
        group = list(runs[:STARTS]) if several else [run]
        apart = {}
        for case in run.benchmarks:
            values = _started(group, case)
            if len(values) == STARTS:
                apart[case.name] = max(abs(value / median(values) - 1) for value in values)
        if not apart:
            continue
        far = {name for name, by in apart.items() if by > NEAR_START}
        worst = max(apart, key=apart.__getitem__)
        brief = sum(case.stats.median < BRIEF for case in run.benchmarks if case.name in far)
        yield Judged(
            goal=f"{run.frobench.run}: five cold starts of the headline cases within 1%",
            seen=f"{len(apart) - len(far)} of {len(apart)}; furthest {worst}, "
            f"{format_value(apart[worst], '1')}",
            met=not far,
            why=f"{counted(brief, 'case')} of {len(far)} beyond take less than "
            f"{format_seconds(BRIEF)}, most of which is launching from Python",
        )


def _started(group: Sequence[Run], wanted: Case) -> list[float]:
    """Return a headline case's value in each of five starts; none for one of the CPU's."""
    if not wanted.extra_info.headline or wanted.extra_info.device.startswith("cpu"):
        return []
    if len(group) == 1:
        return _medians(wanted)[:STARTS]
    same = (c for run in group for c in run.benchmarks if c.fullname == wanted.fullname)
    return [median(_medians(case)) for case in same]


def _standard(runs: Sequence[Run]) -> Iterator[Judged]:
    for run in runs:
        if run.frobench.profile == "standard" and run.frobench.settings.expression == "":
            seconds = run.frobench.seconds
            yield Judged(
                goal=f"{run.frobench.run}: `standard` within 8 minutes",
                seen=format_seconds(seconds),
                met=seconds <= LONGEST_STANDARD and run.frobench.complete,
                why=f"it was planned for {format_seconds(run.frobench.settings.budget)}",
            )


def _accelerators(run: Run) -> list[str]:
    return [one.place for one in run.frobench.environment.accelerators]


def _medians(case: Case) -> list[float]:
    return [value for value in case_medians(case) if value is not None]
