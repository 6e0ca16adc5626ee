# SPDX-License-Identifier: MIT
"""Verdicts on the page of machines: from the comparison of each two, whatever the order.

Of two machines one is better only if their own comparison says so with 95% confidence. A verdict
names every machine that no other is better than.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tests.instruments.site_checker.machines import Data
from tests.instruments.site_checker.printed import RATIO, Row, estimates, plain
from tests.instruments.site_checker.report import NUMBERS, Report
from tests.instruments.site_checker.tree import Element

Cost = Callable[[Data], float | None]
"""What a machine costs or draws; nothing where that is unknown."""
LETTERS = 26
TOPICS = {"Best value": "price", "Least energy": "joules", "Lowest power": "limit"}
"""Kinds of verdicts by how their titles begin; others are of speed alone."""


class Speed(NamedTuple):
    """A logarithm of a ratio, its standard error and the quantile of its interval."""

    log: float
    error: float | None
    quantile: float | None

    def surely_above(self, log: float = 0.0) -> bool:
        """Tell whether the interval lies above a logarithm."""
        return bool(
            self.error is not None
            and self.quantile is not None
            and self.log - log > self.quantile * self.error
        )

    def times(self, factor: float = 1.0) -> Row:
        """Return the ratio times something exact."""
        if self.error is None or self.quantile is None:
            return Row(math.exp(self.log) * factor, None, None, None, RATIO)
        half = self.quantile * self.error
        low, high = (math.exp(self.log + way * half) * factor for way in (-1, 1))
        return Row(math.exp(self.log) * factor, low, high, None, RATIO)


def letter(place: int) -> str:
    """Return what marks the machine at a place."""
    return chr(ord("A") + place) if place < LETTERS else str(place + 1)


def names(machines: Sequence[Data]) -> list[str]:
    """Return what machines are called: by their devices, with letters where these are alike."""
    plain_names = [
        f"{one['count']}{RATIO} {one['device']}" if one["count"] > 1 else one["device"]
        for one in machines
    ]
    return [
        f"{name} ({letter(place)})" if plain_names.count(name) > 1 else name
        for place, name in enumerate(plain_names)
    ]


def score(data: Data, machine: Data, workload: str) -> Speed | None:
    """Return the weighted mean over the parts of a workload that both measured."""
    found = machine["parts"]
    weights = [
        one["weights"].get(workload, 0.0) if one["name"] in found["logs"] else 0.0
        for one in data["parts"]
    ]
    every = math.fsum(weights)
    if not every:
        return None
    shares = [weight / every for weight in weights]
    log = math.fsum(
        share * found["logs"].get(one["name"], 0.0)
        for share, one in zip(shares, data["parts"], strict=True)
    )
    spread = found["covariance"]
    if spread is None:
        return Speed(log, None, None)
    pairs = ((i, j) for i in range(len(shares)) for j in range(len(shares)))
    variance = math.fsum(shares[i] * shares[j] * spread[max(i, j)][min(i, j)] for i, j in pairs)
    return Speed(log, math.sqrt(max(variance, 0.0)), found["quantile"])


class Field:
    """The machines of a page, each two of them beside each other.

    Parameters
    ----------
    blocks
        The same machines beside each of them; the first is shown.
    """

    def __init__(self, blocks: Sequence[Data]) -> None:
        self.shown, self.machines = blocks[0], blocks[0]["machines"]
        self.names = dict(
            zip((one["run"] for one in self.machines), names(self.machines), strict=True)
        )
        self._beside = {
            (one["run"], data["reference"]): (data, one)
            for data in blocks
            for one in data["machines"]
        }

    def speed(self, one: Data, other: Data, workload: str) -> Speed | None:
        """Return how fast a machine is beside another, by the other's parts or its own."""
        found = score(*self._beside[one["run"], other["run"]], workload)
        if found is None:
            turned = score(*self._beside[other["run"], one["run"]], workload)
            found = turned and turned._replace(log=-turned.log)
        return found

    def joules(self, one: Data, other: Data) -> Speed | None:
        """Return how many times the work of another a machine does for a joule."""
        energy = self._beside[one["run"], other["run"]][1]["energy"]
        if energy is None:
            return None
        error = None if energy["variance"] is None else math.sqrt(energy["variance"])
        return Speed(energy["log"], error, energy["quantile"])

    def ranked(self, workload: str) -> list[Data]:
        """Return the machines with a score beside the reference."""
        return [one for one in self.machines if score(self.shown, one, workload)]

    def ranks(self, workload: str) -> dict[str, tuple[int, int]]:
        """Return the best and the worst rank that each machine may have, by its run."""
        every = self.ranked(workload)

        def faster(one: Data, other: Data) -> bool:
            speed = self.speed(one, other, workload)
            return speed is not None and speed.surely_above()

        first = {one["run"]: 1 + sum(faster(other, one) for other in every) for one in every}
        return {
            one["run"]: (
                first[one["run"]],
                max(
                    len(every) - sum(faster(one, other) for other in every),
                    *(first[other["run"]] for other in every if not faster(one, other)),
                ),
            )
            for one in every
        }

    def best(self, workload: str, cost: Cost) -> tuple[list[Data], int]:
        """Return the machines that no other is better than, and of how many they are."""
        known = [one for one in self.ranked(workload) if cost(one)]

        def better(one: Data, other: Data) -> bool:
            speed, costs = self.speed(one, other, workload), (cost(one) or 1, cost(other) or 1)
            return speed is not None and speed.surely_above(math.log(costs[0] / costs[1]))

        def work(one: Data) -> float:
            speed = score(self.shown, one, workload)
            return math.log(cost(one) or 1) - (speed.log if speed else 0.0)

        return sorted(_unbeaten(known, better), key=work), len(known)

    def thriftiest(self) -> list[Data]:
        """Return the machines that no other does more work than for a joule, as measured."""
        known = [one for one in self.machines if one["energy"]]

        def better(one: Data, other: Data) -> bool:
            speed = self.joules(one, other)
            return speed is not None and speed.surely_above()

        found = _unbeaten(known, better)
        return sorted(found, key=lambda one: -one["energy"]["log"]) if len(known) > 1 else []


