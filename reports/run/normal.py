# SPDX-License-Identifier: MIT
"""Is it normal? Headline figures of a run beside those of others with the same device.

Others are stored runs that were given to the report and measured before, and figures that were
published elsewhere. Of runs that may be of one machine only the newest counts, and none that may
be of the run's own: a machine agrees with itself. Where there is nothing to hold a figure against,
nothing is said.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from frobench.reports.run import published
from frobench.reports.run.published import Published
from frobench.reports.summary.device_axes import DeviceAxes, with_others
from frobench.reports.summary.headlines import EFFICIENCY, LAUNCH, Figure, accelerator
from frobench.reports.summary.model import Summary
from frobench.reports.summary.views import Cell, Marks, doubtful
from frobench.suite.stored.differences import is_cpu
from frobench.suite.stored.types import Accelerator, Run
from frobench.suite.units import counted, format_estimate, format_range, format_value

ALLOWANCE = 0.1
"""How far outside the others' range is still near: they measured in other ways."""
OUTSIDE = ("below", "above")
SLOW = {
    "matmul": "a power cap below the default, throttling, other programs on the device, and the "
    "precision that the check saw",
    "copy_within": "other programs on the device, its memory clock and its power cap",
    LAUNCH: "the clock and the governor of the host's processor, and other programs on it",
    EFFICIENCY: "whether the devices share a power cap, a link or the cores that drive them",
}
"""Where to look when a figure is worse than what others measured."""
CPU = "the number of threads, other programs, the governor of the processor and its cooling"
LINK = "the width and the generation of the link to the host, and other programs on the host"
FAST = {"matmul": "the precision that the check saw, the clocks, and what is doubtful about it"}
"""Where to look when it is better."""
DOUBT = "what is doubtful about it, and at how the others measured"


class Verdict(NamedTuple):
    """A figure beside those of other stored runs and those published elsewhere, ascending."""

    figure: Figure
    stored: tuple[float, ...]
    published: tuple[Published, ...]

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest value that others measured."""
        values = [*self.stored, *(one.value for one in self.published)]
        return min(values), max(values)

    @property
    def word(self) -> Literal["within", "near", "below", "above"]:
        """Where the figure's interval lies beside the others' range."""
        value, (least, most) = self.figure.value, self.ends
        low, high = (value.value if end is None else end for end in (value.low, value.high))
        if low <= most and high >= least:
            return "within"
        if low <= most * (1 + ALLOWANCE) and high >= least * (1 - ALLOWANCE):
            return "near"
        return "below" if high < least else "above"


class Row(NamedTuple):
    """A verdict as the page shows it.

    stored, elsewhere : the range of other stored runs, and of published figures; empty where there
        are none
    hint : where to look if the figure is neither within nor near the others' range
    sources : of each published figure what it is, and the address where it is found
    """

    name: str
    device: str
    own: Cell
    stored: str
    elsewhere: str
    word: str
    sentence: str
    hint: str
    sources: list[tuple[str, str]]
    verdict: Verdict


class EarlierRuns:
    """The runs measured so far, by their devices: of each machine the newest.

    A run is held against those that were put on the shelf before it, so that what a page says
    stays as it is when others are measured later.
    """

    def __init__(self) -> None:
        self._newest: dict[str, dict[str, Summary]] = {}
        self._axes: dict[str, list[DeviceAxes]] = {}
        self._before: dict[str, str] = {}

    def others(self, run: Summary) -> list[Summary]:
        """Return what to hold a run against: of each other machine with its devices the newest."""
        found = {
            one.machine_id: one
            for device in run.devices
            for one in self._newest.get(device, {}).values()
        }
        return [one for name, one in sorted(found.items()) if name != run.machine_id]

    def axes(self, run: Summary) -> DeviceAxes:
        """Return the axes of a run, beside those of all runs of its device."""
        return with_others(run.axes, self._axes.get(run.device_id, ()))

    def before(self, run: Summary) -> str:
        """Return a digest of all that was put on the shelf of a run's devices before it."""
        return " ".join(self._before.get(device, "") for device in run.devices)

    def put(self, run: Summary) -> None:
        """Put the next run on the shelf."""
        self._axes.setdefault(run.device_id, []).append(run.axes)
        for device in run.devices:
            self._newest.setdefault(device, {})[run.machine_id] = run
            chain = f"{self._before.get(device, '')} {run.sha256}"
            self._before[device] = hashlib.sha256(chain.encode()).hexdigest()


