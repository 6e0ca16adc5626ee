# SPDX-License-Identifier: MIT
"""What must be kept of a run that was cut short, whatever cut it short."""

import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from frobench.suite.files import JsonLines, encoded
from frobench.suite.journal import Journal, Measured
from frobench.suite.run import unfinished
from frobench.suite.run.merge import PICOSECOND_DIGITS
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from studies.faults.forked import Ended, run
from tests.instruments.faults.faulty_disk import faulty
from tests.instruments.faults.judging import samples, validate_file

CASES = {f"bench_cheap[cpu-{microseconds}]" for microseconds in (200, 300, 400)}
LAUNCHES, SEED = 2, 1
WITNESS = "witness.jsonl"
"""Takes every measurement that a journal took."""
JOURNAL = "launches.jsonl"
Measurement = tuple[int, str, tuple[float, ...]]
"""A launch, a case, and its samples."""
_entered: list[AbstractContextManager[object]] = []


class Counter:
    """A number that a process shares with all that it forks."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, 8)

    def next(self) -> int:
        """Count one more."""
        value = self.value + 1
        self._shared[:8] = value.to_bytes(8, "little")
        return value

    @property
    def value(self) -> int:
        """What was counted so far."""
        return int.from_bytes(self._shared[:8], "little")


def watch_records(
    folder: Path, happen: Callable[[str, bytes, Path], object] = lambda *_: 0
) -> None:
    """Write measurements that a journal takes down elsewhere too, in this process and its forks.

    happen : is told ``before`` and ``after`` a record is written, its line, and the journal's path
    """
    plain = JsonLines.write

    def write(journal: JsonLines[object], record: object) -> None:
        line = encoded(record)
        happen("before", line, journal.path)
        plain(journal, record)
        if isinstance(record, Measured) and journal.path.name == JOURNAL:
            append(folder / WITNESS, line)
        happen("after", line, journal.path)

    JsonLines.write = write  # type: ignore[method-assign,assignment]


def watch_disk(happen: Callable[[int, str], object]) -> None:
    """Let something happen at each change that this process makes to the disk, not its forks."""
    runner = os.getpid()

    def here(number: int, kind: str) -> None:
        if os.getpid() == runner:
            happen(number, kind)

    _entered.append(faulty(here))  # else it would end at once
    _entered[-1].__enter__()


def append(path: Path, data: bytes) -> None:
    """Append to a file without what `faulty` changes."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, data)
    os.close(handle)


def finish(folder: Path, name: str = "results", *, resume: bool = True) -> Iterator[str]:
    """Resume a run that was cut short; yield what was lost, and what else should not be.

    name : of the folder of results
    resume : else that was done already
    """
    results = folder / name
    names = [path.parent.name for path in results.glob(f"{unfinished.RUNS}/[!.]*/plan.json")]
    before = measured(folder, results)
    if names and resume:
        yield from _of_command(resume_last(folder))
    stored = [path for path in results.glob("*/*.json") if ".partial." not in path.name]
    if not stored:
        if before or names:
            yield f"{len(before)} measurements are journaled, and no run is stored"
        return
    [path] = stored
    if names and path.stem not in names:
        yield f"the run {path.stem} is stored instead of {names}"
    yield from _of_run(path, before | measured(folder, results))
    known = {path, path.parent, results / unfinished.RUNS}
    left = [file.relative_to(results) for file in results.rglob("*") if file not in known]
    if names:  # what a run leaves that was killed after it was stored, the next one removes
        yield from (f"a file is left: {file}" for file in left)


def resume_last(folder: Path) -> Ended:
    """Resume the run that was begun last in a folder."""

    def prepare() -> None:
        unfinished.ABANDONED_SECONDS = -1.0  # whoever left a folder was killed
        watch_records(folder)

    return run(("run", "--resume", "last"), folder, prepare)


def measured(folder: Path, results: Path) -> set[Measurement]:
    """Return every measurement that a journal below some results has ever taken."""
    paths = [*results.glob(f"{unfinished.RUNS}/*/{JOURNAL}")]
    records = [record for path in paths for record in Journal(path)]
    if (witness := folder / WITNESS).exists():
        lines = witness.read_bytes().splitlines()
        records += [msgspec.json.decode(line, type=Measured) for line in lines]
    return {
        (record.launch, record.case, tuple(round(s, PICOSECOND_DIGITS) for s in record.samples))
        for record in records
        if isinstance(record, Measured)
    }


def _of_command(ended: Ended) -> Iterator[str]:
    if ended.code != 0 or "Traceback" in ended.err:
        yield f"exit code {ended.code} when resumed: {ended.err[-1000:]}"


def _of_run(path: Path, journaled: set[Measurement]) -> Iterator[str]:
    run_ = store.read(path)
    outcomes = {one.fullname: one.status for one in run_.frobench.outcomes}
    failed = {name for name, status in outcomes.items() if status == "failed"}
    if {name.partition("::")[2] for name in outcomes} != CASES:
        yield f"its cases are {sorted(outcomes)}"
    if "skipped" in outcomes.values() and not failed:  # else it was larger than one that failed
        yield f"a case is left out: {outcomes}"
    if (run_.frobench.profile, run_.frobench.seed) != ("quick", SEED):
        yield f"it was resumed as {run_.frobench.profile} with seed {run_.frobench.seed}"
    if not run_.frobench.complete:
        yield "the run is stored as incomplete"
    for case in run_.benchmarks:
        if len(case.extra_info.launches) != LAUNCHES or not all(case.extra_info.launches):
            yield f"{case.name} has {case.extra_info.launches} samples by launch"
    if lost := journaled - in_file(run_):
        kept = [one for one in lost if one[1] not in failed]
        yield from (f"lost: launch {launch} of {case}" for launch, case, _ in kept)
    errors = [one for one in validate_file(path) if one.severity == "error"]
    yield from (f"{one.code}: {one.message}" for one in errors if not failed)


def in_file(stored: Run) -> set[Measurement]:
    """Return every measurement in a stored run."""
    found = set()
    for case in stored.benchmarks:
        for launch, one in enumerate(samples(case)):
            found.add((launch, case.fullname, tuple(one)))
    return found
