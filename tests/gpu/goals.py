# SPDX-License-Identifier: MIT
"""What is measured on a real GPU beside other tools, and what is asked of it.

All times are in seconds. Nothing here needs a GPU, or torch.
"""

from collections.abc import Iterator, Sequence
from statistics import median

from msgspec import Struct, field

from frobench.suite.statistics import estimate
from frobench.suite.stored.types import Estimate
from frobench.suite.units import format_estimate, format_seconds, format_value
from studies.tables import table

SPAN, AHEAD = "span", "work ahead"
"""What the suite stores as the device's time; and the same with the device kept busy until
everything is launched, which shows what of it was launching."""
PYTORCH, RUNTIME, EVENTS = "PyTorch", "CUDA runtime", "CUDA runtime, by its events"
SEARCH = "search"


class Timed(Struct, kw_only=True):
    """What each way to time a body said, cold caches throughout: a median a round."""

    body: str
    seconds: dict[str, list[float]]


class Copied(Struct, kw_only=True):
    """What each way to copy between pinned memory and the device took: a median a round."""

    function: str
    size: int
    seconds: dict[str, list[float]]


class Peak(Struct, kw_only=True):
    """The fastest shapes of bfloat16 products, found by the suite's search and by a scan.

    tried, grid : shapes that the scan tried, and those of its coarse grid among them
    shapes : rows, inner and columns of each candidate
    rates : FLOP/s of the candidates, interleaved, one a round
    """

    search_seconds: float
    scan_seconds: float
    tried: int
    grid: int
    shapes: dict[str, list[int]]
    rates: dict[str, list[float]]


class Figures(Struct, kw_only=True):
    """What was measured for the anchors, in any number of calls."""

    date: str
    device: str
    torch: str
    times: list[Timed] = field(default_factory=list)
    copies: list[Copied] = field(default_factory=list)
    peak: Peak | None = None
    missing: dict[str, str] = field(default_factory=dict)


class Judged(Struct, kw_only=True):
    """A goal, what was seen, whether it was met (`None`: not measured), and why it was not."""

    goal: str
    seen: str
    met: bool | None
    why: str = ""


def page(figures: Figures, goals: Sequence[Judged]) -> str:
    """Return the goals in Markdown."""
    where = f"{figures.device}, torch {figures.torch}, {figures.date}."
    said = [f"{what}: {why}." for what, why in figures.missing.items()]
    parts = [
        " ".join([where if figures.date else "Nothing was measured.", *said]),
        table(("goal", "seen", "result"), map(_goal, goals)),
    ]
    return "\n\n".join(parts) + "\n"


def _goal(judged: Judged) -> tuple[str, str, str]:
    if judged.met is None:
        return judged.goal, judged.seen, "open"
    why = f": {judged.why}" if judged.why else ""
    return judged.goal, judged.seen, "met" if judged.met else f"**missed**{why}"


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
