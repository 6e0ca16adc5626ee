# SPDX-License-Identifier: MIT
"""What was measured for the anchors, how it is stored, and how it is shown.

All times are in seconds. Nothing here needs a GPU, or torch.
"""

from collections.abc import Sequence

from msgspec import Struct, field

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
