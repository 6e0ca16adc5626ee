# SPDX-License-Identifier: MIT
"""Copies between pinned memory and a GPU, by PyTorch and by the CUDA runtime itself.

The runtime is the library that torch has loaded, called through ctypes: no compiler is needed, and
no other version of it comes into play. What PyTorch copies is the body of the suite's own case.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import IntEnum
from functools import partial
from pathlib import Path
from statistics import median

import torch

from frobench.suite.kit.device import Device
from frobench.suite.measure.timed_loop import Sampler
from tests.gpu.anchors_figures import EVENTS, PYTORCH, RUNTIME, Copied
from tests.gpu.anchors_measure import body_of, in_turn

SIZES = (4**9, 4**13, 4**15)
"""Bytes: what launching takes counts at the first, and only the link at the last."""
CALLS = 10
"""Samples of each way in a round, and copies in a row between two events."""
_ADDRESS, _SIZE = ctypes.c_void_p, ctypes.c_size_t
_RESULT = ctypes.POINTER(_ADDRESS)
FUNCTIONS: dict[str, list[type]] = {
    "cudaHostAlloc": [_RESULT, _SIZE, ctypes.c_uint],
    "cudaFreeHost": [_ADDRESS],
    "cudaMalloc": [_RESULT, _SIZE],
    "cudaFree": [_ADDRESS],
    "cudaMemcpyAsync": [_ADDRESS, _ADDRESS, _SIZE, ctypes.c_int, _ADDRESS],
    "cudaDeviceSynchronize": [],
    "cudaEventCreate": [_RESULT],
    "cudaEventRecord": [_ADDRESS, _ADDRESS],
    "cudaEventSynchronize": [_ADDRESS],
    "cudaEventElapsedTime": [ctypes.POINTER(ctypes.c_float), _ADDRESS, _ADDRESS],
    "cudaEventDestroy": [_ADDRESS],
}
"""What is called, with the types of the arguments as `cuda_runtime_api.h` has them."""


class Direction(IntEnum):
    """What the runtime's `cudaMemcpyKind` calls them."""

    TO_DEVICE = 1
    TO_HOST = 2


WAYS = {"bench_to_device": Direction.TO_DEVICE, "bench_to_host": Direction.TO_HOST}


class Runtime:
    """As much of the CUDA runtime as copies and events need, on torch's default stream.

    Everything raises `RuntimeError` with the runtime's own words for what went wrong.
    """

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._library.cudaGetErrorString.restype = ctypes.c_char_p
        for name, types in FUNCTIONS.items():
            getattr(self._library, name).argtypes = types

    def copy(self, target: int, source: int, size: int, direction: Direction) -> None:
        """Queue a copy."""
        self._call("cudaMemcpyAsync", target, source, size, direction, None)

    def wait(self) -> None:
        """Wait until everything queued is done."""
        self._call("cudaDeviceSynchronize")

    @contextmanager
    def host_memory(self, size: int) -> Iterator[int]:
        """Give the address of pinned memory."""
        address = self._made("cudaHostAlloc", size, 0)
        try:
            yield address
        finally:
            self._call("cudaFreeHost", address)

    @contextmanager
    def device_memory(self, size: int) -> Iterator[int]:
        """Give the address of memory on the current device."""
        address = self._made("cudaMalloc", size)
        try:
            yield address
        finally:
            self._call("cudaFree", address)

    def between_events(self, work: Callable[[], object], calls: int) -> float:
        """Return the seconds of a call among several in a row, by two events around them."""
        begin, end = (self._made("cudaEventCreate") for _ in "12")
        self._call("cudaEventRecord", begin, None)
        for _ in range(calls):
            work()
        self._call("cudaEventRecord", end, None)
        self._call("cudaEventSynchronize", end)
        milliseconds = ctypes.c_float()
        self._call("cudaEventElapsedTime", ctypes.byref(milliseconds), begin, end)
        for event in (begin, end):
            self._call("cudaEventDestroy", event)
        return milliseconds.value / 1000 / calls

    def _made(self, name: str, *arguments: int) -> int:
        """Return the address that a function writes to its first argument."""
        made = _ADDRESS()
        self._call(name, ctypes.byref(made), *arguments)
        return made.value or 0

    def _call(self, name: str, *arguments: object) -> None:
        code = getattr(self._library, name)(*arguments)
        if code:
            said = self._library.cudaGetErrorString(code).decode()
            raise RuntimeError(f"{name}: {said} ({code})")


def loaded(maps: str) -> Path:
    """Return the CUDA runtime that this process has loaded, by the text of its `maps`.

    Raises `RuntimeError` if there is none.
    """
    for line in maps.splitlines():
        path = Path(line.split(maxsplit=5)[-1])
        if path.name.startswith("libcudart.so"):
            return path
    raise RuntimeError("torch has loaded no CUDA runtime")


def copies(device: Device, rounds: int, sizes: tuple[int, ...] = SIZES) -> list[Copied]:
    """Time the suite's pinned copies and the runtime's, in turn."""
    runtime = Runtime(loaded(Path("/proc/self/maps").read_text()))
    return [
        Copied(function=name, size=size, seconds=_seconds(device, runtime, rounds, name, size))
        for size in sizes
        for name in WAYS
    ]


def _seconds(
    device: Device, runtime: Runtime, rounds: int, name: str, size: int
) -> dict[str, list[float]]:
    ours = body_of("bench_copies", name, device, size=size, memory="pinned")
    with ExitStack() as stack:
        theirs = _copy(stack, runtime, size, WAYS[name])
        samplers = {PYTORCH: Sampler(ours, [device]), RUNTIME: Sampler(theirs, [device])}
        ways: dict[str, Callable[[], float]] = {
            way: partial(_typical, sampler.took) for way, sampler in samplers.items()
        }
        ways[EVENTS] = partial(runtime.between_events, theirs, CALLS)
        return in_turn(ways, rounds)


def _typical(took: Callable[[], float]) -> float:
    took()
    return median(took() for _ in range(CALLS))


def _copy(
    stack: ExitStack, runtime: Runtime, size: int, direction: Direction
) -> Callable[[], None]:
    """Return what copies by the runtime, once it was seen that its bytes arrive."""
    first, last = (stack.enter_context(runtime.host_memory(size)) for _ in "12")
    between = stack.enter_context(runtime.device_memory(size))
    values, arrived = _bytes_at(first, size), _bytes_at(last, size)
    values.random_()
    arrived.zero_()
    runtime.copy(between, first, size, Direction.TO_DEVICE)
    runtime.copy(last, between, size, Direction.TO_HOST)
    runtime.wait()
    if not torch.equal(values, arrived):
        raise RuntimeError("the CUDA runtime copied something else")
    if direction is Direction.TO_DEVICE:
        return partial(runtime.copy, between, first, size, direction)
    return partial(runtime.copy, last, between, size, direction)


def _bytes_at(address: int, size: int) -> torch.Tensor:
    return torch.frombuffer((ctypes.c_uint8 * size).from_address(address), dtype=torch.uint8)
