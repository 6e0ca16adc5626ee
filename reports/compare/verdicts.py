# SPDX-License-Identifier: MIT
"""What `frobench compare` and `frobench reproduce` print, and the exit codes that they end with."""

from collections.abc import Collection, Sequence

import click
from msgspec import to_builtins
from msgspec.structs import asdict

from frobench.reports.compare import workload as workloads
from frobench.reports.compare.comparing import compare_findings, legend, table
from frobench.reports.summary.models import note
from frobench.suite.compare.between_run_spread import Levels
from frobench.suite.compare.gate import agreement, exit_code
from frobench.suite.compare.matching import RunComparison, match_machines
from frobench.suite.compare.runs import compare_runs, compare_versions
from frobench.suite.stored.differences import compare_environments
from frobench.suite.stored.types import Run
from frobench.suite.terminal import comparison as words
from frobench.suite.terminal.output import dump, fold, say, show


def runs(
    base: Run, new: Run, comparison: RunComparison, *, as_json: bool, allow_missing: bool = False
) -> int:
    """Print verdicts on the cases and the findings of two runs, which were compared."""
    findings = compare_findings(base, new, comparison)
    _warn(words.refusals(comparison, allow_missing=allow_missing), err=as_json)
    if as_json:
        dump(asdict(comparison) | {"findings": findings})
    else:
        if not comparison.differences:
            show(words.of_cases(comparison.cases, "base", "new"))
            show(table(findings, "base", "new"))
            fold(*words.legend(comparison.cases), *legend(findings), "")
        fold(*words.of_runs(comparison))
    return exit_code(comparison, allow_missing=allow_missing)


def versions(run: Run, *, as_json: bool, allow_missing: bool) -> int:
    """Print verdicts on the versions that a run measured beside each other."""
    comparison = compare_versions(run)
    if not comparison.cases:
        raise click.UsageError(
            "no case of this run has two versions to compare. Name a second run, or have a "
            "benchmark measure its body beside another version: measure(new, against=old, ...)"
        )
    _warn(words.refusals(comparison, allow_missing=allow_missing), err=as_json)
    if as_json:
        dump(comparison)
    else:
        show(words.of_cases(comparison.cases, "other version", "body"))
        fold(*words.legend(comparison.cases), "")
        fold(*words.of_runs(comparison))
    return exit_code(comparison, allow_missing=allow_missing)


def machines(base: Run, new: Run, workload: str, *, as_json: bool, cases: bool) -> int:
    """Print two machines side by side, and how fast the new one is under a workload.

    cases : whether to print every case and finding too
    """
    matched = match_machines(base, new)
    here, there = base.frobench.environment, new.frobench.environment
    differences = [each for each in compare_environments(here, there) if each.matters]
    sides = workloads.sides(base, new)
    found = workloads.score(sides, workload)
    first, second = (side.axes for side in sides)
    if as_json:
        dump(
            found
            | {
                "axes": {"base": to_builtins(first), "new": to_builtins(second)},
                "models": {"base": first.models, "new": second.models},
                "base": base.frobench.run,
                "new": new.frobench.run,
                "base_machine": here.machine,
                "new_machine": there.machine,
                "unmatched": matched.unmatched,
                "faults": matched.faults,
                "differences": differences,
                "findings": compare_findings(base, new),
            }
        )
        return 0
    say(f"base: {here.machine} ({base.frobench.run})")
    say(f"new:  {there.machine} ({new.frobench.run})", "")
    _warn(matched.faults)
    hosts = [one.cpu.model or one.cpu.architecture for one in (here, there)]
    fold(*workloads.answers(found, hosts), "")
    show(workloads.parts(found))
    show(workloads.axes(first, second))
    show(workloads.models(first, second))
    fold(note({"base: ": first.serving, "new: ": second.serving}))
    if cases:
        findings = compare_findings(base, new)
        show(words.of_pairs(matched.pairs))
        show(table(findings, "base", "new"))
        fold(*legend(findings), *words.of_machines(matched, differences))
    return 0


def reproduction(
    first: Run, again: Run, others: Sequence[Levels] = (), across: Collection[str] = ()
) -> int:
    """Print whether a run that was measured again agrees, with its findings side by side.

    others : runs from which it is learned how far runs of the machine lie apart
    across : facts whose difference is the question
    """
    comparison = compare_runs(first, again, others, across)
    if comparison.differences:
        findings = compare_findings(first, again)
        show(table(findings, "there", "here", overlaps=True))
    else:
        findings = compare_findings(first, again, comparison)
        show(table(findings, "before", "now"))
    answer, code = agreement(comparison, len(first.benchmarks))
    fold(*legend(findings), answer, *words.of_runs(comparison))
    return code


def _warn(lines: Sequence[str], *, err: bool = False) -> None:
    """Print why a comparison decides nothing above what it makes doubtful."""
    if lines:
        fold(*lines, *[] if err else [""], err=err)