def _unbeaten(known: Sequence[Data], better: Callable[[Data, Data], bool]) -> list[Data]:
    return [one for one in known if not any(better(other, one) for other in known)]


def check(
    page: Element, field: Field, usual: str, costs: Mapping[str, Cost], report: Report
) -> None:
    """Check verdicts.

    Parameters
    ----------
    usual
        The workload that the page shows.
    costs
        ``price`` and ``watts`` of one device of a machine.
    """
    for block in page.every("div", class_="verdict"):
        topic, *texts = (one.text() for one in block.children if isinstance(one, Element))
        kind = next((kind for words, kind in TOPICS.items() if topic.startswith(words)), "")
        faults = (
            _limits(field, costs["watts"], *texts[:2])
            if kind == "limit"
            else _Verdict(field, usual, kind, costs).faults(*texts)
        )
        for fault in faults:
            report.check(not fault, NUMBERS, f"purchase.html: {topic}: {fault}")


class _Verdict:
    """What a verdict should say.

    Parameters
    ----------
    kind
        ``price``, ``joules``, or nothing for speed alone.
    costs
        By name, what a device costs, with its energy too, and draws.
    """

    def __init__(self, field: Field, usual: str, kind: str, costs: Mapping[str, Cost]) -> None:
        self.field, self.usual, self.kind, self.costs = field, usual, kind, costs
        self.cost: Cost = costs.get(kind, _nothing)
        self.joules = kind == "joules"
        self.best = field.thriftiest() if self.joules else field.best(usual, self.cost)[0]

    def faults(self, who: str, margin: str, *notes: str) -> Iterator[str]:
        """Yield what is wrong with its machines, its margin, and where else it holds."""
        wanted = [self.field.names[one["run"]] for one in self.best]
        right = who == " or ".join(wanted) if wanted else who in {"unknown", "not measured"}
        yield "" if right else f"{who!r} should be {wanted}"
        if not right or not wanted:
            return
        ratios = self._ratios(margin)
        for number in estimates(margin):
            right = any(map(number.agrees, ratios))
            yield "" if right else f"{number.text!r} should be one of {ratios}"
        if self.kind == "price":
            owned = [note for note in notes if note.startswith("By cost of ")]
            notes = tuple(note for note in notes if note not in owned)
            yield self._owned(owned)
        for note in notes:
            counts = _holds(self.field, self.best[0], self.cost)
            right = [one.value for one in plain(note)] == counts
            yield "" if right else f"{note!r} should say {counts}"

    def _owned(self, notes: Sequence[str]) -> str:
        """Say what is wrong with who is the best by cost of ownership, where that is another."""
        best, count = self.field.best(self.usual, self.costs["owned"])
        other = count > 1 and {one["run"] for one in best} != {one["run"] for one in self.best}
        names = " or ".join(self.field.names[one["run"]] for one in best)
        wanted = [names] if other else []
        shown = [note.partition(": ")[2] for note in notes]
        return "" if shown == wanted else f"by cost of ownership {shown} should be {wanted}"

    def _ratios(self, margin: str) -> list[Row]:
        """Return what the numbers with an interval in a margin may be."""
        first, *_ = self.best
        values: list[Row] = []
        if self.kind == "price":
            speeds = [(one, score(self.field.shown, one, self.usual)) for one in self.best]
            values = [speed.times(1000 / (self.cost(one) or 1)) for one, speed in speeds if speed]
        others = [one for one in self.field.machines if one is not first]
        named = [one for one in others if self.field.names[one["run"]] in margin]
        if self.joules:
            found = [self.field.joules(first, one) for one in named]
            return [speed.times() for speed in found if speed]
        factors = [(self.cost(one) or 1) / (self.cost(first) or 1) for one in named]
        speeds_beside = [self.field.speed(first, one, self.usual) for one in named]
        pairs = zip(speeds_beside, factors, strict=True)
        return values + [speed.times(factor) for speed, factor in pairs if speed]


def _nothing(_: Data) -> float:
    """Return the cost where speed alone counts."""
    return 1.0


def _limits(field: Field, watts: Cost, who: str, margin: str) -> Iterator[str]:
    """Yield what is wrong with who may draw the least, and the power of the next."""
    known = sorted({at for one in field.machines if one["logs"] and (at := watts(one))})
    least = {
        field.names[one["run"]] for one in field.machines if one["logs"] and watts(one) in known[:1]
    }
    right = set(who.split(" or ")) == least if least else who == "unknown"
    yield "" if right else f"{who!r} should be {least}"
    shown = [one for one in plain(margin) if one.unit == "W"]
    right = len(shown) == len(known[:2]) and all(
        one.is_value(at) for one, at in zip(shown, known, strict=False)
    )
    yield "" if right or not known else f"{margin!r} should say {known[:2]}"


def _holds(field: Field, first: Data, cost: Cost) -> list[int]:
    """Return under how many workloads a machine is best, of how many, and tied under how many."""
    verdicts = [field.best(one["name"], cost) for one in field.shown["workloads"]]
    asked = [best for best, count in verdicts if count > 1]
    alone = sum(best == [first] for best in asked)
    tied = sum(len(best) > 1 and first in best for best in asked)
    return [alone, len(asked), *([tied] if tied else [])]
