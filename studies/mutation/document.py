# SPDX-License-Identifier: MIT
"""The figures of mutation tests: `docs/mutation.json`, and what CONTRIBUTING.md says of them."""

from collections.abc import Iterable

from msgspec import Struct
from scipy.stats import binomtest

MARK, END = "<!-- scores -->", "<!-- end of scores -->"
"""What stands around the scores in the document."""


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
    """The score before the code was sorted into folders, and the latest, if there is one."""

    before: Score
    now: Score | None = None


def filled(document: str, figures: Figures) -> str:
    """Return a document with the scores between its marks."""
    head, _, rest = document.partition(MARK)
    return f"{head}{MARK}\n{_scores(figures)}{END}{rest.partition(END)[2]}"


def _scores(figures: Figures) -> str:
    before, now = figures.before, figures.now
    earlier = (
        f"At commit {before.commit}, before the code was sorted into folders, the tests caught\n"
        f"{share(before.results.values())}, on {before.date} with seed {before.seed}.\n"
    )
    if now is None:
        head = f"{earlier}\n| code | before |\n| --- | ---: |\n"
        rows = (f"| {name} | {_count(then)} |" for name, then in before.results.items())
        return head + "".join(f"{row}\n" for row in rows)
    latest = (
        f"At commit {now.commit} they caught\n"
        f"{share(now.results.values())}, on {now.date} with seed {now.seed}.\n"
    )
    rows = (
        f"| {name} | {_count(before.results[name])} | {_count(result)} |"
        for name, result in now.results.items()
    )
    head = f"{earlier}{latest}\n| code | before | now |\n| --- | ---: | ---: |\n"
    return head + "".join(f"{row}\n" for row in rows)


def _count(result: Result) -> str:
    return f"{result.killed} of {result.tried}"


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
