# SPDX-License-Identifier: MIT
"""Separate runs of identical code on this machine, and of code that does 10% more.

Every two runs are compared as the command compares them, and what is allowed between them is
learned from the other runs only.
"""

from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from frobench.suite import checks
from frobench.suite.compare import between_run_spread
from frobench.suite.compare.between_run_spread import ALIKE_SHIFT, Levels, levels
from frobench.suite.compare.matching import CaseComparison, RunComparison
from frobench.suite.compare.runs import compare_runs
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from studies.calibration.figures import Figure, Goal, Table
from studies.calibration.verdicts import ALARMS
from studies.calibration.work import Spread, Tell
from tests.instruments.processes.command import start

BODIES = Path(__file__).parent / "separate"
EQUAL, SLOWER = "equal", "slower"
"""Folders of recorded runs."""
REPEATS = {EQUAL: "100", SLOWER: "110"}
"""Of a piece of work in a body."""
LAUNCHES = 8
DRAWS = 1_000
"""Times that the runs are drawn anew for a bound: pairs share their runs, and runs are few."""
PROMISED = 0.1
"""Cases count whose smallest change is printed as no more than the slow-down that was made."""


class Pair(NamedTuple):
    """Two runs, by their places among those of their kind, and what is said of them."""

    base: int
    new: int
    compared: RunComparison
    is_quiet: bool

    @property
    def is_disturbed(self) -> bool:
        """Whether nothing was said of any case."""
        return all(case.is_disturbed for case in self.compared.cases)

    @property
    def differs(self) -> bool:
        """Whether any case is called faster or slower."""
        return any(case.differs for case in self.compared.cases)


def study(tell: Tell, _spread: Spread, runs: int, recorded: Path | None = None) -> list[Table]:
    """Compare runs that were recorded before, or record so many of either kind first."""
    if recorded is not None:
        return tables(*(_read(recorded / kind) for kind in (EQUAL, SLOWER)))
    with TemporaryDirectory() as name:
        for number in range(runs):
            for place, kind in enumerate((EQUAL, SLOWER)):
                tell((2 * number + place) / (2 * runs), f"run {number + 1}, {kind}")
                record(Path(name) / kind, kind)
        return study(tell, _spread, runs, Path(name))


def record(folder: Path, kind: str) -> None:
    """Measure a run of the real command, and put its file into a folder."""
    folder.mkdir(exist_ok=True)
    options = ("--profile", "quick", "--devices", "cpu", "--launches", LAUNCHES)
    arguments = ("run", "--benchmarks", BODIES, "--results", folder / ".made", *options)
    with start(*arguments, folder=folder, environment={"REPEATS": REPEATS[kind]}) as process:
        out, err = process.communicate()
    if process.returncode != 0:
        raise RuntimeError(err)
    path = folder / out.strip().splitlines()[-1]
    path.rename(folder / path.name)


def tables(equal: Sequence[Run], slower: Sequence[Run]) -> list[Table]:
    """Return what is said of identical and of slower code."""
    known = {EQUAL: [*map(levels, equal)], SLOWER: [*map(levels, slower)]}
    same = [
        [
            _pair(runs, runs, at, other, _without(known[kind], at, other))
            for at, other in combinations(range(len(runs)), 2)
        ]
        for kind, runs in ((EQUAL, equal), (SLOWER, slower))
    ]
    changed = [
        _pair(equal, slower, at, other, _without(known[EQUAL], at))
        for at, other in product(range(len(equal)), range(len(slower)))
    ]
    count = f"{len(equal)} runs of code and {len(slower)} of the same code with 10% more work"
    return [_alarms(count, same, [len(equal), len(slower)]), _found(changed)]


