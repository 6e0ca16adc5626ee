# SPDX-License-Identifier: MIT
"""How the host waits for a device: by the first call that is proved to wait for it.

Not every backend has `synchronize`, and a call that returns too early makes every time too short.
So known work is queued, each call is tried, and one element of the result is read back: after a
call that waited, this takes no longer than reading a value that was ready. The proof is made once
in a process for each device.
"""

import statistics
from collections.abc import Callable, Iterator
from functools import cache, partial
from inspect import signature
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor

READ_BACK = "read-back"
"""Reading one element back: on a device that works in order, all work before it is then done."""
RESULTS = "read-back of results"
"""Reading one element of each result back, where no call waits and nothing is computed before."""

SIZES = (256, 512, 1024, 2048, 4096)
"""Edges of the matrices whose product is the known work; the first that takes long enough."""
LONG_ENOUGH = 10.0
"""The product takes at least this many times as long as reading a ready value."""
LEFT = 0.25
"""The part of the product's time by which a read after a wait may be longer than a ready one."""
TRIES = 5
"""Times of which the median counts."""

REFUSALS = (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError)
"""What a backend raises that lacks a call."""


class Wait(NamedTuple):
    """A call that waits for a device, and its name as it is stored."""

    name: str
    call: Callable[[], object]


@cache
def proved(device: torch.device) -> Wait:
    """Return the first call that is proved to wait for a device.

    Raises what the device raises where nothing can be computed on it.
    """
    work, ready, worked = _known_work(device)
    for wait in _candidates(device):
        try:
            left = statistics.median(_left(work, wait) for _ in range(TRIES))
        except torch.OutOfMemoryError:
            raise
        except REFUSALS:
            continue
        if left - ready <= LEFT * (worked - ready):
            return wait
    return Wait(RESULTS, _candidates(device)[-1].call)


def read(tensor: Tensor) -> object:
    """Read one element of a tensor back."""
    return tensor.as_strided((), ()).item()


def reading(tensor: Tensor, clock: Callable[[], float] = perf_counter) -> float:
    """Return the seconds that reading one element of a tensor back takes."""
    begun = clock()
    read(tensor)
    return clock() - begun


def ready_reading(device: torch.device) -> float:
    """Return the seconds that reading one element back takes where it is ready."""
    ready = torch.ones(SIZES[0]).to(device)
    read(ready)
    return statistics.median(reading(ready) for _ in range(TRIES))


def tensors(value: Any, device: torch.device) -> Iterator[Tensor]:  # noqa: ANN401 - any result
    """Yield the tensors with elements on a device that a body's result holds, in their order."""
    if isinstance(value, Tensor):
        if value.device == device and value.numel():
            yield value
    elif isinstance(value, torch.nn.Module):
        yield from tensors(list(value.parameters()), device)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()), device)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from tensors(each, device)


def _candidates(device: torch.device) -> list[Wait]:
    """Return what may wait for a device, the general calls first."""
    marker = torch.zeros(()).to(device)

    def own() -> object:
        synchronize = torch.get_device_module(device).synchronize
        # That of MPS takes no device.
        return synchronize(device) if signature(synchronize).parameters else synchronize()

    def stream() -> None:
        torch.accelerator.current_stream(device).synchronize()

    return [
        Wait("torch.accelerator.synchronize", partial(torch.accelerator.synchronize, device)),
        Wait(f"torch.{device.type}.synchronize", own),
        Wait("torch.accelerator.current_stream", stream),
        Wait(READ_BACK, marker.item),
    ]


def _known_work(device: torch.device) -> tuple[Callable[[], Tensor], float, float]:
    """Return work, and the seconds of reading a ready value and of the work and reading it."""
    for edge in SIZES:
        factor = torch.full((edge, edge), 1 / edge).to(device)
        work = partial(torch.matmul, factor, factor)
        result = work()
        read(result)  # the first calls pay for much that later ones do not
        ready = statistics.median(reading(result) for _ in range(TRIES))
        worked = statistics.median(_worked(work) for _ in range(TRIES))
        if worked >= LONG_ENOUGH * ready:
            break
    return work, ready, worked


def _worked(work: Callable[[], Tensor]) -> float:
    begun = perf_counter()
    read(work())
    return perf_counter() - begun


def _left(work: Callable[[], Tensor], wait: Wait) -> float:
    """Queue work and wait; return the seconds that reading one element of its result takes."""
    result = work()
    wait.call()
    return reading(result)
