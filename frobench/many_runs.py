# SPDX-License-Identifier: MIT
"""The verbs that make many runs: `fleet` on the nodes of a cluster, `history` of commits."""

import sys
from pathlib import Path
from typing import Any

import click

from frobench import options
from frobench.endings import end, measures
from frobench.suite.exit_codes import INTERRUPTED

# ruff: noqa: PLC0415 - every verb imports its own, so that none waits for another's


@click.command()
@options.expression
@options.profile
@click.option(
    "--benchmarks",
    type=click.Path(path_type=Path),
    help="Folder of benchmarks that lies on every node, if not Frobench's own.",
)
@options.results
@options.into(options.SITE, "Folder for the pages.")
@click.option("--address", default="auto", show_default=True, help="Address of the Ray cluster.")
@options.budget
@options.launches
@click.option(
    "--deadline",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="Longest time of a node's run, after its wait for the machine.  "
    "[default: 3 budgets and 600]",
)
@click.option(
    "--patience",
    type=click.FloatRange(min=1),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="A node that is silent for so long is lost; a lost node may come back for as long.",
)
@click.option(
    "--resume",
    metavar="FLEET",
    help="Finish a fleet that was cut short, or the `last` one, with the options it began with.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what became of the nodes as JSON.")
@measures
def fleet(
    results: Path,
    output: Path,
    benchmarks: Path | None,
    *,
    as_json: bool,
    **wanted: Any,  # noqa: ANN401 - see `FleetRequest`
) -> None:
    """Measure every node of a Ray cluster, and show which is not like the others.

    Each node makes an ordinary run with all of its accelerators. Its file is stored here as soon as
    it ends. A node that is lost is tried once more if it comes back; see docs/fleet.md.

    Exits with 3 if a node stored no whole run, and else with 1 if a case failed.
    """
    from frobench.suite.fleet.fleet import FleetRequest, measure
    from frobench.suite.run.runner import label_of
    from frobench.suite.terminal import fleet_words
    from frobench.suite.terminal.output import dump, say, warn

    folder = results.resolve()
    request = FleetRequest(
        results=folder, benchmarks=benchmarks and benchmarks.absolute(), **wanted
    )
    tell = fleet_words.teller(warn, lambda name: label_of(name, folder))
    try:
        done = measure(request, tell)
    except KeyboardInterrupt:
        end(INTERRUPTED, f"interrupted; every file that arrived is in {results}")
    say(*fleet_words.lines(done), err=as_json)
    unlike = write_pages(folder, output, err=as_json) if done.stored else {}
    say(*fleet_words.unlike_lines(done, unlike), err=as_json)
    if as_json:
        dump(fleet_words.as_json(done, unlike))
    sys.exit(fleet_words.exit_code(done))


def write_pages(results: Path, output: Path, *, err: bool) -> dict[str, dict[str, float]]:
    """Write the pages of all stored runs; return the ratios of the nodes that are unlike others."""
    from frobench.reports.fleet.fleet_page import PAGE, groups_of, unlike_nodes
    from frobench.reports.site import build
    from frobench.suite.terminal.output import say, shown, tell

    made = build.build([results], output, tell=tell)
    page = output / PAGE
    if page.exists():
        say(f"which node is not like the others: {shown(page)}", *groups_of(output), err=err)
        return unlike_nodes(output)
    say(f"too few nodes to compare: 3 are needed; their runs: {shown(made[0])}", err=err)
    return {}


def _range(_context: click.Context, _option: click.Parameter, text: str) -> str:
    """Refuse what is no range of commits."""
    if ".." in text and "..." not in text and not text.startswith("-"):
        return text
    raise click.BadParameter(
        f"{text!r} is no range of commits. A range is A..B, the commits after A up to B; "
        "`--range HEAD^..HEAD` compares a commit with the one before it"
    )


@click.command()
@click.option(
    "--range", required=True, metavar="A..B", callback=_range, help="Commits, such as v1.0..main."
)
@options.expression
@options.project("Whose commits")
@options.benchmarks
@options.profile
@options.devices
@click.option(
    "--launches",
    type=click.IntRange(min=6),  # fewer show no change, however large
    default=10,
    show_default=True,
    metavar="N",
    help="Of each end of the range.",
)
@click.option("--build", default="", metavar="COMMAND", help="Call it in each commit's folder.")
@click.option(
    "--path", "paths", multiple=True, metavar="DIR", help="Where a commit's modules lie, not src."
)
@options.seed
@options.results
@options.wait
@measures
def history(results: Path, benchmarks: Path, **wanted: Any) -> None:  # noqa: ANN401 - see `HistoryRequest`
    """Find the commit at which a case changed.

    Commits of a git project are measured in turn, each in fresh processes that import the code of
    its working tree: first both ends of the range, then commits between them, then the commit found
    and the one before it anew. The project's own folder stays as it is. A commit that cannot be
    measured is skipped, unless it is an end of the range. A false alarm in at most 5% of searches,
    and a wrong commit in at most 5%. Exits with 4 if a case became slower; else with 3 if an end of
    the range cannot be measured, or if `compare` would exit with 3.
    """
    from frobench.suite.compare.gate import exit_code
    from frobench.suite.history.history import HistoryInterrupted, HistoryRequest
    from frobench.suite.history.history import history as to_the_end
    from frobench.suite.run.progress import Reporter
    from frobench.suite.run.runner import Interruptions
    from frobench.suite.terminal import history_words
    from frobench.suite.terminal.output import say, show, shown

    request = HistoryRequest(results=results.resolve(), benchmarks=benchmarks.resolve(), **wanted)
    with Interruptions() as interruptions:
        try:
            with Reporter() as progress:
                done = to_the_end(request, progress, interruptions)
        except HistoryInterrupted as stopped:
            saved = "".join(f"; saved: {shown(path)}" for path in stopped.stored)
            end(INTERRUPTED, f"interrupted, and no working tree is left{saved}")
    say(*history_words.refusals(done))
    for table in history_words.tables(done):
        show(table)
    say(*history_words.sentences(done))
    if done.stored:
        say(f"{len(done.stored)} stored runs, one a commit, in {shown(done.stored[0].parent)}/")
    sys.exit(exit_code(done.comparison))