def _alarms(count: str, kinds: Sequence[Sequence[Pair]], runs: Sequence[int]) -> Table:
    every = [pair for pairs in kinds for pair in pairs]
    rows = {
        "all pairs": every,
        "pairs that were judged": [pair for pair in every if not pair.is_disturbed],
        "quiet pairs": [pair for pair in every if pair.is_quiet],
    }
    figures = []
    for name, pairs in rows.items():
        disturbed = _share([pair.is_disturbed for pair in pairs])
        alarms = _share([pair.differs for pair in pairs])
        rare = Goal(most=0.25) if name == "quiet pairs" else None
        figures += [
            Figure.of(name, "of", len(pairs), "n"),
            Figure.of(name, "disturbed", disturbed, "1", rare),
            Figure.of(name, "any case called different", alarms, "1", Goal(most=ALARMS)),
        ]
    figures.append(Figure.of("all pairs", "upper bound", _bound(kinds, runs), "1"))
    return Table(
        title=f"{count}: pairs of runs of identical code",
        rows="",
        figures=figures,
        note="A pair is quiet if `frobench doctor` found nothing in either run that comes and "
        f"goes, and if no gauge surely differs by more than {ALIKE_SHIFT:.0%}. The upper bound is "
        "that of 95% of draws of the runs with replacement.",
    )


def _found(pairs: Sequence[Pair]) -> Table:
    quiet = [pair for pair in pairs if pair.is_quiet and not pair.is_disturbed]
    cases: dict[str, list[CaseComparison]] = {}
    for pair in quiet:
        for case in pair.compared.cases:
            cases.setdefault(case.fullname.rpartition("-")[2].strip("]"), []).append(case)
    figures = []
    for name, seen in cases.items():
        sharp = [case for case in seen if _sharp(case)]
        figures += [
            Figure.of(name, "pairs", len(seen), "n"),
            Figure.of(name, "smallest change at most 10%", _share([*map(_sharp, seen)]), "1"),
            Figure.of(name, "of these slower", _share([*map(_slower, sharp)]), "1"),
        ]
    every = [case for seen in cases.values() for case in seen]
    sharp = [case for case in every if _sharp(case)]
    figures += [
        Figure.of("all", "pairs", len(quiet), "n"),
        Figure.of(
            "all",
            "smallest change at most 10%",
            _share([*map(_sharp, every)]),
            "1",
            Goal(least=0.5),
        ),
        Figure.of("all", "of these slower", _share([*map(_slower, sharp)]), "1", Goal(least=0.8)),
    ]
    return Table(title="Quiet pairs whose second run does 10% more", rows="case", figures=figures)


def _slower(case: CaseComparison) -> bool:
    return case.word == "slower"


def _sharp(case: CaseComparison) -> bool:
    return case.smallest_change is not None and case.smallest_change <= PROMISED


def _pair(
    bases: Sequence[Run], news: Sequence[Run], base: int, new: int, others: Sequence[Levels]
) -> Pair:
    before, after = bases[base], news[new]
    shifts = between_run_spread.conclusive_shifts(
        *map(between_run_spread.gauges, (before, after))
    ).values()
    quiet = not any(run.frobench.troubles for run in (before, after)) and all(
        abs(shift) <= ALIKE_SHIFT for shift in shifts
    )
    return Pair(base, new, compare_runs(before, after, others), quiet)


def _without(known: Sequence[Levels], *places: int) -> list[Levels]:
    """Return what the other runs say, the newest first."""
    return [one for place, one in enumerate(known) if place not in places][::-1]


def _share(outcomes: Sequence[bool]) -> float:
    return fmean(outcomes) if outcomes else 0.0


def _bound(kinds: Sequence[Sequence[Pair]], runs: Sequence[int]) -> float:
    """Return the 95% quantile of the share of alarms over draws of the runs."""
    random = np.random.default_rng(0)
    shares = []
    for _ in range(DRAWS):
        pairs = alarms = 0.0
        for kind, count in zip(kinds, runs, strict=True):
            weights = np.bincount(random.integers(0, count, count), minlength=count)
            for pair in kind:
                weight = float(weights[pair.base] * weights[pair.new])
                pairs, alarms = pairs + weight, alarms + weight * pair.differs
        shares.append(alarms / pairs if pairs else 0.0)
    return float(np.quantile(shares, 0.95))


def _read(folder: Path) -> list[Run]:
    return [checks.judged(store.read(path)) for path in sorted(folder.glob("*.json"))]
