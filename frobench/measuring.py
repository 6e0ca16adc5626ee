# SPDX-License-Identifier: MIT
"""The verbs that measure this machine: `run` and `reproduce`."""

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from frobench import options
from frobench.endings import measures
from frobench.judging import conclude, read_valid, require_facts
from frobench.suite.exit_codes import FAILED, SLOWER

if TYPE_CHECKING:
    from frobench.suite.stored.types import Run

# ruff: noqa: PLC0415 - every verb imports its own, so that none waits for another's


@click.command()
@options.expression
@options.profile
@options.devices
@options.benchmarks
@options.results
@options.budget
@options.launches
@click.option("--deadline", type=click.FloatRange(min=1), metavar="SECONDS", help="For a case.")
@options.seed
@options.project("Whose commit is stored")
@click.option("--peak", is_flag=True, help="Search 3 minutes more for the fastest product.")
@click.option("--resume", metavar="RUN", help="Finish an interrupted run, or the `last` one.")
@click.option("--once", metavar="CASE", help="Call one case once, for a profiler; store nothing.")
@click.option(
    "--trace",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="With --once: write a trace of the call for chrome://tracing or Perfetto.",
)
@click.option("--verbose", is_flag=True, help="Name the cases that are left out, and why.")
@options.label
@click.option("--nodes", is_flag=True, help="One of several nodes, in a job of torchrun or srun.")
@options.wait
@measures
def run(
    results: Path,
    benchmarks: Path,
    *,
    once: str | None,
    trace: Path | None,
    nodes: bool,
    **wanted: Any,  # noqa: ANN401 - see `Request`
) -> None:
    """Measure this machine and store the run; the last line is the stored file's path.

    With --once, one case of any profile is set up, warmed up and called once in this process, to
    which a profiler can attach; see docs/profiling.md.

    With --nodes, the same command runs on every node of a job: the first node measures and stores
    the run, and the others start its processes; see docs/fleet.md.
    """
    from frobench.suite.terminal.output import say, shown

    if once is not None:
        call_once(once, trace, benchmarks, wanted)
        return
    if trace is not None:
        raise click.UsageError("--trace is of the call that --once makes")
    with together(benchmarks, wanted["wait"]) if nodes else nullcontext():
        path, stored = measure(results, benchmarks, **wanted)
    try:
        conclude(stored, err=True)
    finally:  # whatever becomes of the answers, the run is stored
        say(shown(path))
    sys.exit(failed(stored))


def together(benchmarks: Path, wait: bool) -> AbstractContextManager[object]:  # noqa: FBT001 - as an option
    """Have the other nodes of the job at hand; where this is one of them, serve and end."""
    from frobench.suite.nodes.rendezvous import position
    from frobench.suite.run.runner import coordinating, take_part
    from frobench.suite.terminal.output import say, warn

    here = position()
    if here.number == 0:
        return coordinating(here, benchmarks.resolve())
    over = take_part(here, benchmarks.resolve(), wait=warn if wait else None)
    say(f"node {here.number}: {over}")
    sys.exit()


@click.command()
@click.argument("file", type=options.FILE)
@options.devices
@options.benchmarks
@options.results
@options.across
@options.wait
@measures
def reproduce(
    file: Path,
    results: Path,
    benchmarks: Path,
    across: tuple[str, ...],
    **wanted: Any,  # noqa: ANN401 - as the options say
) -> None:
    """Repeat the run in FILE, here, and say whether the results agree.

    Settings and devices are those of FILE; --devices chooses some of them. The last line is
    the new stored file's path. Exits with 4 if the results do not agree, by the verdicts of
    `compare`, and else with 1 if a case failed here. Where this is another machine, or another
    state of it, or too little could be compared, nobody can say: then the findings are shown side
    by side, and it exits with 3.
    """
    from frobench.reports.compare import verdicts
    from frobench.suite.compare.runs import newest_levels
    from frobench.suite.terminal.output import say, shown

    (first,) = read_valid(file)
    require_facts(across, first)
    path, again = measure(results, benchmarks, like=first, **wanted)
    conclude(again, err=True)
    code = verdicts.reproduction(first, again, newest_levels([file.parent, path.parent]), across)
    say(shown(path))
    sys.exit(code if code == SLOWER else failed(again) or code)


def measure(
    results: Path,
    benchmarks: Path,
    *,
    verbose: bool = False,
    **wanted: Any,  # noqa: ANN401 - see `Request`
) -> "tuple[Path, Run]":
    """Measure what is wanted, and return the stored file and its path."""
    from frobench.suite.errors import Interrupted
    from frobench.suite.run.progress import Reporter
    from frobench.suite.run.runner import Interruptions, Request
    from frobench.suite.run.runner import run as to_the_end
    from frobench.suite.stored import store

    request = Request(results=results.resolve(), benchmarks=benchmarks.resolve(), **wanted)
    with Interruptions() as interruptions:
        try:
            with Reporter(verbose=verbose) as progress:
                return to_the_end(request, progress, interruptions)
        except Interrupted as stopped:
            if stopped.stored is not None:
                conclude(store.read(stopped.stored), err=True)
            raise


def call_once(case: str, trace: Path | None, benchmarks: Path, wanted: dict[str, Any]) -> None:
    """Call one case once, and say that this is no measurement."""
    from frobench.suite.once import run_once
    from frobench.suite.stored.machine_identity import name_of
    from frobench.suite.terminal.output import say, shown, warn
    from frobench.suite.units import format_seconds

    measuring = ("budget", "launches", "deadline", "project", "peak", "resume", "label")
    if given := [f"--{name}" for name in measuring if wanted[name]]:
        raise click.UsageError(f"--once measures nothing: leave out {', '.join(given)}")
    called = run_once(
        case,
        benchmarks.resolve(),
        wanted["devices"],
        expression=wanted["expression"],
        seed=wanted["seed"] or 0,
        trace=trace and trace.absolute(),
        waiting=warn if wanted["wait"] else None,
    )
    where, took = " and ".join(called.devices), format_seconds(called.seconds)
    say(f"{name_of(called.case)}: called once on {where}, after the warm-up; its result is right.")
    say(f"The call took {took}. This is no measurement: nothing is stored.")
    if trace is not None:
        say(f"Trace, for https://ui.perfetto.dev or chrome://tracing: {shown(trace.absolute())}")


def failed(stored: "Run") -> int:
    """Return the exit code of a run: 1 if a case failed, or if a launch lost its group."""
    statuses = {outcome.status for outcome in stored.frobench.outcomes}
    return FAILED * ("failed" in statuses or any(one.lost for one in stored.frobench.launches))