def verdicts(own: Iterable[Figure], of_others: Iterable[Iterable[Figure]]) -> list[Verdict]:
    """Hold the figures of a run against those of other runs, and those published elsewhere."""
    stored: dict[tuple[str, str, str], list[float]] = {}
    for figure in chain.from_iterable(of_others):
        stored.setdefault(figure.key, []).append(figure.value.value)
    held = (
        Verdict(figure, tuple(sorted(stored.get(figure.key, []))), tuple(published.of(*figure.key)))
        for figure in own
    )
    return [verdict for verdict in held if verdict.stored or verdict.published]


def rows(run: Run, held: Iterable[Verdict], marks: Marks) -> list[Row]:
    """Return verdicts as the page shows them: first those that are not as others have it."""
    shown = [_row(run, verdict, marks) for verdict in held]
    return sorted(shown, key=lambda row: (row.word not in OUTSIDE, row.hint))


def _row(run: Run, verdict: Verdict, marks: Marks) -> Row:
    figure = verdict.figure
    return Row(
        figure.name,
        figure.device,
        Cell(figure.value, figure.unit, doubtful(figure.cases, marks), figure.cases),
        _range(verdict.stored, figure.unit),
        _range([one.value for one in verdict.published], figure.unit),
        verdict.word,
        sentence(verdict),
        hint(run, verdict),
        [(_described(one), one.address) for one in verdict.published],
        verdict,
    )


def _range(values: Sequence[float], unit: str) -> str:
    return f"{format_range(min(values), max(values), unit)} ({len(values)})" if values else ""


def _described(figure: Published) -> str:
    """Say of a published figure what it is, how it was measured, and when it was published."""
    value = format_value(figure.value, figure.unit)
    return ", ".join(filter(None, (value, figure.method, figure.software, figure.as_of)))


def sentence(verdict: Verdict) -> str:
    """Say in words where a figure lies beside those of others."""
    figure, word, least, most = verdict.figure, verdict.word, *verdict.ends
    counts = [
        *([f"{len(verdict.published)} published"] if verdict.published else []),
        *([counted(len(verdict.stored), "stored run")] if verdict.stored else []),
    ]
    alone = len(verdict.published) + len(verdict.stored) == 1
    ends = format_range(least, most, figure.unit)
    lies = "agrees with" if word == "within" and alone else f"lies {word}"
    what = "the one figure known of" if alone else "what others measured on"
    article = "an" if figure.device.startswith(("A", "I", "MTT", "NVIDIA")) else "a"
    return (
        f"Your {figure.name} of {format_estimate(figure.value, figure.unit)} {lies} {what} "
        f"{article} {figure.device} ({ends}; {' and '.join(counts)})."
    )


def hint(run: Run, verdict: Verdict) -> str:
    """Say where to look when a figure is not like those of others; nothing when it is."""
    figure, word = verdict.figure, verdict.word
    if word not in OUTSIDE:
        return ""
    if (word == "above") != (figure.quantity == LAUNCH):  # it is better
        return f"Look at {FAST.get(figure.quantity, DOUBT)}."
    if is_cpu(figure.place):
        return f"Look at {CPU}."
    known = accelerator(run, figure.place)
    facts = _facts(known, figure) if known else ()
    return " ".join([*facts, f"Look at {SLOW.get(figure.quantity, LINK)}."])


def _facts(known: Accelerator, figure: Figure) -> Iterator[str]:
    """Say what the run itself knows of the device that makes it slow."""
    limit, default = known.power_limit_watts, known.power_limit_default_watts
    if figure.quantity in {"matmul", "copy_within"} and limit and default and limit < default:
        yield f"Its power cap was {limit:g} W, of {default:g} W by default."
    width, widest = known.pcie_width, known.pcie_width_max
    if figure.quantity.startswith("copy_to") and width and widest and width < widest:
        yield f"Its link had {width} lanes, of {widest}."
