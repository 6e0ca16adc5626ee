# SPDX-License-Identifier: MIT
"""Tools whose users look at one process: what it hands over, and what is made of it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from studies.peers.bodies import DEVICE
from studies.peers.tool import Measurement, Order, Process, alone, run
from studies.peers.waits import written_down


class Timed(Struct, kw_only=True):
    """What one process says of one body.

    samples : seconds per call
    iterations : calls in a sample
    seconds : that this body took of the process
    """

    body: str
    samples: list[float]
    iterations: int
    seconds: float


def hand_over(path: Path, timed: Sequence[Timed]) -> None:
    """Write what a process measured."""
    path.write_bytes(msgspec.json.encode(timed))


def by_script(module: str) -> Callable[[Order], list[Measurement]]:
    """Return how a tool is used whose module is also the script that uses it, once."""

    def measure(order: Order) -> list[Measurement]:
        out = order.folder / "timed.json"
        environment = {DEVICE: order.device}
        wall, _ = run("-m", module, out, *order.bodies, order=order, environment=environment)
        return measurements(handed_over(out), wall, order.folder)

    return measure


def handed_over(path: Path) -> list[Timed]:
    """Read what a process measured."""
    return msgspec.json.decode(path.read_bytes(), type=list[Timed])


def measurements(
    timed: Sequence[Timed], wall: float, folder: Path, after: int = 0
) -> list[Measurement]:
    """Make a measurement of one process of each body.

    Parameters
    ----------
    wall
        Seconds of the process, from its start to its end.
    folder
        Where its waits wrote down their lengths.
    after
        Calls that the tool makes of a body when all its samples are taken.
    """
    made = []
    by_itself = alone(wall, [each.seconds for each in timed])
    for each, seconds in zip(timed, by_itself, strict=True):
        process = Process(samples=each.samples, alone=seconds, shared=wall / len(timed))
        for recorded in written_down(folder, each.body):
            recorded.note(process, each.iterations, after)
        made.append(Measurement(body=each.body, processes=[process]))
    return made
