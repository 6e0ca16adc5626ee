# SPDX-License-Identifier: MIT
"""How the host waits for a device: by the first call that is proved to wait for it.

Not every backend has `synchronize`, and a call that returns too early makes every time too short.
So known work is queued, each call is tried, and one element of the result is read back: after a
call that waited, this takes no longer than reading a value that was ready. The proof is made once
in a process for each device.
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
"""Reading one element back: on a device that works in order, all work before it is then done."""
RESULTS = "read-back of results"
"""Reading one element of each result back, where no call waits and nothing is computed before."""

WORKS = ((256, 1), (256, 16), (1024, 1), (1024, 8), (4096, 1))
"""What may be queued to try a wait, with rising work: edges of matrices, and products in a row."""
AT_ONCE = 3.0
"""A product that is called for this many times as long as a ready value is read was not queued:
launching takes no longer than reading, which is launched too."""
LEFT = 0.5
"""The part of what is left without a wait that may be left after one, or of a ready reading."""
TRIES = 3
"""Times of which the median counts."""

REFUSALS = (AttributeError, RuntimeError, TypeError, ValueError)
"""What a backend raises that lacks a call."""


class Wait(NamedTuple):
    """A call that waits for a device, and its name as it is stored."""

    name: str
    call: Callable[[], object]


class Known(NamedTuple):
    """Work, and the seconds of reading a ready value, and beyond it what is left of the work."""

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
    """Return the seconds that reading one element of a tensor back takes."""
    begun = clock()
    read(tensor)
    return clock() - begun


def ready_reading(device: torch.device) -> float:
    """Return the seconds that reading one element back takes where it is ready."""
    ready = torch.ones(2).to(device)
    read(ready)
    return _typical(partial(reading, ready))


def tensors(value: Any, device: torch.device) -> Iterator[Tensor]:  # noqa: ANN401 - any result
    """Yield the tensors with elements on a device that a body's result holds, in their order."""
    if isinstance(value, Tensor):
        if value.device == device and value.numel():
            yield value
    elif isinstance(value, torch.nn.Module | dict | list | tuple):
        held = value.parameters() if isinstance(value, torch.nn.Module) else value
        for each in held.values() if isinstance(held, dict) else held:
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


def _known_work(device: torch.device) -> Known:
    """Return the least work of which something is left when it is queued, if any is.

    It is made of products of matrices, or of sums on a backend that has none. Where nothing is left
    of any, the device computes at once, or too fast for a wait to matter.
    """
    try:
        return _enough(device, torch.matmul)
    except NotImplementedError:
        return _enough(device, torch.add)


def _enough(device: torch.device, operation: Callable[[Tensor, Tensor], Tensor]) -> Known:
    for edge, calls in WORKS:
        factor = torch.full((edge, edge), 1 / edge).to(device)
        work = partial(reduce, operation, [factor] * (calls + 1))
        result = work()
        read(result)  # the first calls pay for much that later ones do not
        ready = _typical(partial(reading, result))
        called = _typical(partial(_called, work))
        left = _typical(partial(_left, work)) - ready
        if left >= ready or called >= AT_ONCE * calls * ready:
            break
    return Known(work, ready, left)


def _typical(seconds: Callable[[], float]) -> float:
    return statistics.median(seconds() for _ in range(TRIES))


def _called(work: Callable[[], Tensor]) -> float:
    """Return the seconds until work is called; its result is read before the next."""
    begun = perf_counter()
    result = work()
    called = perf_counter() - begun
    read(result)
    return called


def _left(work: Callable[[], Tensor], wait: Callable[[], object] | None = None) -> float:
    """Queue work, and wait; return the seconds that reading one element of its result takes."""
    result = work()
    if wait is not None:
        wait()
    return reading(result)
