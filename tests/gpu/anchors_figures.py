# SPDX-License-Identifier: MIT
"""What was measured for the anchors, how it is stored, and how it is shown.

All times are in seconds. Nothing here needs a GPU, or torch.
"""

from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct, field

from frobench.suite.units import format_seconds, format_value
from studies.peers.page import table

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
    """Return everything in Markdown, the goals first."""
    where = f"{figures.device}, torch {figures.torch}, {figures.date}."
    said = [f"{what}: {why}." for what, why in figures.missing.items()]
    parts = [
        " ".join([where if figures.date else "Nothing was measured beside stored runs.", *said]),
        table(("goal", "seen", "result"), map(_goal, goals)),
        *_timed(figures.times),
        *_copied(figures.copies),
        *(_peak(peak) for peak in [figures.peak] if peak),
    ]
    return "\n\n".join(parts) + "\n"


def _goal(judged: Judged) -> tuple[str, str, str]:
    if judged.met is None:
        return judged.goal, judged.seen, "open"
    why = f": {judged.why}" if judged.why else ""
    return judged.goal, judged.seen, "met" if judged.met else f"**missed**{why}"


def _timed(times: Sequence[Timed]) -> Iterable[str]:
    """Show the medians of each way to time a body."""
    if times:
        ways = list(dict.fromkeys(way for timed in times for way in timed.seconds))
        rows = [
            (timed.body, *(_typical(timed.seconds.get(way)) for way in ways)) for timed in times
        ]
        yield table(("body, cold caches", *ways), rows, words=1)


def _copied(copies: Sequence[Copied]) -> Iterable[str]:
    if copies:
        ways = (PYTORCH, RUNTIME, EVENTS)
        rows = [
            (
                copied.function,
                format_value(copied.size, "B"),
                *(_typical(copied.seconds[way]) for way in ways),
                *(_rate(copied.size, copied.seconds[way]) for way in ways[::2]),
            )
            for copied in copies
        ]
        head = ("copy", "size", *ways, *(f"rate, {way}" for way in ways[::2]))
        yield table(head, rows, words=1)


def _peak(peak: Peak) -> str:
    rows = [
        (name, *map(str, sides), format_value(median(peak.rates[name]), "FLOP/s", digits=4))
        for name, sides in peak.shapes.items()
    ]
    ranked = sorted(rows, key=lambda row: -median(peak.rates[row[0]]))
    return table(("found by", "rows", "inner", "columns", "rate"), ranked, words=1)


def _typical(seconds: Sequence[float] | None) -> str:
    return format_seconds(median(seconds)) if seconds else "\N{EM DASH}"


def _rate(size: int, seconds: Sequence[float]) -> str:
    return format_value(size / median(seconds), "B/s")
