# SPDX-License-Identifier: MIT
"""Copies between pinned memory and a GPU, by PyTorch and by the CUDA runtime itself.

The runtime is the library that torch has loaded, called through ctypes: no compiler is needed, and
no other version of it comes into play. What PyTorch copies is the body of the suite's own case.
"""

import ctypes
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import torch

from frobench.suite.kit.device import Device
from frobench.suite.measure.timed_loop import Sampler
from tests.gpu.anchors_measure import MILLISECOND, body_of, in_turn
from tests.gpu.goals import EVENTS, PYTORCH, RUNTIME, Copied

SIZES = (4**9, 4**13, 4**15)
"""Bytes: what launching takes counts at the first, and only the link at the last."""
CALLS = 10
"""Samples of each way in a round, and copies in a row between two events."""
WAYS = {"bench_to_device": 1, "bench_to_host": 2}
"""What the runtime's `cudaMemcpyKind` calls the directions."""


def copies(device: Device, rounds: int, sizes: tuple[int, ...] = SIZES) -> list[Copied]:
    """Time the suite's pinned copies and the runtime's, in turn."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    (path, *_) = [one.split(maxsplit=5)[-1] for one in maps if "/libcudart.so" in one]
    runtime = ctypes.CDLL(path)
    return [
        Copied(function=name, size=size, seconds=_seconds(device, runtime, rounds, name, size))
        for size in sizes
        for name in WAYS
    ]


def _seconds(
    device: Device, runtime: ctypes.CDLL, rounds: int, name: str, size: int
) -> dict[str, list[float]]:
    ours = body_of("bench_copies", name, device, size=size, memory="pinned")
    theirs = _copy(device, runtime, name, size)
    samplers = {PYTORCH: Sampler(ours, [device]), RUNTIME: Sampler(theirs, [device])}
    ways: dict[str, Callable[[], float]] = {
        way: partial(_typical, sampler.took) for way, sampler in samplers.items()
    }
    return in_turn(ways | {EVENTS: partial(_between_events, device, theirs)}, rounds)


def _typical(took: Callable[[], float]) -> float:
    took()
    return median(took() for _ in range(CALLS))


def _between_events(device: Device, work: Callable[[], object]) -> float:
    """Return the seconds of a call among several in a row, by two events around them."""
    begin, end = device.event(), device.event()
    device.record(begin)
    for _ in range(CALLS):
        work()
    device.record(end)
    device.synchronize()
    return begin.elapsed_time(end) * MILLISECOND / CALLS


def _copy(device: Device, runtime: ctypes.CDLL, name: str, size: int) -> Callable[[], None]:
    """Return what copies by the runtime, once it was seen that its bytes arrive."""
    source = torch.empty(size, dtype=torch.uint8).random_().pin_memory()
    target = torch.zeros(size, dtype=torch.uint8, device=device.handle)
    if name == "bench_to_host":
        source, target = source.to(device.handle), target.cpu().pin_memory()

    def copy() -> None:
        places = (ctypes.c_void_p(one.data_ptr()) for one in (target, source))
        if code := runtime.cudaMemcpyAsync(*places, ctypes.c_size_t(size), WAYS[name], None):
            raise RuntimeError(f"cudaMemcpyAsync: error {code}")

    device.synchronize()
    copy()
    device.synchronize()
    if not torch.equal(source.cpu(), target.cpu()):
        raise RuntimeError("the CUDA runtime copied something else")
    return copy
