# SPDX-License-Identifier: MIT
"""What a worker's own process does: it sits down, and obeys the pipe until that closes.

Its cores and threads are settled before torch is imported, which is why nothing here imports
torch at the top.
"""

import gc
import os
from dataclasses import dataclass
from multiprocessing.connection import Connection

from suite.errors import DoesNotFitError

TAKEN = "busy or unavailable"
"""What CUDA says of a device that admits only one process, which another one is."""


@dataclass(frozen=True)
class Seat:
    """Where a worker runs.

    name : what its results call it, such as ``cpu/0`` or ``cuda:1``
    device : the device's name as torch spells it
    cores : the CPU cores it is bound to; empty leaves the choice to the system
    """

    name: str
    device: str
    cores: tuple[int, ...] = ()


def serve(pipe: Connection, seat: Seat, seed: int) -> None:
    """Obey the pipe until it closes; this is the worker's process.

    As in the other process, float32 means float32, and the garbage collector rests.
    """
    if seat.cores:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, seat.cores)
        os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(len(seat.cores))
    import torch  # noqa: PLC0415 - after the cores and threads are settled

    if seat.cores:
        torch.set_num_threads(len(seat.cores))
    from suite.kit.abilities import precision  # noqa: PLC0415 - imports torch
    from suite.kit.commands import Commands  # noqa: PLC0415 - imports torch

    gc.disable()
    gc.freeze()  # what was imported stays: to look through it takes a tenth of a second
    with precision("float32"):
        commands = Commands(seat.device, seed)
        while True:
            try:
                command, *args = pipe.recv()
            except EOFError:
                return
            try:
                pipe.send((None, getattr(commands, command)(*args)))
            except DoesNotFitError as error:
                pipe.send((DoesNotFitError, str(error)))
            except Exception as error:  # noqa: BLE001 - whatever it was, the parent is told
                kind = DoesNotFitError if TAKEN in str(error) else RuntimeError
                pipe.send((kind, f"{type(error).__name__}: {error}"))
