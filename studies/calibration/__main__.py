# SPDX-License-Identifier: MIT
"""How often the harness errs, by simulation and by real runs.

Prints the tables of each study as it ends. Those of a full run also go into
docs/calibration.json and docs/calibration.md. What is simulated has fixed seeds.
"""

import argparse
import sys
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from frobench.suite.machine import environment
from frobench.suite.machine.host import processor
from frobench.suite.run.progress import Reporter
from frobench.suite.stored.machine_identity import machine_name
from frobench.suite.units import counted
from studies.calibration.document import keep
from studies.calibration.figures import Study, Table
from studies.calibration.render import shown
from studies.calibration.work import every_core, tells

APART = ("separate-runs",)
"""Studies that are made only by name: their runs take hours, spread over a day."""

PLANS = {
    "spinners": (2, 1),
    "real": (120, 16),
    "telemetry": (120, 4),
    "separate-runs": (12, 2),
    "intervals": (20_000, 200),
    "drift": (20_000, 200),
    "verdicts": (1_000, 10),
    "power": (400, 2),
    "shifts": (200, 2),
    "changes": (4_000, 20),
    "ratios": (1_000, 4),
    "pilot": (40, 1),
    "good": (1_000, 40),
    "fleet": (400, 2),
    "clean": (200, 2),
}
"""How much of each study a full one has and a quick one: simulated runs or suites, launches, runs.

First those that measure this machine, which nothing else may disturb then. Each is a module."""


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
    missed = 0
    with every_core() as over_cores:
        for name in asked_for:
            study = import_module(f"studies.calibration.{name.replace('-', '_')}").study
            given = {"recorded": options.recorded} if name in APART else {}
            begun, much = time.monotonic(), PLANS[name][options.quick]
            with Reporter() as progress:
                tables: list[Table] = study(tells(progress), over_cores, much, **given)
            kept = made(tables, time.monotonic() - begun)
            sys.stdout.write("".join(f"{shown(table)}\n\n" for table in tables))
            sys.stdout.flush()
            missed += len(kept.missed)
            if not options.quick:
                keep({name: kept})
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
