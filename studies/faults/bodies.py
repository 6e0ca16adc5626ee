# SPDX-License-Identifier: MIT
"""Bodies that misbehave, each in a run of its own between two honest cases."""

import os
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from studies.faults.forked import BENCHES, Ended, processes_left, run
from studies.faults.trials import Extent, Trial
from tests.instruments.faults.judging import validate_file
from tests.instruments.processes.alone import load

PROMISE = (
    "A body that misbehaves costs its own case at most. The reason is stored, the other cases are "
    "measured in every launch, and no process is left behind."
)
RUN = (
    *("run", "--profile", "quick", "--devices", "cpu", "--benchmarks", str(BENCHES)),
    *("-k", "misbehaving and not cheap", "--launches", "2", "--budget", "1", "--seed", "19"),
    *("--deadline", "4"),
)
"""With the order of this seed, both launches begin with the body that misbehaves."""
AT_CALL = {1: "at once", 10: "later"}
"""The first call that misbehaves: a pilot's, or one that no pilot makes and every launch does."""
REASONS = {
    "exits_0": "exit code 0",
    "exits_5": "exit code 5",
    "exits_71": "exit code 71",
    "segfaults": "SIGSEGV",
    "reads_address_0": "SIGSEGV",
    "aborts": "SIGABRT",
    "is_terminated": "SIGTERM",
    "kills_its_group": "SIGKILL",
    "hangs": "deadline of 4 s",
    "spins": "deadline of 4 s",
    "stops_itself": "deadline of 4 s",
    "holds_the_interpreter": "deadline of 4 s",
    "ignores_signals_and_hangs": "deadline of 4 s",
    "raises_in_depth": "RecursionError",
    "limits_memory": "MemoryError|SIGSEGV",  # as Python or a library meets the limit
    "replaces_clocks": "clock|time.monotonic",
    "limits_size_of_files": "RLIMIT_FSIZE|exit code 1",
    "raises_a_long_message": "^ValueError \\(",
    "raises_without_a_message": "Unspeakable",
    "raises_beyond_exceptions": "Beyond",
    "returns_nan": "wrong result",
    "changes_torch": "dtype|threads",
}
"""What the reason of a case must contain, where there is but one that is true."""
SLOWEST = 0.004
"""Seconds that a wait of 150 us may take on a busy machine."""


def trials(_extent: Extent) -> list[Trial]:
    """Return every body, at once and later."""
    names = load(BENCHES / "bench_misbehaving.py").BODIES
    return [Trial(__name__, name, first) for name in names for first in AT_CALL]


def attempt(trial: Trial, folder: Path) -> Iterable[str]:
    """Measure a body that misbehaves, and see what becomes of the others."""
    environment = {"MISBEHAVING": trial.kind, "AT_CALL": str(trial.number)}
    ended = run(RUN, folder, partial(os.environ.update, environment))
    yield from processes_left()
    stored = [*folder.glob("results/*/*.json")]
    if (
        ended.code not in {0, 1}
        or not stored
        or "Traceback" in ended.err.partition("\nfrobench:")[2]
    ):
        yield f"exit code {ended.code}: {ended.err[-2000:]}{_log(folder)}"
        return
    yield from _of_run(trial, store.read(stored[0]), ended)
    yield from (
        f"{one.code}: {one.message}"
        for one in validate_file(stored[0])
        if one.severity == "error" and "misbehaving" not in (one.case or "")
    )


def _of_run(trial: Trial, stored: Run, ended: Ended) -> Iterator[str]:
    outcomes = {one.fullname.partition("::bench_")[2]: one for one in stored.frobench.outcomes}
    mine = outcomes.pop(f"misbehaving[cpu-{trial.kind}]")
    yield from (f"{name}: {one.reason}" for name, one in outcomes.items() if one.reason)
    if len(outcomes) != 2:
        yield f"its cases are {sorted(outcomes)}"
    for case in stored.benchmarks:
        if "misbehaving" in case.name:
            continue
        if case.extra_info.launches.count(0) or case.stats.median > SLOWEST:
            yield f"{case.name} takes {case.stats.median} s, samples {case.extra_info.launches}"
    if not re.search(REASONS.get(trial.kind, ""), mine.reason or ""):
        yield f"its reason is {mine.reason}"
    if ended.code != int(mine.status == "failed"):
        yield f"exit code {ended.code}, and the case {mine.status}"


def _log(folder: Path) -> str:
    paths = folder.glob("results/.runs/*/*.log")
    return "".join(path.read_text("utf-8", errors="replace")[-1000:] for path in paths)
