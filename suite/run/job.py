# SPDX-License-Identifier: MIT
"""A job of several nodes, from one command on each: the first measures, the others serve it.

All nodes of one machine, such as containers that share its lock, measure under one lock together:
the first of them holds it for the others. Nodes of other machines hold their own.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from frobench.suite.errors import CannotRunError
from frobench.suite.machine.network import own_address
from frobench.suite.nodes.agent import Agent, attended
from frobench.suite.nodes.meeting import Meeting, Position, describe, meet
from frobench.suite.run import lock

BOOT = Path("/proc/sys/kernel/random/boot_id")
"""Linux's name for the time since it started, the same in all containers of a host."""


def take_part(here: Position, benchmarks: Path, *, wait: Callable[[str], object] | None) -> str:
    """Serve the runner as one of its nodes until the run is over; `wait` is as in `machine_lock`.

    Raises `CannotRunError` if the nodes do not fit each other, if another run measures this
    machine, or if the runner is gone.
    """
    address = _address(here)
    agent = Agent(address)
    meeting = meet(here, describe(address, agent.port, agent.key, _machine(), benchmarks))
    sys.path.insert(0, str(benchmarks))  # the processes that it starts find their tasks there
    holds_lock = meeting.holds_lock(here.number)
    answer = agent.attend(lock.machine_lock(waiting=wait) if holds_lock else nullcontext())
    if answer is None:
        raise CannotRunError(f"node {here.number} lost node 0 before the run ended")
    return answer


@contextmanager
def led(here: Position, benchmarks: Path) -> Iterator[Meeting]:
    """Have all other nodes at hand while this one, the first, measures; raises as `take_part`."""
    meeting = meet(here, describe(_address(here), 0, "", _machine(), benchmarks))
    with attended(meeting):
        if len(meeting.nodes) > 1:  # a single node is a machine like any other, without a network
            meeting.publish()
        yield meeting


def _address(here: Position) -> str:
    try:
        return own_address(here.store, here.port)
    except OSError as error:
        raise CannotRunError(f"no network leads to {here.store} (MASTER_ADDR): {error}") from error


def _machine() -> str:
    """Return what nodes have in common whose runs take turns by one lock."""
    boot = ""
    with suppress(OSError):  # not Linux
        boot = BOOT.read_text(encoding="ascii").strip()
    return f"{boot} {lock.identity()}"
