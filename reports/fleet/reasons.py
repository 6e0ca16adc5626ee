# SPDX-License-Identifier: MIT
"""What else differs at a node that is unlike its peers: facts that a run stores beside its times.

None of it is proved to be the cause. A fact differs where most peers share another value, a reading
of a sensor where it is far from the peers' median.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from statistics import median

from frobench.reports.fleet.nodes import HELD_BACK, Node
from frobench.reports.table.facts import spelled
from frobench.suite.stored.types import Scalar
from frobench.suite.units import format_value

MAJORITY = 0.5
"""Part of the nodes that must share a value so that another one differs."""
FAR = {"hz": 0.01, "watts": 0.05, "celsius": 0.1}
"""How far a reading lies from the peers' median to be told, relative, by its unit."""
MORE_OFTEN = 0.05
"""How much longer a clock must have been held back to be told, as a part of the time."""
CELSIUS = "\N{DEGREE SIGN}C"
MOST = 8
"""Reasons that are told of a node, at most."""
ACCELERATOR = re.compile(r"accelerators\.(?P<number>\d+)\.(?P<field>.+)")
"""The dotted path of a fact about one accelerator."""


class Usual:
    """What is usual among the nodes of a kind."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._facts = dict(_most_common([node.facts for node in nodes]))
        codes = Counter(code for node in nodes for code in node.troubles)
        self._codes = {code for code, count in codes.items() if count > MAJORITY * len(nodes)}
        self._readings = lru_cache(maxsize=None)(self._median_readings)

    def reasons(self, node: Node, subject: str) -> list[str]:
        """Say what differs at a node, with the peers' value: facts, troubles, readings."""
        troubles = (text for code, text in node.troubles.items() if code not in self._codes)
        every = (*self.facts(node), *troubles, *self._sensed(node, subject))
        causes = list(dict.fromkeys(every))
        more = len(causes) - MOST
        return causes if more <= 0 else [*causes[:MOST], f"{more} more on the page of its run"]

    def facts(self, node: Node) -> Iterator[str]:
        """Say which facts of a node differ from those of most nodes."""
        lines = {}
        for fact, usual in self._facts.items():
            if fact not in node.facts:
                continue
            if spelled(fact, node.facts[fact], named=False) != usual:
                lines[fact] = f"{spelled(fact, node.facts[fact])} (peers {usual})"
        yield from by_accelerator(lines, self._facts)

    def _sensed(self, node: Node, subject: str) -> Iterator[str]:
        for name, value in node.readings.get(subject, {}).items():
            usual = self._readings(subject).get(name)
            if usual is not None and (text := _reading(name, value, usual)):
                yield text

    def _median_readings(self, subject: str) -> Mapping[str, float]:
        read: dict[str, list[float]] = {}
        for node in self._nodes:
            for name, value in node.readings.get(subject, {}).items():
                read.setdefault(name, []).append(value)
        return {name: median(values) for name, values in read.items()}


def by_accelerator(lines: Mapping[str, str], facts: Collection[str]) -> Iterator[str]:
    """Yield lines about facts, equal lines about several accelerators once.

    A line names the accelerators that it describes, unless it describes all of them.

    lines : by the dotted path of their fact
    facts : all dotted paths
    """
    parts = {fact: part for fact in (*lines, *facts) if (part := ACCELERATOR.fullmatch(fact))}
    every = Counter(part["field"] for part in parts.values())
    having: dict[tuple[str, str], list[str]] = {}
    for fact, line in lines.items():
        part = parts.get(fact)
        field, number = (part["field"], [part["number"]]) if part else (fact, [])
        having.setdefault((field, line), []).extend(number)
    for (field, line), numbers in having.items():
        if len(numbers) == every[field]:
            yield line
        else:
            yield f"accelerator{'s' * (len(numbers) > 1)} {', '.join(numbers)}: {line}"


def _most_common(tables: Iterable[Mapping[str, Scalar]]) -> Iterator[tuple[str, str]]:
    """Yield each fact with the value that most nodes share, as it is spelled, if most share one."""
    values: dict[str, list[str]] = {}
    for table in tables:
        for fact, value in table.items():
            values.setdefault(fact, []).append(spelled(fact, value, named=False))
    for fact, each in values.items():
        value, count = Counter(each).most_common(1)[0]
        if count > MAJORITY * len(each):
            yield fact, value


def _reading(name: str, value: float, usual: float) -> str:
    """Say that a reading is far from the peers' median, if it is."""
    device, _, quantity = name.partition(".")
    if quantity.startswith(HELD_BACK):
        if value - usual < MORE_OFTEN:
            return ""
        what = quantity.removeprefix(HELD_BACK).replace("_", " ")
        here, there = (format_value(part, "1", digits=2) for part in (value, usual))
        return f"{device}: {what} held the clock back {here} of the time (peers {there})"
    words, _, unit = quantity.rpartition("_")
    if usual <= 0 or abs(value / usual - 1) < FAR[unit]:
        return ""
    symbol = {"hz": "Hz", "watts": "W", "celsius": CELSIUS}[unit]
    here, there = (format_value(reading, symbol) for reading in (value, usual))
    return f"{device}: {words.replace('_', ' ').replace('sm ', '')} {here} (peers {there})"
