# SPDX-License-Identifier: MIT
"""How long the site of many machines takes to build, and how much memory: `docs/scale.json`.

Each site is built in a process of its own from stored runs of `instruments/runs/many_machines.py`,
and then again, by the command, with one more result, and with further ones.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import median

import msgspec
import psutil
from msgspec import Struct

from frobench.reports.making.workers import FEW_PAGES, collect_seldom, cores
from frobench.reports.site import build as site
from frobench.suite.machine import environment
from frobench.suite.machine.host import processor
from frobench.suite.stored.machine_identity import machine_name
from tests.instruments.processes.command import ROOT
from tests.instruments.runs import many_machines

KEPT = ROOT / "docs" / "scale.json"
SIZES, QUICK = (10, 100, 1000), (10, 50)
PAGES = "pages"
TABLES = ("reading", "tables", "index")
"""Stages that are not the pages themselves, nor the judgement whether files are whole."""
CHECKING = "checking"
"""The stage in which each new file is judged; the judgement is kept by its digest."""
MORE = 3
"""Results that are added one by one."""
OFTEN = 0.2
"""Seconds between two looks at processes."""
GOALS = {
    "judging": 60.0,
    "tables": 25.0,
    "memory_bytes": 1.5e9,
    "page": 1.0,
    "one_more": 6.0,
    "index_bytes": 1.5e6,
}
"""What 1000 machines may take on two cores: seconds, and bytes."""


class Built(Struct):
    """A site that was built.

    stages : seconds of each stage; ``start`` is what the process takes to begin
    seconds : of the whole process
    memory_bytes : the most that the process and its workers held together
    """

    stages: dict[str, float]
    seconds: float
    memory_bytes: int


class Size(Struct):
    """What the site of so many machines took.

    judging : seconds of the first judgement of all files
    tables : seconds of reading, frames, the index and its downloads, all files being judged
    page : seconds of one page with what lies beside it, on one core
    again : seconds of `frobench report` after one more result, and after each of some further ones
    one_more : their median
    untouched : whether those left all other pages as they were
    """

    machines: int
    runs: int
    first: Built
    judging: float
    tables: float
    page: float
    again: list[float]
    one_more: float
    memory_bytes: int
    index_bytes: int
    untouched: bool

    def missed(self) -> list[str]:
        """Name the goals that are missed, which are those of 1000 machines."""
        found = [name for name, most in GOALS.items() if getattr(self, name) > most]
        return found if self.untouched else [*found, "untouched"]


class Scale(Struct):
    """All sizes, with when, where and of what they were measured."""

    date: str
    commit: str
    machine: str
    cores: int
    python: str
    sizes: list[Size]


def main(given: Sequence[str] | None = None) -> int:
    """Measure, and return the exit code: 1 if a goal is missed."""
    asked = argparse.ArgumentParser(prog="python -m studies.scale", description=__doc__)
    asked.add_argument("--quick", action="store_true", help="small sizes, kept nowhere")
    asked.add_argument("--build", nargs=2, type=Path, help=argparse.SUPPRESS)
    asked.add_argument("--nodes", type=int, metavar="N", help="N nodes of one kind, kept nowhere")
    options = asked.parse_args(given)
    if options.build:
        build(*options.build)
        return 0
    if options.nodes:
        size = measured(options.nodes, equal=True)
        sys.stdout.write(told(size))
        return 1 if size.missed() else 0
    found = []
    for machines in QUICK if options.quick else SIZES:
        found.append(measured(machines))
        sys.stdout.write(told(found[-1]))
        sys.stdout.flush()
    if options.quick:
        return 0
    KEPT.write_bytes(msgspec.json.format(msgspec.json.encode(_of(found))) + b"\n")
    return 1 if any(one.missed() for one in found) else 0


def _of(found: list[Size]) -> Scale:
    revision = environment.commit()
    return Scale(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        commit=f"{(revision.id or 'unknown')[:7]}{' (changed)' if revision.dirty else ''}",
        machine=machine_name(processor({}), []),
        cores=cores(),
        python=".".join(map(str, sys.version_info[:3])),
        sizes=found,
    )


def measured(machines: int, *, equal: bool = False) -> Size:
    """Build the site of so many machines, and again with one more.

    equal : whether they are nodes of one kind
    """
    with tempfile.TemporaryDirectory() as folder:
        results, out = Path(folder) / "results", Path(folder) / "site"
        stored = many_machines.write(machines, results, equal=equal)
        first = built(results, out)
        pages = {path: path.stat().st_mtime_ns for path in out.glob("*/*.html")}
        watch, again = Watch(), []
        for more in range(MORE):
            newest = machines + more
            many_machines.write_one(newest, 1, folder=results, equal=equal)  # newer than all others
            os.sync()  # what was written before goes to the disk on its own account
            begun, ended, _ = watched(["frobench", "report", str(results), "-o", str(out)], watch)
            again.append(ended - begun)
        return Size(
            machines=machines,
            runs=len(stored),
            first=first,
            judging=first.stages[CHECKING],
            tables=sum(first.stages[name] for name in TABLES),
            page=first.stages[PAGES] * cores() / len(stored),
            again=again,
            one_more=median(again),
            memory_bytes=max(first.memory_bytes, watch.most),
            index_bytes=(out / "index.html").stat().st_size,
            untouched=len(pages) == len(stored)
            and all(path.stat().st_mtime_ns == then for path, then in pages.items()),
        )


def build(results: Path, out: Path) -> None:
    """Build a site as `frobench report` does, and print when each stage began."""
    collect_seldom(FEW_PAGES)
    stages: list[tuple[str, float]] = []
    broken: list[Path] = []
    site.build(
        [results],
        out,
        tell=lambda path, _: broken.append(path),
        begin=lambda stage: stages.append((stage, time.monotonic())),
    )
    if broken:
        raise SystemExit(f"{broken[0]} is not whole")
    sys.stdout.write(json.dumps([*stages, ("end", time.monotonic())]))


def built(results: Path, out: Path) -> Built:
    """Build a site in a process of its own, stage by stage."""
    watch = Watch()
    begun, ended, said = watched(["studies.scale", "--build", str(results), str(out)], watch)
    stages = [("start", begun), *((name, at) for name, at in json.loads(said))]
    spans = [(name, at, end) for (name, at), (_, end) in pairwise(stages)]
    return Built(
        stages={name: end - at for name, at, end in spans},
        seconds=ended - begun,
        memory_bytes=watch.most,
    )


def watched(module: Sequence[str], watch: "Watch") -> tuple[float, float, str]:
    """Run a module with its arguments; return when it began and ended, and what it said."""
    begun = time.monotonic()
    with tempfile.TemporaryFile() as said:
        command = [sys.executable, "-m", *module]
        with subprocess.Popen(command, stdout=said, cwd=ROOT) as process:
            while True:
                watch.look(psutil.Process(process.pid))
                with suppress(subprocess.TimeoutExpired):
                    process.wait(OFTEN)
                    break
        ended = time.monotonic()
        if process.returncode:
            raise SystemExit(process.returncode)
        said.seek(0)
        return begun, ended, said.read().decode()


class Watch:
    """What a process and its children hold, what they share counted once.

    Attributes
    ----------
    most : int
        Bytes that they held at most.
    """

    def __init__(self) -> None:
        self.most = 0
        self._resident = 0

    def look(self, process: psutil.Process) -> None:
        """Look at them once."""
        resident, everyone = 0, []
        with suppress(psutil.Error):
            everyone = [process, *process.children(recursive=True)]
        for one in everyone:
            with suppress(psutil.Error):
                resident += one.memory_info().rss
        if resident > self._resident:  # what they share takes long to find out, and holds them up
            self._resident = resident
            self.most = max(self.most, sum(map(_held, everyone)))


def _held(process: psutil.Process) -> int:
    """Return the bytes that a process holds, its part of what it shares; 0 of one that ended."""
    with suppress(psutil.Error):
        memory = process.memory_full_info()
        return int(getattr(memory, "pss", memory.rss))
    return 0


def told(one: Size) -> str:
    """Return what is said of a size, in a line."""
    missed = f"; missed: {', '.join(one.missed())}" if one.missed() else ""
    return (
        f"{one.machines} machines: {one.judging:.1f} s for the first judgement, "
        f"{one.tables:.1f} s for frames, index and downloads, "
        f"{one.page:.2f} s a page, {one.one_more:.1f} s for one more, "
        f"{one.memory_bytes / 1e6:.0f} MB, index of {one.index_bytes / 1e6:.2f} MB{missed}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
