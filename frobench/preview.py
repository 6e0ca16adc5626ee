# SPDX-License-Identifier: MIT
"""The verbs that say what a run would find here: `list` and `doctor`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from frobench import options
from frobench.endings import exits_cleanly, measures
from frobench.suite.exit_codes import CANNOT

if TYPE_CHECKING:
    from frobench.suite.stored.types import ProfileName

# ruff: noqa: PLC0415 - every verb imports its own, so that none waits for another's


@click.command("list")
@options.expression
@options.profile
@options.devices
@options.benchmarks
@options.results
@options.as_json
@measures
def list_cases(  # noqa: PLR0913 - one for each option
    expression: str,
    profile: "ProfileName",
    devices: list[str],
    benchmarks: Path,
    results: Path,
    *,
    as_json: bool,
) -> None:
    """Show the cases that a run would measure, their work and what it should take.

    Nothing of a benchmark is called: work and times are those of the newest stored run of this
    machine that had these cases, and otherwise unknown.
    """
    import tempfile

    from frobench.suite.profiles import settings_for
    from frobench.suite.run.expected import expect, run_before
    from frobench.suite.run.pilot import collect
    from frobench.suite.terminal import listing
    from frobench.suite.terminal.output import dump, say, width

    settings = settings_for(profile, devices, expression=expression)
    with tempfile.TemporaryDirectory() as folder:
        collected = collect(settings, Path(folder), benchmarks.resolve())
    before = run_before(results, collected, profile)
    expected = expect(collected, settings, before)
    if as_json:
        dump(expected)
    else:
        say(*listing.lines(expected, width()))


@click.command()
@options.results
@options.as_json
@exits_cleanly
def doctor(results: Path, *, as_json: bool) -> None:
    """Show this machine, what is wrong with it, and how to mend it.

    Nothing is measured. Exits with 3 if an accelerator or PyTorch cannot be used.
    """
    from frobench.suite.doctor import examine
    from frobench.suite.terminal import doctor_page
    from frobench.suite.terminal.output import dump, say, width

    conclusions = examine(results.resolve())
    if as_json:
        dump(conclusions)
    else:
        say(*doctor_page.lines(conclusions.there, conclusions.troubles, width()))
    sys.exit(CANNOT * conclusions.unusable)
