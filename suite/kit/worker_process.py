# SPDX-License-Identifier: MIT
"""A worker's own process: it sets its cores and threads, imports torch, and obeys its pipe."""

import gc
import os
from dataclasses import dataclass
from multiprocessing.connection import Connection

from frobench.suite.errors import DoesNotFitError, in_brief

TAKEN = "busy or unavailable"
"""CUDA's message when another process has a device that admits only one."""


@dataclass(frozen=True)
class Seat:
    """Where a worker runs.

    name : in results, such as ``cpu/0`` or ``cuda:1``
    device : its name in torch
    cores : the CPU cores that the worker is bound to; all if empty
    """

    name: str
    device: str
    cores: tuple[int, ...] = ()


def serve(pipe: Connection, seat: Seat, seed: int) -> None:
    """Obey the commands from the pipe until it closes.

    As in the launch's process, float32 means float32, and the garbage collector rests.
    """
    if seat.cores:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, seat.cores)
        os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(len(seat.cores))
    import torch  # noqa: PLC0415 - after the cores and threads are settled

    if seat.cores:
        torch.set_num_threads(len(seat.cores))
    from frobench.suite.kit.abilities import precision  # noqa: PLC0415 - imports torch
    from frobench.suite.kit.worker_commands import Commands  # noqa: PLC0415 - imports torch

    gc.disable()
    gc.freeze()  # a search for garbage through all imported modules takes a tenth of a second
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
            except Exception as error:  # noqa: BLE001 - the launch raises it
                brief = in_brief(error)
                if TAKEN in str(error):
                    pipe.send((DoesNotFitError, brief))
                else:
                    pipe.send((brief, f"{type(error).__name__}: {error}"))
