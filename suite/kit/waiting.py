# SPDX-License-Identifier: MIT
"""How the host waits for a device: by the first call that is proved to wait for it.

Some backends lack `synchronize`, and a call that returns too early makes every time too short. So
each call is tried after known work, and one element of the result is read back: after a call that
waited, this takes no longer than reading a ready value. A process proves each device once.
"""

import statistics
from collections.abc import Callable, Iterator
from functools import cache, partial, reduce
from inspect import signature
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor

READ_BACK = "read-back"
"""Reading one element back, after which a device that works in order has done all work before."""
RESULTS = "read-back of results"
"""Reading one element of each result back, for devices that compute only what is read."""

WORKS = ((256, 1), (256, 16), (1024, 1), (1024, 8), (4096, 1))
"""Work that is queued to try a wait, the least first: edges of matrices, and products in a row."""
AT_ONCE = 3.0
"""A call that takes this many times as long as reading a ready value, which is launched too, has
computed its product instead of queueing it."""
LEFT = 0.5
"""The part of the work left without a wait, or of a ready reading, that may be left after one."""
TRIES = 3
"""Times of which the median counts."""

REFUSALS = (AttributeError, RuntimeError, TypeError, ValueError)
"""Errors of backends that lack a call."""


class Wait(NamedTuple):
    """A call that waits for a device, and its name as it is stored."""

    name: str
    call: Callable[[], object]


class KnownWork(NamedTuple):
    """Work, the seconds to read a ready value, and the further seconds until it is done."""

    work: Callable[[], Tensor]
    ready: float
    left: float


@cache
def proved(device: torch.device) -> Wait:
    """Return the first call that is proved to wait for a device.

    Raises what the device raises where nothing can be computed on it.
    """
    known = _known_work(device)
    most = known.ready + LEFT * max(known.left, known.ready)
    for wait in _candidates(device):
        try:
            if _typical(partial(_left, known.work, wait.call)) <= most:
                return wait
        except torch.OutOfMemoryError:
            raise
        except REFUSALS:
            continue
    return Wait(RESULTS, _candidates(device)[-1].call)


def read(tensor: Tensor) -> object:
    """Read one element of a tensor back."""
    return tensor.as_strided((), ()).item()


def reading(tensor: Tensor, clock: Callable[[], float] = perf_counter) -> float:
    """Return the seconds of reading one element of a tensor back."""
    begun = clock()
    read(tensor)
    return clock() - begun


def ready_reading(device: torch.device) -> float:
    """Return the seconds of reading one element of a ready value back."""
    ready = torch.ones(2).to(device)
    read(ready)
    return _typical(partial(reading, ready))


def tensors(value: Any, device: torch.device) -> Iterator[Tensor]:  # noqa: ANN401 - any result
    """Yield the tensors of a body's result that have elements on a device."""
    if isinstance(value, Tensor):
        if value.device == device and value.numel():
            yield value
    elif isinstance(value, torch.nn.Module | dict | list | tuple):
        held = value.parameters() if isinstance(value, torch.nn.Module) else value
        for each in held.values() if isinstance(held, dict) else held:
            yield from tensors(each, device)


def _candidates(device: torch.device) -> list[Wait]:
    """Return the calls that may wait for a device, the general call first."""
    marker = torch.zeros(()).to(device)

    def own() -> object:
        synchronize = torch.get_device_module(device).synchronize  # on MPS it takes no device
        return synchronize(device) if signature(synchronize).parameters else synchronize()

    def stream() -> None:
        torch.accelerator.current_stream(device).synchronize()

    return [
        Wait("torch.accelerator.synchronize", partial(torch.accelerator.synchronize, device)),
        Wait(f"torch.{device.type}.synchronize", own),
        Wait("torch.accelerator.current_stream", stream),
        Wait(READ_BACK, marker.item),
    ]


def _known_work(device: torch.device) -> KnownWork:
    """Return the least work that is not done once it is queued; the most if all is done.

    Then the device computes within the call, or too fast for a wait to matter. The work is products
    of matrices, or sums on a backend without products.
    """
    try:
        return _enough(device, torch.matmul)
    except NotImplementedError:
        return _enough(device, torch.add)


def _enough(device: torch.device, operation: Callable[[Tensor, Tensor], Tensor]) -> KnownWork:
    for edge, calls in WORKS:
        factor = torch.full((edge, edge), 1 / edge).to(device)
        work = partial(reduce, operation, [factor] * (calls + 1))
        result = work()
        read(result)  # first calls include one-time work
        ready = _typical(partial(reading, result))
        called = _typical(partial(_called, work))
        left = _typical(partial(_left, work)) - ready
        if left >= ready or called >= AT_ONCE * calls * ready:
            break
    return KnownWork(work, ready, left)


def _typical(seconds: Callable[[], float]) -> float:
    return statistics.median(seconds() for _ in range(TRIES))


def _called(work: Callable[[], Tensor]) -> float:
    """Return the seconds of calling work; its result is read before the next call."""
    begun = perf_counter()
    result = work()
    called = perf_counter() - begun
    read(result)
    return called


def _left(work: Callable[[], Tensor], wait: Callable[[], object] | None = None) -> float:
    """Queue work, and wait; return the seconds of reading one element of its result."""
    result = work()
    if wait is not None:
        wait()
    return reading(result)
