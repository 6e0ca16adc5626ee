# SPDX-License-Identifier: MIT
"""Two stored runs, or two versions of a body in one run, to a verdict for each case.

A regression verdict needs the same benchmark on the same machine in the same state. A difference
of the environment that moves numbers makes every case incomparable, unless it is itself the
question. A case gets no verdict where only one of the runs was disturbed.
"""

import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from frobench.suite.compare.between_run_spread import (
    MOST_RUNS,
    Levels,
    between_run_spreads,
    disturbances,
    levels,
)
from frobench.suite.compare.matching import RunComparison, failures, faults, match, other_time
from frobench.suite.compare.multiple_testing import Candidate, Sides, judge
from frobench.suite.statistics import case_medians, estimate, launch_medians
from frobench.suite.stored import store
from frobench.suite.stored.differences import Difference, compare_environments, facts
from frobench.suite.stored.types import Case, Run


def compare_runs(
    base: Run,
    new: Run,
    others: Sequence[Levels] = (),
    across: Collection[str] = (),
    pairs: Mapping[str, Sequence[float | None]] | None = None,
) -> RunComparison:
    """Compare two runs case by case. All cases together share 5% of false alarms.

    others : other stored runs, the newest first; see `suite.compare.between_run_spread`
    across : facts of the environment whose difference makes no case incomparable
    pairs : where the launches of the runs came in turn, new / base in each pair of launches, by
        case; there is no allowance then, and what disturbs the machine disturbs both
    """
    environments = [run.frobench.environment for run in (base, new)]
    differing = compare_environments(*environments)
    differences = [each for each in differing if each.matters and each.fact not in across]
    elsewhere = "the environments differ in what matters" if differences else None
    matched = match(base, new, lambda run: {case.fullname: case for case in run.benchmarks})
    disturbed = disturbances(base, new) if pairs is None else {}
    separate = pairs is None and base.frobench.run != new.frobench.run
    spreads, learned_from = between_run_spreads(base, new, others) if separate else ({}, 0)
    candidates = []
    for old, late, mismatch in matched.pairs:
        name, medians = old.fullname, (case_medians(old), case_medians(late))
        reason = elsewhere or mismatch or other_time(base, new, old, late)
        estimates = estimate(medians[0]), estimate(medians[1])
        values: Sides = medians
        if pairs is not None:
            values = (pairs[name],) if any(pairs[name]) else medians
            reason = reason or (None if any(pairs[name]) else "no pair of launches measured it")
        spread = spreads.get(name)
        candidates.append(Candidate(old, *estimates, values, reason, disturbed.get(name), spread))
    cases = judge(candidates)
    old_facts, new_facts = map(facts, environments)
    return RunComparison(
        base=base.frobench.run,
        new=new.frobench.run,
        cases=cases,
        unmatched=matched.unmatched,
        faults=matched.faults,
        differences=differences,
        across=[Difference(fact, old_facts.get(fact), new_facts.get(fact)) for fact in across],
        harmless=[
            *(each for each in differing if not each.matters and each.fact not in across),
            *_settings_that_differ(base, new),
        ],
        counts=dict(Counter(case.word for case in cases)),
        learned_from=learned_from,
        base_project=base.frobench.project or None,
        new_project=new.frobench.project or None,
    )


def compare_versions(run: Run) -> RunComparison:
    """Compare, in each case that has another version of its body, the body with that version.

    The verdicts follow the same rule as those of two runs, without an allowance: a launch, a clock
    or a neighbour moves both samples of a pair, so far smaller changes show than between two runs.
    """
    errors = faults(run, "")
    whole, failed = next(iter(errors), None), failures(run, "")
    candidates = []
    for case in run.benchmarks:
        if (against := case.extra_info.against) is not None:
            base = estimate(launch_medians(against, case.extra_info.launches))
            values = (launch_ratios(case, against),)
            reason = whole or failed.get(case.fullname)
            candidates.append(Candidate(case, base, estimate(case_medians(case)), values, reason))
    cases, name = judge(candidates), run.frobench.run
    counts = dict(Counter(case.word for case in cases))
    return RunComparison(base=name, new=name, cases=cases, faults=errors, counts=counts)


def launch_ratios(case: Case, against: list[float]) -> list[float | None]:
    """Return body / other version within each launch: the median over its pairs of samples.

    Logs are taken first, so that exchanging the versions inverts every ratio exactly.
    """
    logs = [math.log(new / old) for new, old in zip(case.stats.data, against, strict=True)]
    medians = launch_medians(logs, case.extra_info.launches)
    return [None if value is None else math.exp(value) for value in medians]


def unknown_fact(names: Iterable[str], runs: Iterable[Run]) -> str | None:
    """Say which of some names is no fact of any run's environment, and which are near it."""
    known = {fact for run in runs for fact in facts(run.frobench.environment)}
    for name in names:
        # Neither run may set a variable.
        if name not in known and not name.startswith("software.variables."):
            return f"no fact {name!r}; `compare` without it names what differs"
    return None


def newest_levels(folders: Iterable[Path]) -> list[Levels]:
    """Return what the newest stored runs of some folders say, the newest first.

    Passed over are files that cannot be read, missing folders, folders inside them, and runs whose
    launches came in turn with those of other runs. The checks are not made anew, which takes longer
    than to read a file: cases count in which the file itself names no error.
    """
    named = (file for folder in folders for file in folder.glob("*.json") if file.is_file())
    files = {Path(os.path.realpath(file)) for file in named}
    newest = sorted(files, key=lambda file: file.name, reverse=True)
    known = []
    for file in newest[: 2 * MOST_RUNS]:  # some will be of other machines
        with suppress(ValueError):  # unreadable, or with lists that do not fit together
            run = store.read(file)
            known += [] if run.frobench.beside else [levels(run)]
    return known


def _settings_that_differ(base: Run, new: Run) -> Iterator[Difference]:
    for name in ("profile", "case_seconds"):  # what may move a number
        before, after = (getattr(run.frobench.settings, name) for run in (base, new))
        if before != after:
            yield Difference(f"settings.{name}", before, after)
