# SPDX-License-Identifier: MIT
"""What a run has so far, from its folder: to save it when it is interrupted, or to look on."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from suite.journal.journal import Journal
from suite.journal.records import Ended, Measured
from suite.run.merge import merge
from suite.run.plan import Draft, Plan
from suite.run.sensed import telemetry
from suite.stored import store
from suite.stored.run import Run

READINGS = "telemetry.jsonl"
"""The file of a run's folder that takes what sensors say."""


def snapshot(folder: Path, seconds: float | None = None) -> Run | None:
    """Return what a run has measured so far, incomplete; nothing before its first sample.

    seconds : that the run has taken; without them the sum of what it wrote down
    """
    plan, records = Plan.read(folder), list(Journal(folder / "launches.jsonl"))
    measured = [record for record in records if isinstance(record, Measured)]
    if plan is None or not measured:
        return None
    if seconds is None:
        ended = {record.launch: record.seconds for record in records if isinstance(record, Ended)}
        going = sum(record.wall_seconds for record in measured if record.launch not in ended)
        seconds = plan.plan_seconds + sum(ended.values()) + going
    readings = list(telemetry.readings(folder / READINGS))
    run = merge(plan, records, seconds, readings, complete=False)
    return run if run.benchmarks else None


@contextmanager
def as_files(paths: Iterable[Path]) -> Iterator[list[Path]]:
    """Put what runs that go on have so far into files that are there for a while.

    A folder of such a run, below ``results/.runs/``, gives way to its file; all else stays.

    Raises `FileNotFoundError` if the run has no sample yet.
    """
    with TemporaryDirectory() as folder:
        yield [_file(path, Path(folder)) for path in paths]


def _file(path: Path, folder: Path) -> Path:
    if Draft.read(path) is None:
        return path
    run = snapshot(path)
    if run is None:
        raise FileNotFoundError(f"{path}: nothing is measured yet")
    target = folder / f"{path.name}.json"
    target.write_bytes(store.encode(run))
    return target
