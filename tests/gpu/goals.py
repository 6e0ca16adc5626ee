# SPDX-License-Identifier: MIT
"""What is asked of measurements on a real GPU beside those of other tools: judged from figures.

All times are in seconds. Nothing here needs a GPU, or torch.
"""

from collections.abc import Iterator, Sequence
from statistics import median

from frobench.suite.statistics import estimate
from frobench.suite.stored.types import Estimate
from frobench.suite.units import format_estimate, format_seconds, format_value
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
NEAR_TIME, NEAR_COPY, LEAST_PEAK = 0.02, 0.03, 0.98
LARGE_COPY = 2**26
"""Bytes from which a copy tells the link's rate rather than what launching takes."""


def judge(figures: Figures) -> list[Judged]:
    """Judge every goal."""
    found = {
        "device times within 2% of other tools'": [*_times(figures)],
        "pinned copies within 3% of the CUDA runtime's": [*_copies(figures)],
        "the search within 98% of the best of a scan": [*_peak(figures.peak)],
    }
    return [
        judged
        for goal, group in found.items()
        for judged in group or [Judged(goal=goal, seen="not measured", met=None)]
    ]


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
    """Divide round by round; where the rounds are not the same, by the median of theirs."""
    if len(ours) != len(theirs):
        theirs = [median(theirs)] * len(ours)
    return estimate([mine / its for mine, its in zip(ours, theirs, strict=True)])


def _times(figures: Figures) -> Iterator[Judged]:
    for timed in figures.times:
        seen = timed.seconds
        for tool in (name for name in seen if name not in {SPAN, AHEAD}):
            ratio, ahead = (_ratio(seen[way], seen[tool]) for way in (SPAN, AHEAD))
            before = format_seconds(median(seen[SPAN]) - median(seen[AHEAD]))
            yield Judged(
                goal=f"{timed.body}: device time within 2% of {tool}'s",
                seen=format_estimate(ratio, RATIO),
                met=abs(ratio.value - 1) <= NEAR_TIME,
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
                met=abs(ratio.value - 1) <= NEAR_COPY,
                why=f"{format_estimate(events, RATIO)} of what the runtime's own events say",
            )


def _peak(peak: Peak | None) -> Iterator[Judged]:
    if peak is None:
        return
    best = max(peak.rates.keys() - {SEARCH}, key=lambda name: median(peak.rates[name]))
    ratio = _ratio(peak.rates[SEARCH], peak.rates[best])
    found, faster = (RATIO.join(map(str, peak.shapes[name])) for name in (SEARCH, best))
    yield Judged(
        goal=f"the search's shape within 98% of the best of {peak.tried:,} scanned",
        seen=f"{format_estimate(ratio, '1')} in {format_seconds(peak.search_seconds)}, against "
        f"{format_seconds(peak.scan_seconds)}",
        met=ratio.value >= LEAST_PEAK,
        why=f"{found} was found, and {faster} is faster",
    )
