# SPDX-License-Identifier: MIT
"""The verb that measures commits of a project: `history`."""

import sys
from pathlib import Path
from typing import Any

import click

from frobench.endings import INTERRUPTED, end, measures, spelled
from frobench.options import (
    benchmarks,
    devices,
    expression,
    names,
    profile,
    project,
    results,
    seed,
    wait,
)

# ruff: noqa: PLC0415 - every verb imports its own, so that none waits for another's


@click.command()
@click.option("--range", required=True, metavar="A..B", help="Commits, such as v1.0..main.")
@expression
@project("Whose commits")
@benchmarks
@profile
@devices
@click.option(
    "--launches",
    type=click.IntRange(min=7),  # fewer show no change, however large
    default=10,
    show_default=True,
    metavar="N",
    help="Of each end of the range.",
)
@click.option("--build", default="", metavar="COMMAND", help="Call it in each commit's folder.")
@click.option(
    "--path", "paths", multiple=True, metavar="DIR", help="Where a commit's modules lie, not src."
)
@seed
@results
@wait
@measures
def history(
    devices: str,
    results: Path,
    benchmarks: Path,
    paths: tuple[str, ...],
    **wanted: Any,  # noqa: ANN401 - as the options say
) -> None:
    """Find the commit at which a case changed.

    Commits of a git project are measured in turn, each in fresh processes that import the code of
    its working tree: first both ends of the range, then commits between them, then the commit found
    and the one before it anew. The project's own folder stays as it is. A commit that cannot be
    measured is skipped. In all, a false alarm in at most 5% of searches. Exits with 4 if a case
    became slower, and with 3 if nothing could be compared.
    """
    from suite.history.history import HistoryInterrupted
    from suite.history.history import history as to_the_end
    from suite.history.measuring import HistoryRequest
    from suite.run.interruptions import Interruptions
    from suite.run.progress import reporter
    from suite.terminal import history_words
    from suite.terminal.layout import say, show, shown

    request = HistoryRequest(
        results=spelled(results),
        benchmarks=spelled(benchmarks),
        devices=names(devices),
        paths=list(paths),
        **wanted,
    )
    with Interruptions() as interruptions:
        try:
            with reporter() as progress:
                done = to_the_end(request, progress, interruptions)
        except HistoryInterrupted as stopped:
            saved = "".join(f"; saved: {shown(path)}" for path in stopped.stored)
            end(INTERRUPTED, f"interrupted, and no working tree is left{saved}")
    for table in history_words.tables(done):
        show(table)
    say(*history_words.sentences(done, request))
    if done.stored:
        say(f"{len(done.stored)} stored runs, one a commit, in {shown(done.stored[0].parent)}/")
    sys.exit(history_words.exit_code(done.findings))
