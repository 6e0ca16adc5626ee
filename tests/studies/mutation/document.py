# SPDX-License-Identifier: MIT
"""The figures of mutation tests: `docs/mutation.json`, and what CONTRIBUTING.md says of them."""

from collections.abc import Iterable

from msgspec import Struct
from scipy.stats import binomtest


class Result(Struct):
    """The mutants of one subject.

    tried : how many
    killed : made a test fail, end early or run out of time
    unreached : of the survivors, those in functions that no test of the subject enters
    survivors : path, line and change of each
    """

    tried: int
    killed: int
    unreached: int
    survivors: list[str]


class Score(Struct):
    """The mutants of one commit; each result stands under the name of its subject."""

    commit: str
    date: str
    seed: int
    results: dict[str, Result]


class Figures(Struct):
    """The score before the code was sorted into folders, and the latest."""

    before: Score
    now: Score


def paragraph(figures: Figures) -> str:
    """Return what CONTRIBUTING.md says."""
    now, before = figures.now, figures.before
    latest = (
        f"On {now.date} (commit {now.commit}, seed {now.seed}) the tests caught "
        f"{share(now.results.values())}."
    )
    earlier = (
        f"Before the code was sorted into folders (commit {before.commit}) they caught "
        f"{share(before.results.values())}."
    )
    lines = [latest, earlier, "", f"| code | before | {now.date} |", "| --- | ---: | ---: |"]
    for name, result in now.results.items():
        then = before.results[name]
        lines.append(
            f"| {name} | {then.killed} of {then.tried} | {result.killed} of {result.tried} |"
        )
    return "\n".join(lines) + "\n"


def share(results: Iterable[Result]) -> str:
    """Return how many mutants were caught of all, with Wilson's interval at 95%."""
    every = [*results]
    killed, tried = sum(result.killed for result in every), sum(result.tried for result in every)
    low, high = binomtest(killed, tried).proportion_ci(method="wilson")
    percent = 100 * killed / tried
    return (
        f"{killed} of {tried} mutants: {percent:.0f}% "
        f"(95% interval {100 * low:.0f} to {100 * high:.0f}%)"
    )
