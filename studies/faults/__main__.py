# SPDX-License-Identifier: MIT
"""The command: `python -m studies.faults`."""

import argparse
import multiprocessing
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom

import msgspec
import torch

from frobench.suite.machine import environment
from studies.faults import bodies, disk, kills, mutants, secrets, signals, surroundings
from studies.faults.document import Figures, page, sums
from studies.faults.forked import adopt_orphans
from studies.faults.trials import Extent, Part, Result, Trial
from tests.instruments.processes.command import ROOT
from tests.instruments.processes.forking import import_shared

PARTS: dict[str, Part] = {
    part.__name__: part for part in (kills, signals, disk, bodies, surroundings, secrets, mutants)
}
PAGE, FIGURES = ROOT / "docs" / "faults.md", ROOT / "docs" / "faults.json"
MUTANTS = 20_000
"""Mutants of a campaign by default."""
AT_ONCE = 3
"""Trials at the same time: on two cores, as most of them wait for a quarter of their time."""
LONGEST = 600
"""Seconds of a trial, at most."""


def main() -> None:
    """Try to break a run, and what reads it."""
    parser = argparse.ArgumentParser(prog="python -m studies.faults", description=main.__doc__)
    parser.add_argument("--seed", default="1", help="of everything that is drawn; or `fresh`")
    parser.add_argument("--short", action="store_true", help="one trial of each part, unwritten")
    parser.add_argument("--only", metavar="PART", help="one part, unwritten")
    parser.add_argument("--mutants", type=int, default=MUTANTS, help="of stored files")
    asked = parser.parse_args()
    seed = SystemRandom().randrange(10**6) if asked.seed == "fresh" else int(asked.seed)
    begun = time.monotonic()
    import_shared()
    adopt_orphans()
    extent = Extent(seed, asked.mutants)
    names = [name for name in PARTS if asked.only in {None, name.rpartition(".")[2]}]
    every = [trial for name in names for trial in PARTS[name].trials(extent)]
    if asked.short:
        extent.random("short").shuffle(every)
        every = [*{one.part: one for one in every}.values()]
    print(f"seed {seed}: {len(every)} trials", flush=True)
    results = list(_results(every))
    figures = _figures(results, seed, time.monotonic() - begun)
    for tried in figures.tried:
        print(f"{tried.part}, {tried.kind}: {tried.tried} tried, {tried.faults} faults")
    print(f"{figures.seconds:.0f} s")
    if not asked.short and asked.only is None:
        FIGURES.write_bytes(msgspec.json.format(msgspec.json.encode(figures)) + b"\n")
        PAGE.write_text(page(figures, PARTS), encoding="utf-8")
    sys.exit(any(result.faults for result in results))


def _results(trials: Sequence[Trial]) -> Iterator[Result]:
    """Yield what each trial has shown, and print its faults."""
    with multiprocessing.get_context("fork").Pool(AT_ONCE, adopt_orphans) as pool:
        for number, result in enumerate(pool.imap_unordered(attempt, trials), start=1):
            for fault in result.faults:
                print(f"{result.part} {result.kind} {result.number}: {fault}", flush=True)
            if number % 20 == 0:
                print(f"{number} of {len(trials)} trials", flush=True)
            yield result


def _figures(results: Sequence[Result], seed: int, seconds: float) -> Figures:
    return Figures(
        date=datetime.now(UTC).date().isoformat(),
        machine=environment.machine(["cpu"])[0],
        python=platform.python_version(),
        torch=str(torch.__version__),
        seed=seed,
        seconds=round(seconds, 1),
        tried=list(sums(results)),
        left_out=surroundings.left_out(),
    )


def attempt(trial: Trial) -> Result:
    """Try something in a folder of its own, for `LONGEST` seconds at most."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(LONGEST)
    begun, here = time.monotonic(), Path.cwd()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            faults = [*PARTS[trial.part].attempt(trial, Path(folder))]
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a fault
            faults = [f"{type(error).__name__}: {error}"]
        finally:
            signal.alarm(0)
            os.chdir(here)
    return Result(
        part=trial.part,
        kind=trial.kind,
        number=trial.number,
        tried=trial.size,
        seconds=time.monotonic() - begun,
        faults=faults,
    )


def _too_long(*_: object) -> None:
    raise TimeoutError(f"it took longer than {LONGEST} s")


if __name__ == "__main__":
    main()
