# SPDX-License-Identifier: MIT
"""A range of commits whose launches are drawn at random, to be searched.

`nox -s searches` prints how often searches err, as docs/history.md says.
"""

import math
import random
import sys
from collections.abc import Collection, Mapping, Sequence

from frobench.suite.history.change_search import BrokenError, Ratios, search

NOISE = 0.015
"""Standard deviation of a launch's log, as between processes of one machine."""


class MadeUpCommits:
    """Measures commits that take known times; see `suite.history.change_search.Measure`.

    seconds : by case, of each commit
    spread : standard deviation of what both launches of a pair share
    broken : places of commits that cannot be measured
    """

    def __init__(
        self,
        seconds: Mapping[str, Sequence[float]],
        seed: int = 0,
        *,
        noise: float = NOISE,
        spread: float = NOISE,
        broken: Collection[int] = (),
    ) -> None:
        self._seconds = seconds
        self._random = random.Random(seed)  # noqa: S311 - not for secrets
        self._noise = noise
        self._spread = spread
        self._broken = broken
        self.pairs: list[tuple[int, int, int]] = []

    def __call__(self, first: int, second: int, launches: int) -> Ratios:
        """Draw launches."""
        for place in (first, second):
            if place in self._broken:
                raise BrokenError(place, "ImportError: no module")
        self.pairs.append((first, second, launches))
        return {
            case: [
                self._draw(seconds[second], shared) / self._draw(seconds[first], shared)
                for shared in (self._random.gauss(0, self._spread) for _ in range(launches))
            ]
            for case, seconds in self._seconds.items()
        }

    def _draw(self, seconds: float, shared: float) -> float:
        return seconds * math.exp(shared + self._random.gauss(0, self._noise))


def step(commits: int, at: int, ratio: float) -> list[float]:
    """Return the times of commits of which one changed the time by a ratio."""
    return [1e-3 * (ratio if place >= at else 1.0) for place in range(commits)]


def rates(searches: int, cases: int, ratio: float, commits: int = 17, launches: int = 10) -> str:
    """Search ranges in which the first case changed once, and say what became of them."""
    false, wrong, named, launched = 0, 0, 0, 0
    for seed in range(searches):
        at = 1 + seed % (commits - 1)
        times = {str(case): step(commits, at, 1.0 if case else ratio) for case in range(cases)}
        made_up = MadeUpCommits(times, seed)
        findings = search(commits, made_up, launches)
        right = {("0", at)} if ratio != 1 else set()
        claims = {(one.case, one.at) for one in findings.culprits if one.ratio is not None}
        false += any(case != "0" or ratio == 1 for case in findings.changed)
        wrong += bool(claims - right)
        named += bool(claims & right)
        launched += sum(2 * pairs for *_, pairs in made_up.pairs)
    return (
        f"{cases} cases, {ratio - 1:+.0%} in one: {named / searches:.1%} right, "
        f"{false / searches:.1%} false alarms, {wrong / searches:.1%} wrong commits, "
        f"{launched / searches:.0f} launches"
    )


if __name__ == "__main__":
    for ratio in (1.0, 1.02, 1.03, 1.05, 1.1):
        for cases in (1, 5):
            sys.stdout.write(f"{rates(1000, cases, ratio)}\n")
