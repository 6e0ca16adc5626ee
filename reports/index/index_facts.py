# SPDX-License-Identifier: MIT
"""What stands around the devices of many runs, for a script that says in what two of them differ.

It does what `suite.stored.differences.compare_environments` does: a fact that only one of the
two has says something in some tables and nothing elsewhere, and what follows from another fact
that differs is left out.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypedDict

from reports.table.facts import spelled
from suite.stored.differences import FOLLOWS, TABLES
from suite.stored.run import Scalar


class Surrounding(TypedDict):
    """Facts of runs, without those that are the same in all.

    Attributes
    ----------
    facts
        The name of each, whether its absence says something, and the places of those that it
        follows from.
    values
        The place of the fact that each is of, and its words.
    has
        Places of each run's values.
    """

    facts: list[tuple[str, int, list[int]]]
    values: list[tuple[int, str]]
    has: list[list[int]]


def surrounding(runs: Sequence[Mapping[str, Scalar]]) -> Surrounding:
    """List the facts of runs (`reports.table.equipment.surroundings`)."""
    told = [
        {fact: spelled(fact, value, named=False) for fact, value in run.items()} for run in runs
    ]
    counts: dict[str, dict[str, int]] = {}
    for run in told:
        for fact, words in run.items():
            seen = counts.setdefault(fact, {})
            seen[words] = seen.get(words, 0) + 1
    varying = [fact for fact, seen in counts.items() if len(runs) not in seen.values()]
    places = {fact: place for place, fact in enumerate(varying)}
    values = [(fact, words) for fact in varying for words in counts[fact]]
    numbers = {value: number for number, value in enumerate(values)}
    return Surrounding(
        facts=[
            (spelled(fact, "").strip(), int(fact.startswith(TABLES)), _leaders(fact, places))
            for fact in varying
        ],
        values=[(places[fact], words) for fact, words in values],
        has=[
            [numbers[fact, words] for fact, words in run.items() if fact in places] for run in told
        ],
    )


def _leaders(fact: str, places: Mapping[str, int]) -> list[int]:
    """Return the places of the facts that this one follows from."""
    return [
        places[leader]
        for leader, patterns in FOLLOWS.items()
        if leader in places and any(fnmatchcase(fact, pattern) for pattern in patterns)
    ]
