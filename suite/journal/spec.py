# SPDX-License-Identifier: MIT
"""What the runner asks of a launch, and the exit codes by which a launch answers."""

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from frobench.suite.stored.run import Search, Settings

OPTION = "--frobench-launch"
"""The option of pytest that names the file of a launch's specification."""
DEVICE_LOST, DISK_REFUSES = 70, 71
"""Exit codes of a process that ended itself so that a fresh one goes on, since a device no longer
works or a case has changed the process; and of a launch that could not write its journal."""


class LaunchSpec(Struct, kw_only=True):
    """What the runner tells a launch: where to write, what to measure, in which order.

    mode : ``collect`` lists the cases, ``pilot`` calls each a few times, ``measure`` samples,
        ``once`` calls one body for a profiler; ``alone`` is a session that no runner started
    benchmarks : the folder of benchmarks; cases are named from the folder that holds it
    order : full names of the cases in the order to measure them; empty takes all
    done : cases that earlier processes of the launch have measured
    halves : whether some of the cases run on halves of the CPU, a process each
    runner : the process that watches; a launch that outlives it ends itself
    search_seconds : for all searches of a pilot together
    searched : what is known already of cases that would search
    versions : those that benchmarks must have, by the full names of cases
    windows : cases to repeat behind all others, in this order
    brief : headline cases with long calls, which are called a few times
    trace : the file for a trace of the one call, if one is wanted
    project, paths, kept_out : see `Draft`
    """

    mode: Literal["collect", "pilot", "measure", "once", "alone"]
    launch: int
    journal: str
    benchmarks: str
    seed: int
    settings: Settings
    order: list[str] = []
    done: int = 0
    halves: bool = False
    runner: int = 0
    search_seconds: float = 0.0
    searched: dict[str, Search] = {}
    windows: list[str] = []
    brief: list[str] = []
    versions: dict[str, str] = {}
    trace: str | None = None
    project: str | None = None
    paths: list[str] = []
    kept_out: str = ""


def read_spec(path: str) -> LaunchSpec:
    """Return what a file asks of a launch."""
    return msgspec.json.decode(Path(path).read_bytes(), type=LaunchSpec)
