# SPDX-License-Identifier: MIT
"""The figures of the study: `docs/mutation.json`, and what CONTRIBUTING.md says of them."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from scipy.stats import binomtest

from studies.mutation.trying import Outcome
from studies.tables import filled, table

Score = tuple[int, int]
"""Of some mutants, how many tests caught, and how many were tried."""


class Tried(Struct, omit_defaults=True):
    """A mutant: where it is, what it changes, and which test caught it, if one did."""

    folder: str
    file: str
    line: int
    change: str
    outcome: Outcome
    test: str = ""


class Study(Struct):
    """All mutants of a revision and a seed, and the scores of the study before, by folder."""

    revision: str = ""
    date: str = ""
    seed: int = 0
    mutants: list[Tried] = field(default_factory=list)
    earlier: dict[str, Score] = field(default_factory=dict)


def scores(mutants: Iterable[Tried]) -> dict[str, Score]:
    """Return the score of each folder, and that of all."""
    found: dict[str, Score] = {}
    for one in mutants:
        for name in (one.folder, "all"):
            caught, tried = found.get(name, (0, 0))
            found[name] = caught + (one.outcome == "caught"), tried + 1
    return {name: found[name] for name in sorted(found, key=lambda name: name == "all")}


def interval(score: Score) -> tuple[float, float]:
    """Return Wilson's interval at 95% of the part of mutants that is caught."""
    low, high = binomtest(*score).proportion_ci(method="wilson")
    return float(low), float(high)


def lower(now: Mapping[str, Score], earlier: Mapping[str, Score]) -> list[str]:
    """Return the folders whose score fell: whose interval lies below the earlier one."""
    both = [name for name in now if name in earlier]
    return [name for name in both if interval(now[name])[1] < interval(earlier[name])[0]]


def comparison(now: Mapping[str, Score], earlier: Mapping[str, Score]) -> str:
    """Return the score of each folder beside the earlier one, as a table."""
    fell, before = lower(now, earlier), {name: _words(one) for name, one in earlier.items()}
    rows = [(one, _words(now[one]), before.get(one, ""), "LOWER" * (one in fell)) for one in now]
    return table(("code", "caught", "earlier", ""), rows)


def scored(document: str, study: Study) -> str:
    """Return a document with the scores between its marks."""
    rows = [(name, _words(one)) for name, one in scores(study.mutants).items()]
    made = f"Revision {study.revision[:7]}, seed {study.seed}, {study.date}:"
    shown = table(("code", "caught (95% interval)"), rows)
    return filled(document, lambda _: f"{made}\n\n{shown}")


def _words(score: Score) -> str:
    low, high = (round(100 * end) for end in interval(score))
    return f"{score[0]} of {score[1]}: {100 * score[0] / score[1]:.0f}% ({low} to {high}%)"
