# SPDX-License-Identifier: MIT
"""The verbs that read stored runs: `validate`, `show`, `export` and `compare`."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from frobench import options
from frobench.endings import end, exits_cleanly, without_garbage_collection
from frobench.suite.exit_codes import CANNOT, FAILED, INTERRUPTED, absent, absent_module

if TYPE_CHECKING:
    from frobench.suite.compare.matching import RunComparison
    from frobench.suite.stored.types import Run

# ruff: noqa: PLC0415 - every verb imports its own, so that none waits for another's


@click.command()
@options.paths
@exits_cleanly
def validate(paths: tuple[Path, ...]) -> None:
    """Check stored runs, files or folders; a line for every fault and doubt.

    Exits with 1 if a run is not valid: its file is damaged, or it cannot be honest.
    """
    from frobench.suite.terminal.output import is_honest, say, shown, stored_runs

    runs = stored_runs(paths, options.stored_here())
    honest = {path: is_honest(path, err=False) for path in runs}
    say(*(f"{shown(path)}: valid" for path in runs if honest[path]))
    if not all(honest.values()):
        sys.exit(FAILED)


@click.command()
@click.argument("file", type=options.FILE)
@click.option("--all", "every", is_flag=True, help="Every answer, not one of each exercise.")
@click.option("--cases", is_flag=True, help="Every case instead of the answers.")
@options.in_forms(
    {
        "markdown": "As a table for a pull request or a wiki.",
        "json": "Every answer and every case, for programs.",
        "csv": "Every answer, or with --cases every case, a row each.",
    }
)
@exits_cleanly
@without_garbage_collection()
def show(file: Path, form: str | None, *, every: bool, cases: bool) -> None:
    """Print the answers of the stored run in FILE, then its doubts.

    A case that failed or was left out stands with its reason among the --cases.
    """
    (judged,) = read_valid(file)
    if form is None:
        conclude(judged, err=False, every=every, cases=cases)
        return
    from frobench.reports.summary import plain
    from frobench.suite import checks
    from frobench.suite.printable import as_json
    from frobench.suite.terminal import answers

    run = plain.answers(checks.credible(judged))
    match form:
        case "json":
            click.echo(as_json(run))
        case "csv":
            click.echo(answers.as_csv(run.cases if cases else run.answers))
        case _:
            click.echo(answers.cases_as_markdown(run.cases) if cases else answers.as_markdown(run))


@click.command()
@click.argument("file", type=options.FILE)
@options.in_forms(
    {
        "github-action-benchmark": "For its tool customSmallerIsBetter.",
        "bencher": "Bencher Metric Format.",
        "openmetrics": "For Prometheus and what else reads its text.",
    }
)
@exits_cleanly
def export(file: Path, form: str | None) -> None:
    """Print the estimate of each case in FILE, with its interval, for a dashboard.

    An estimate is the median over launches. Cases with an error are left out.
    """
    from frobench.suite import checks
    from frobench.suite.export import FORMATS

    if form is None:
        raise click.UsageError(f"choose a format: --{', --'.join(FORMATS)}")
    click.echo(FORMATS[form](*map(checks.credible, read_valid(file))))


@click.command()
@click.argument("base", type=options.FILE)
@click.argument("new", metavar="[NEW]", type=options.FILE, required=False)
@options.across
@click.option(
    "--allow-missing", is_flag=True, help="Exit with 0 although headline cases are not compared."
)
@click.option("--purchase", is_flag=True, help="Two machines side by side, without verdicts.")
@click.option(
    "--workload",
    type=click.Choice(options.WORKLOADS),
    help="What a machine is bought for; a --purchase is for training by default.",
)
@click.option("--cases", is_flag=True, help="With --purchase, every case and finding too.")
@click.option(
    "--retry",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Measure both commits again, up to N times, where the runs were disturbed.",
)
@options.project("With --retry: whose commits")
@options.benchmarks
@options.as_json
@exits_cleanly
@without_garbage_collection()
def compare(  # noqa: PLR0913 - one for each option
    base: Path,
    new: Path | None,
    across: tuple[str, ...],
    *,
    allow_missing: bool,
    purchase: bool,
    workload: str | None,
    cases: bool,
    retry: int,
    project: Path | None,
    benchmarks: Path,
    as_json: bool,
) -> None:
    """Say for each case whether NEW is faster or slower than BASE.

    With BASE alone, compare the two versions in each of its cases that measures a body against
    another version. How far separate runs of a machine differ by themselves is learned from its
    other runs beside BASE and NEW and in results/.

    Exits with 4 if any case is slower. Otherwise exits with 3 if the comparison shows too little:
    most cases failed or would not have shown a slow-down of 25%, nothing could be compared, or a
    headline case failed, is missing in NEW or could not be compared; the first line says which.
    All cases together raise a false alarm in at most 5% of comparisons.

    With --retry, a comparison that would exit with 3 since the runs were disturbed or too noisy is
    repeated: the commits of both runs are measured side by side, as `history` measures the ends of
    a range, and stored in results/.

    With --purchase there are
    no verdicts on cases, and it exits with 0; the speed under a workload is that of the purchase
    page.
    """
    from frobench.reports.compare import verdicts
    from frobench.suite.compare.gate import exit_code, may_pass_again
    from frobench.suite.compare.runs import compare_runs, newest_levels

    purchase = purchase or workload is not None
    with suppress(OSError):  # what cannot be read is refused below
        if new is not None and new.samefile(base):
            raise click.UsageError("BASE and NEW are the same file; name two runs")
    if new is None and (purchase or across):
        option = "--purchase" if purchase else "--across"
        raise click.UsageError(f"{option} compares two runs, each with an environment of its own")
    if cases and not purchase:
        raise click.UsageError("--cases compares two machines; give --purchase, too")
    if new is None:
        sys.exit(verdicts.versions(*read_valid(base), as_json=as_json, allow_missing=allow_missing))
    first, second = read_valid(base, new)
    if purchase:
        asked = workload or options.WORKLOADS[0]
        sys.exit(verdicts.machines(first, second, asked, as_json=as_json, cases=cases))
    require_facts(across, first, second)
    stored = options.stored_here() / Path(first.frobench.environment.machine).name
    known = newest_levels([stored, base.parent, new.parent])
    comparison = compare_runs(first, second, known, across)
    for _ in range(retry):
        undecided = exit_code(comparison, allow_missing=allow_missing) == CANNOT
        if undecided and may_pass_again(comparison):
            comparison, files = measured_again(first, second, project, benchmarks)
            first, second = read_valid(*files)
    sys.exit(verdicts.runs(first, second, comparison, as_json=as_json, allow_missing=allow_missing))


def measured_again(
    base: "Run", new: "Run", project: Path | None, benchmarks: Path
) -> "tuple[RunComparison, Sequence[Path]]":
    """Measure the commits of two runs side by side; return their comparison and the stored files.

    Profile, devices, cases and launches are those of the new run.
    """
    from frobench.suite.history.history import HistoryInterrupted, HistoryRequest, history
    from frobench.suite.run.progress import Reporter
    from frobench.suite.run.runner import Interruptions
    from frobench.suite.statistics import LEAST_LAUNCHES

    commits = []
    for run in (base, new):
        code = run.frobench.project
        if not code or code.id is None or code.dirty:
            end(CANNOT, f"cannot measure again: the code of {run.frobench.run} is no commit")
        commits.append(code.id)
    settings = new.frobench.settings
    request = HistoryRequest(
        results=options.stored_here().resolve(),
        benchmarks=benchmarks.resolve(),
        project=project,
        pair=tuple(commits),
        profile=settings.profile,
        devices=settings.devices,
        expression=settings.expression,
        launches=max(LEAST_LAUNCHES, len(new.frobench.launches)),
    )
    with Interruptions() as interruptions:
        try:
            with Reporter() as progress:
                progress.say("the runs were disturbed or too noisy; both are measured again")
                done = history(request, progress, interruptions)
        except HistoryInterrupted:
            end(INTERRUPTED, "interrupted, and no working tree is left")
    return done.comparison, done.stored


def read_valid(*files: Path) -> "list[Run]":
    """Read and judge stored runs; if one is damaged, end with a line for every fault."""
    from frobench.suite import checks
    from frobench.suite.terminal.output import tell

    damage = {file: checks.opened(file)[1] for file in files}
    for file, faults in damage.items():
        tell(file, faults)
    if any(damage.values()):
        sys.exit(FAILED)
    return [checks.read(file) for file in files]


def require_facts(across: Sequence[str], *runs: "Run") -> None:
    """Refuse a name that is no fact of the environments of some runs."""
    from frobench.suite.compare.runs import unknown_fact

    if error := unknown_fact(across, runs):
        raise click.UsageError(f"--across: {error}")


def conclude(judged: "Run", *, err: bool, every: bool = False, cases: bool = False) -> None:
    """Print the leading answers of a run, every one or the cases, then what makes them doubtful."""
    from frobench.suite import checks
    from frobench.suite.checks.case_facts import busy
    from frobench.suite.terminal import answers
    from frobench.suite.terminal.output import doubts, say, width, wrapped
    from frobench.suite.units import capital

    columns = width()
    if told := busy(judged):
        say(*wrapped(f"{capital(told)}: do not publish this run.", columns), err=err)
    try:
        from frobench.reports.summary import plain
    except ImportError as error:  # what measures may have less than what reports
        if (module := absent_module(error)) is None:
            raise
        say(f"no answers here: {absent(module)}", err=err)
    else:
        run = plain.answers(checks.credible(judged))
        chosen = answers.case_lines(run.cases, columns)
        parts = [
            wrapped(answers.heading(run), columns),
            [*(chosen if cases else answers.lines(run, columns, every=every))],
        ]
        if run.answers and not (run.axes or cases):  # the question that was asked heads its answer
            parts.reverse()
        first, last = parts
        say(*[""] * err, *first, "", *last, err=err)  # apart from the progress
    say(*doubts(judged, columns), err=err)
