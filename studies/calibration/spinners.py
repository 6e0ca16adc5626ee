# SPDX-License-Identifier: MIT
"""Which cases of the real suite a pilot loses on this machine while two programs spin.

The real pilot calls every case on the CPU, once while nothing else runs and once beside programs
that compute without end. Both runs are planned as `frobench run` plans them, and not measured.
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from frobench.suite.journal import Journal, Measured
from frobench.suite.profiles import limits_of
from frobench.suite.run import pilot
from frobench.suite.run.planning import freeze
from frobench.suite.run.runner import Request, settle
from frobench.suite.stored.types import ProfileName
from frobench.suite.units import counted
from studies.calibration.figures import Figure, Goal, Table, errors
from studies.calibration.pilot import MOST_LOST, MOST_LOST_OF_ALL, NEAR
from studies.calibration.work import Spread, Tell
from tests.instruments.processes.command import ROOT

SPINNERS = 2
MUCH_LONGER = 1.5
"""Times the profile's limit that a run may take where other programs disturb it."""


class Piloted(NamedTuple):
    """What a pilot found.

    cases : full names of those that its run would measure
    calls : seconds of the quickest call of each case that was called: as far as it is known that
        it did not wait for the processor, and by the clock
    limit : seconds of the longest permitted call
    said : whether it says that other programs disturbed it
    part : of its profile's limit that the run would take at least
    """

    cases: frozenset[str]
    calls: dict[str, tuple[float, float]]
    limit: float
    said: bool
    part: float

    def is_near(self, case: str) -> bool:
        """Tell whether a call of a case may be within a factor of the limit."""
        least, most = self.calls.get(case, (0.0, float("inf")))
        return least <= NEAR * self.limit and most >= self.limit / NEAR


def study(tell: Tell, spread: Spread, pairs: int) -> list[Table]:  # noqa: ARG001 - one at a time
    """Make so many pairs of pilots, a quiet one and a loaded one; one alone is of `quick`."""
    profile: ProfileName = "quick" if pairs == 1 else "standard"
    found: list[tuple[Piloted, Piloted]] = []
    for done in range(pairs):
        quiet = piloted(profile)
        tell((2 * done + 1) / (2 * pairs), "quiet")
        with spinning():
            found.append((quiet, piloted(profile)))
        tell((done + 1) / pairs, "loaded")
    return [table(profile, found)]


@contextmanager
def spinning() -> Iterator[None]:
    """Let programs compute that have nothing to do with the pilot."""
    command = [sys.executable, "-c", "while True: pass"]
    programs = [subprocess.Popen(command) for _ in range(SPINNERS)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def piloted(profile: ProfileName, expression: str = "") -> Piloted:
    """Plan a run of the suite's cases on the CPU."""
    benchmarks = ROOT / "benchmarks"
    with TemporaryDirectory() as name:
        folder, begun = Path(name), time.monotonic()
        request = Request(
            results=folder,
            benchmarks=benchmarks,
            profile=profile,
            devices=["cpu"],
            expression=expression,
        )
        asked = settle(request)
        journal = Journal(folder / "pilot.jsonl")
        pilot.explore(asked, journal, lambda _: None)
        plan = freeze(asked, journal, time.monotonic() - begun, {})
        measured = [record for record in journal if isinstance(record, Measured)]
    return Piloted(
        cases=frozenset(case.fullname for case in plan.cases),
        calls={record.case: (record.quickest, min(record.samples)) for record in measured},
        limit=plan.settings.longest_sample,
        said=plan.disturbed,
        part=plan.seconds_at_least / limits_of(profile, plan.settings.devices).limit,
    )


def table(profile: ProfileName, pairs: Sequence[tuple[Piloted, Piloted]]) -> Table:
    """Return on which part of the cases the pilots of each pair differ."""
    figures: list[Figure] = []
    for number, (quiet, loaded) in enumerate(pairs, 1):
        row, every = f"pair {number}", quiet.cases | loaded.cases
        differing = quiet.cases ^ loaded.cases
        near = {case for case in every if (quiet if case in quiet.cases else loaded).is_near(case)}
        far = every - near
        figures += [
            errors(row, "not near a limit", len(differing & far), len(far), MOST_LOST),
            errors(row, "all", len(differing), len(every), MOST_LOST_OF_ALL),
            Figure.of(row, "quiet run / limit", quiet.part),
            Figure.of(row, "loaded run / limit", loaded.part, goal=Goal(most=MUCH_LONGER)),
            Figure.of(row, "says so", float(loaded.said), goal=Goal(least=1.0)),
        ]
    return Table(
        title=f"Cases that only one of two real pilots of the profile {profile} would measure, "
        f"beside {counted(SPINNERS, 'program')} that compute without end and beside none",
        rows="",
        figures=figures,
        note=f"Near a limit are calls within a factor of {NEAR:g} of what the profile allows. The "
        "run is the shortest that has an interval; it says that it was disturbed (1) or not (0).",
    )
