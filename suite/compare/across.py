# SPDX-License-Identifier: MIT
"""Differences of two environments that are themselves the question, such as another torch."""

from collections.abc import Iterable
from difflib import get_close_matches

from suite.stored.differences import Difference, facts, matters
from suite.stored.run import Run

OPEN_ENDED = "software.variables."
"""Where a fact may be missing in both runs: a variable of the environment that neither set."""
NEAR, MOST_NEAR = 0.5, 3
"""How alike names are that are offered for an unknown one, from 0 to 1, and how many are."""


def stated(names: Iterable[str], base: Run, new: Run) -> list[Difference]:
    """Return facts with their values in two runs, whether these differ or not."""
    before, after = (facts(run.frobench.environment) for run in (base, new))
    return [Difference(name, before.get(name), after.get(name)) for name in names]


def unknown_fact(names: Iterable[str], runs: Iterable[Run]) -> str | None:
    """Say which of some names is no fact of any run's environment, and which are near it."""
    known = {fact for run in runs for fact in facts(run.frobench.environment)}
    for name in names:
        if name not in known and not name.startswith(OPEN_ENDED):
            return f"no fact {name!r}{_near(name, sorted(filter(matters, known)))}"
    return None


def _near(name: str, known: list[str]) -> str:
    """Offer the facts that a name may stand for: those that contain it, or are spelled alike."""
    inside = [fact for fact in known if name.lower() in fact.lower()]
    near = (inside or get_close_matches(name, known, MOST_NEAR, NEAR))[:MOST_NEAR]
    return f"; near it: {', '.join(near)}" if near else "; `compare` without it names what differs"
