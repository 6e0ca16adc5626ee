# SPDX-License-Identifier: MIT
"""How often the harness errs, by simulation and by real runs.

Prints the tables of each study as it ends. Those of a full run also go into
docs/calibration.json and docs/calibration.md. What is simulated has fixed seeds.
"""

import argparse
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from frobench.suite.machine import environment
from frobench.suite.machine.host import processor
from frobench.suite.run.progress import Reporter
from frobench.suite.stored.machine_identity import machine_name
from frobench.suite.units import counted
from studies.calibration import (
    changes,
    clean,
    drift,
    fleet,
    good,
    intervals,
    pilot,
    power,
    ratios,
    real,
    separate_runs,
    shifts,
    spinners,
    telemetry,
    verdicts,
)
from studies.calibration.document import keep
from studies.calibration.figures import Study, Table
from studies.calibration.render import shown
from studies.calibration.work import Spread, Tell, every_core, tells


class Plan(NamedTuple):
    """How a study is made.

    full, quick : how much of it: simulated runs or suites, launches, runs
    """

    study: Callable[[Tell, Spread, int], list[Table]]
    full: int
    quick: int


APART = ("separate-runs",)
"""Studies that are made only by name: their runs take hours, spread over a day."""

PLANS = {
    "spinners": Plan(spinners.study, full=2, quick=1),
    "real": Plan(real.study, full=120, quick=16),
    "telemetry": Plan(telemetry.study, full=120, quick=4),
    "separate-runs": Plan(separate_runs.study, full=12, quick=2),
    "intervals": Plan(intervals.study, full=20_000, quick=200),
    "drift": Plan(drift.study, full=20_000, quick=200),
    "verdicts": Plan(verdicts.study, full=1_000, quick=10),
    "power": Plan(power.study, full=400, quick=2),
    "shifts": Plan(shifts.study, full=200, quick=2),
    "changes": Plan(changes.study, full=4_000, quick=20),
    "ratios": Plan(ratios.study, full=1_000, quick=4),
    "pilot": Plan(pilot.study, full=40, quick=1),
    "good": Plan(good.study, full=1_000, quick=40),
    "fleet": Plan(fleet.study, full=400, quick=2),
    "clean": Plan(clean.study, full=200, quick=2),
}
"""By name, first those that measure this machine, which nothing else may disturb then."""


def main() -> int:
    """Make the studies that are asked for, and return the exit code: 1 if a goal is missed."""
    asked = argparse.ArgumentParser(prog="python -m studies.calibration", description=__doc__)
    asked.add_argument(
        "studies",
        nargs="*",
        metavar="STUDY",
        help=f"{', '.join(PLANS)}; without names all but {', '.join(APART)}",
    )
    asked.add_argument("--quick", action="store_true", help="tiny studies, to see that they work")
    asked.add_argument(
        "--recorded",
        type=Path,
        metavar="FOLDER",
        help="runs for separate-runs, in FOLDER/equal and FOLDER/slower, instead of new ones",
    )
    options = asked.parse_args()
    if unknown := set(options.studies) - PLANS.keys():
        asked.error(f"no study {', '.join(sorted(unknown))}; there are {', '.join(PLANS)}")
    asked_for = options.studies or [name for name in PLANS if name not in APART]
    plans = {name: PLANS[name] for name in asked_for}
    if options.recorded and (plan := plans.get("separate-runs")):
        of_recorded = partial(separate_runs.study, recorded=options.recorded)
        plans["separate-runs"] = plan._replace(study=of_recorded)
    missed = 0
    with every_core() as over_cores:
        for name, plan in plans.items():
            begun, much = time.monotonic(), plan.quick if options.quick else plan.full
            with Reporter() as progress:
                tables = plan.study(tells(progress), over_cores, much)
            study = made(tables, time.monotonic() - begun)
            sys.stdout.write("".join(f"{shown(table)}\n\n" for table in tables))
            sys.stdout.flush()
            missed += len(study.missed)
            if not options.quick:
                keep({name: study})
    if options.quick:
        sys.stdout.write("Made of too little to say anything, and kept nowhere.\n")
        return 0
    sys.stdout.write(f"{counted(missed, 'figure')} missed a goal.\n")
    return 1 if missed else 0


def revision() -> str:
    """Return the commit that is checked out, in short, and whether its sources were changed."""
    found = environment.commit()
    return (found.id or "unknown")[:7] + (" (changed)" if found.dirty else "")


def made(tables: list[Table], seconds: float) -> Study:
    """Return a study with when, where and of what it was made."""
    return Study(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        commit=revision(),
        machine=machine_name(processor({}), []),
        seconds=round(seconds, 1),
        tables=tables,
    )


if __name__ == "__main__":
    sys.exit(main())
