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
    each = max(result.tried for result in now.results.values())
    latest = (
        f"On {now.date}, `nox -s mutation -- --seed {now.seed} --each {each}` at commit "
        f"{now.commit}: the tests caught {share(now.results.values())}."
    )
    earlier = (
        f"At commit {before.commit}, before the code was sorted into folders, they caught "
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
    """Return how many mutants were caught of all, with the interval."""
    every = [*results]
    killed, tried = sum(result.killed for result in every), sum(result.tried for result in every)
    low, high = (round(100 * end) for end in interval(every))
    percent = round(100 * killed / tried)
    return f"{killed} of {tried} mutants: {percent}% (95% interval {low} to {high}%)"


def interval(results: Iterable[Result]) -> tuple[float, float]:
    """Return Wilson's interval at 95% of the part of mutants that is caught."""
    every = [*results]
    killed, tried = sum(result.killed for result in every), sum(result.tried for result in every)
    low, high = binomtest(killed, tried).proportion_ci(method="wilson")
    return float(low), float(high)
