# SPDX-License-Identifier: MIT
"""The verb that measures the nodes of a cluster: `fleet`."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from frobench.endings import INTERRUPTED, end, measures, spelled
from frobench.options import SITE, expression, into, profile, results

if TYPE_CHECKING:
    from suite.stored.run import Conclusion

# ruff: noqa: PLC0415 - every verb imports its own, so that none waits for another's


@click.command()
@expression
@profile
@click.option(
    "--benchmarks",
    type=click.Path(path_type=Path),
    help="Folder of benchmarks that lies on every node, if not Frobench's own.",
)
@results
@into(SITE, "Folder for the pages.")
@click.option("--address", default="auto", show_default=True, help="Address of the Ray cluster.")
@click.option("--budget", type=click.FloatRange(min=1), metavar="SECONDS", help="For each run.")
@click.option("--launches", type=click.IntRange(min=1), metavar="N", help="Instead of a budget.")
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
@measures
def fleet(results: Path, output: Path, benchmarks: Path | None, **wanted: Any) -> None:  # noqa: ANN401 - see `FleetRequest`
    """Measure every node of a Ray cluster, and show which is not like the others.

    Each node makes an ordinary run with all of its accelerators. Its file is stored here as soon as
    it ends. A node that is lost is tried once more if it comes back; see docs/fleet.md.

    Exits with 3 if a node stored no whole run, and else with 1 if a case failed.
    """
    from suite.fleet.fleet import FleetRequest, measure
    from suite.run.interruptions import Interruptions
    from suite.run.label import seal
    from suite.terminal import fleet_words
    from suite.terminal.layout import say

    folder = spelled(results)
    request = FleetRequest(
        results=folder, benchmarks=benchmarks and benchmarks.absolute(), **wanted
    )
    tell = fleet_words.teller(partial(say, err=True), lambda name: seal(name, folder))
    try:
        with Interruptions():
            outcome = measure(request, tell)
    except KeyboardInterrupt:
        end(INTERRUPTED, f"interrupted; every file that arrived is in {results}")
    say(*fleet_words.lines(outcome))
    if outcome.stored:
        write_pages(folder, output)
    sys.exit(fleet_words.exit_code(outcome))


def write_pages(results: Path, output: Path) -> None:
    """Write the pages of all stored runs, and name the one that compares nodes."""
    from reports.fleet.fleet_page import PAGE
    from reports.site import build
    from suite.terminal.layout import say, shown, tell

    def is_broken(path: Path, conclusions: "list[Conclusion]") -> None:
        tell(path, conclusions, err=True)

    made = build.build([results], output, tell=is_broken)
    page = output / PAGE
    if page.exists():
        say(f"which node is not like the others: {shown(page)}")
    else:
        say(f"too few nodes to compare: 3 are needed; their runs: {shown(made[0])}")
