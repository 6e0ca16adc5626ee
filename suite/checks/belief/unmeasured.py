# SPDX-License-Identifier: MIT
"""Rules about samples that were written instead of measured: no two measurements are the same."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from frobench.suite.checks.facts import Observed, by_launch, by_version, spell
from frobench.suite.checks.rule import Fault
from frobench.suite.stored.names import short_name
from frobench.suite.stored.run import Case, Run, Severity

SEVERITY: Severity = "error"

LEAST_COPIES = 10
"""Samples that two cases share, at least. A coarse clock makes one or two agree by chance."""
DIGITS = 6
"""Digits to which samples are compared."""
SPREAD = 1e-3
"""Relative spread of honest samples, at least; a neighbour only ever makes it larger."""
MOST_ALIKE = 12
"""Launches, or cases, with the same samples that are compared; honest runs have none."""
NO_CHANCE, CERTAIN = 4.0, 10.0
"""Digits that agree in two measurements of a case, and in all of them together, at least. Fewer
agree by chance somewhere in a run of three hundred cases."""


def constant_samples(run: Run, case: Case) -> Iterator[str]:
    """All samples of a launch are equal, although the clock could tell them apart.

    Nothing was timed: two calls never take the same time. Measure again.
    """
    equal = [launch for launch in by_launch(run, case) if len({*launch.samples}) == 1]
    if sum((len(launch.samples) - 1) * _digits(launch) for launch in equal) >= CERTAIN:
        yield f"every sample of launch {equal[0].number} is {spell(equal[0].seconds, 's')}"


def constant_medians(run: Run, case: Case) -> Iterator[str]:
    """All launches of a case have the same median, although the clock could tell them apart.

    Launches are made one after the other and never agree to so many digits. Measure again.
    """
    launches = by_launch(run, case)
    alike = all(_rounded(one.seconds) == _rounded(launches[0].seconds) for one in launches[1:])
    if launches and alike and (len(launches) - 1) * min(map(_digits, launches)) >= CERTAIN:
        yield f"every launch has the median {spell(launches[0].seconds, 's')}"


def repeated_samples(run: Run) -> Iterator[Fault]:
    """Two launches have the same samples, or the same times a factor: one was not measured.

    Their order does not matter. Measure again. Let simulated devices draw new noise each launch.
    """
    digits_by_pair: defaultdict[tuple[int, int], float] = defaultdict(float)
    digits_by_case: defaultdict[str, float] = defaultdict(float)
    for case in run.benchmarks:
        by_shape: dict[tuple[str, ...], list[Observed]] = {}
        for launch in _of_one_range(by_launch(run, case)):
            by_shape.setdefault(_shape(launch.samples), []).append(launch)
        for group in by_shape.values():
            for earlier, later in combinations(group[:MOST_ALIKE], 2):
                digits = _agreement(earlier, later)
                digits_by_pair[earlier.number, later.number] += digits
                if earlier is group[0]:
                    digits_by_case[case.fullname] += digits
    originals: dict[int, int] = {}
    certain = [pair for pair, digits in digits_by_pair.items() if digits >= CERTAIN]
    for original, copy in sorted(certain):
        originals.setdefault(copy, original)
    for copy, original in sorted(originals.items()):
        yield Fault(f"launch {copy} has the samples of launch {original}")
    for name, digits in digits_by_case.items() if not originals else ():
        if digits >= CERTAIN:
            yield Fault("its launches have the same samples, times a factor", name)


def copied_samples(run: Run) -> Iterator[Fault]:
    """Two cases, or two versions of a body, have the very same samples: one was not measured.

    Take the file again from where it was made, or measure again.
    """
    owners: defaultdict[tuple[int, tuple[float, ...]], list[tuple[str, str]]] = defaultdict(list)
    for case in run.benchmarks:
        for version, launches in by_version(run, case):
            owner = case.fullname, version
            for launch in launches:
                owners[launch.number, tuple(launch.samples)].append(owner)
    copies: Counter[tuple[tuple[str, str], tuple[str, str]]] = Counter()
    for (_, samples), alike in owners.items():
        if len(alike) > 1:
            pairs = combinations(alike[:MOST_ALIKE], 2)
            copies.update(dict.fromkeys(pairs, _distinct(samples) - 1))
    for ((other, _), (name, _)), number in copies.items():
        if number >= LEAST_COPIES:
            whose = "its other version" if name == other else short_name(other)
            yield Fault(f"it has the samples of {whose}", name)


def _digits(launch: Observed) -> float:
    """Return in how many digits two honest samples differ, by the steps of the clock."""
    step = launch.whole.timer_step
    return max(0.0, math.log10(SPREAD * launch.sample / step)) if step > 0 else 0.0


def _of_one_range(launches: list[Observed]) -> list[Observed]:
    """Return the launches whose samples may have the shape of another launch's, which few have."""
    ranges = []
    for launch in launches:
        least = min(launch.samples)
        ranges.append(_rounded(max(launch.samples) / least) if least > 0 else "")
    often = Counter(ranges)
    return [launch for launch, own in zip(launches, ranges, strict=True) if often[own] > 1]


def _shape(samples: Sequence[float]) -> tuple[str, ...]:
    """Return what samples have in common with their multiples, in whatever order."""
    least = min(samples)
    return tuple(_rounded(sample / least) for sample in sorted(samples)) if least > 0 else ()


def _agreement(earlier: Observed, later: Observed) -> float:
    """Return how many digits agree in two launches of one shape; 0 if chance may explain it."""
    step = max(earlier.whole.timer_step, later.whole.timer_step, 1e-12)
    spread = max(later.samples) - min(later.samples)
    levels = min(spread * later.iterations / step, spread / later.seconds * 10 ** (DIGITS - 1))
    digits = (_distinct(later.samples) - 1) * math.log10(max(levels, 1.0))
    return digits if digits >= NO_CHANCE else 0.0


def _distinct(samples: Sequence[float]) -> int:
    return len({*map(_rounded, samples)})


def _rounded(value: float) -> str:
    return f"{value:.{DIGITS}g}"
