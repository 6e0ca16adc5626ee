# SPDX-License-Identifier: MIT
"""A disk that is full from the n-th write on, of a run and of a report."""

import re
import resource
import shlex
from collections.abc import Callable, Iterable, Iterator
from errno import ENOSPC
from functools import partial
from os import strerror
from pathlib import Path
from tempfile import TemporaryDirectory

from frobench.suite.files import JsonLines
from frobench.suite.stored import store
from studies.faults.forked import CHEAP, Ended, processes_left, run
from studies.faults.kept import Counter, finish, watch_disk, watch_records
from studies.faults.trials import Extent, Trial
from tests.instruments.faults.faulty_disk import full_from
from tests.instruments.faults.spoiling import good

PROMISE = (
    "A disk that is full, from whichever write on, is named as that. Nothing finished is lost, and "
    "the command that the message gives finishes the run once there is room."
)
RUNNER, LAUNCH = "run, from a change of the runner's", "run, from a record of a launch's"
LIMITED = "run, files of limited size"
REPORT, REPORT_LIMITED = "report, from a change", "report, files of limited size"
EACH = 25
"""Trials of each kind."""
SMALLEST, LARGEST = 100, 40_000
"""Bytes that a file may have."""
RESULTS = "the user's results"
"""A name that a shell must be given in quotes."""
CANNOT = 3
MESSAGE = re.compile("No space left on device|File too large|the disk refuses")


def trials(extent: Extent) -> list[Trial]:
    """Return changes and records from which on the disk is full, and sizes of files."""
    import frobench.reports.site.build  # noqa: F401, PLC0415 - once, before any process is forked

    chance = extent.random(__name__)
    least = {RUNNER: range(1, _changes(_measure) + 1), LAUNCH: range(1, 28)}
    least |= {LIMITED: range(SMALLEST, LARGEST), REPORT_LIMITED: range(SMALLEST, LARGEST)}
    least |= {REPORT: range(1, _changes(_report) + 1)}
    return [
        Trial(__name__, kind, number)
        for kind, numbers in least.items()
        for number in chance.sample(numbers, min(EACH, len(numbers)))
    ]


def attempt(trial: Trial, folder: Path) -> Iterable[str]:
    """Let a disk be full, and see what the command says and leaves."""
    prepare = partial(_prepare, trial)
    if trial.kind in {REPORT, REPORT_LIMITED}:
        yield from _of_report(folder, _report(folder, prepare))
        return
    ended = _measure(folder, prepare)
    yield from processes_left()
    if ended.code == 0:  # what the disk refused was needed no more
        yield from finish(folder, RESULTS, resume=False)
        return
    yield from _named(ended)
    if (hint := re.search(r"`frobench (run --resume .*?)` goes on", ended.err)) is not None:
        again = run(shlex.split(hint[1]), folder, partial(watch_records, folder))
        if again.code != 0:
            yield f"exit code {again.code} when resumed: {again.err[-1000:]}"
    yield from finish(folder, RESULTS, resume=False)


def _prepare(trial: Trial) -> None:
    if trial.kind in {RUNNER, REPORT}:
        watch_disk(full_from(trial.number))
    elif trial.kind == LAUNCH:
        _refuse_records(trial.number)
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (trial.number, trial.number))


def _refuse_records(first: int) -> None:
    """Let the disk refuse every record from one on."""
    plain, records = JsonLines.write, Counter()

    def write(journal: JsonLines[object], record: object) -> None:
        if records.next() >= first:
            raise OSError(ENOSPC, strerror(ENOSPC), str(journal.path))
        plain(journal, record)

    JsonLines.write = write  # type: ignore[method-assign,assignment]


def _measure(folder: Path, prepare: Callable[[], object]) -> Ended:
    def watched() -> None:
        watch_records(folder)
        prepare()

    return run((*CHEAP, "--results", RESULTS), folder, watched)


def _report(folder: Path, prepare: Callable[[], object] = int) -> Ended:
    results = folder / "results"
    if not results.exists():
        store.write(good(), results)
    return run(("report",), folder, prepare)


def _changes(command: Callable[[Path, Callable[[], object]], Ended]) -> int:
    """Return how many changes a command makes to the disk."""
    changes = Counter()
    with TemporaryDirectory() as name:
        ended = command(Path(name), lambda: watch_disk(lambda *_: changes.next()))
    if ended.code != 0:
        raise RuntimeError(ended.err)
    return changes.value


def _named(ended: Ended) -> Iterator[str]:
    if ended.code != CANNOT or not MESSAGE.search(ended.err) or "Traceback" in ended.err:
        yield f"exit code {ended.code}: {ended.err[-3000:]}"


def _of_report(folder: Path, ended: Ended) -> Iterator[str]:
    if ended.code != 0:
        yield from _named(ended)
    again = _report(folder)
    if again.code != 0:
        yield f"exit code {again.code} of the next report: {again.err[-1000:]}"
    if not (folder / "site" / "index.html").exists():
        yield "no index.html"
