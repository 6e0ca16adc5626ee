# SPDX-License-Identifier: MIT
# ruff: noqa: ANN401 (operations take and return whatever PyTorch's do)
# mypy: disable-error-code="no-untyped-call"
"""What PyTorch asks a backend for: registration, and the module ``torch.<name>``."""

import math
from functools import partial
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils import backend_registration as registration

from . import copies, streams
from .host import Host, host
from .machine import machine
from .operations import dispatch
from .streams import Account, current

Which = torch.device | str | int | None

_BATCHES, _CALLS = 10, 20
_MOST_OVERHEAD = 20e-6

_DIRECT = (
    # `torch.tensor` fills a new tensor with Python dispatch switched off,
    torch.ops.aten.copy_.default,
    # and these would be made as empty ones and resized.
    torch.ops.aten.arange.default,
    torch.ops.aten.arange.start,
    torch.ops.aten.arange.start_step,
    torch.ops.aten.eye.default,
    torch.ops.aten.eye.m,
)


class _Event(streams.Event):
    """An event on a simulated device, in the manner of `torch.cuda.Event`."""

    def record(self, stream: streams.Stream | None = None) -> None:
        """Mark a stream, by default the current one of the current device."""
        self.mark(stream or machine.stream(machine.device()))


class _DeviceContext:
    """Makes a device the current one of the thread, within a ``with`` block."""

    def __init__(self, which: Which) -> None:
        self._index = machine.device(which).index

    def __enter__(self) -> None:
        self._before, current.index = current.index, self._index

    def __exit__(self, *_: object) -> None:
        current.index = self._before


class Backend:
    """The backend's module: functions that mean what those of `torch.cuda` mean.

    ``which`` is a device by number, name or `torch.device`; the current one by default.
    """

    Event = _Event
    device = _DeviceContext

    def is_initialized(self) -> bool:
        """Return ``True``: there is nothing to initialise."""
        return True

    def is_available(self) -> bool:
        """Return whether a device is visible."""
        return bool(machine.devices)

    def _is_in_bad_fork(self) -> bool:
        return False

    def device_count(self) -> int:
        """Return the number of visible devices."""
        return len(machine.devices)

    def current_device(self) -> int:
        """Return the number of the thread's current device."""
        return current.index

    def set_device(self, which: Which) -> None:
        """Make a device the thread's current one."""
        current.index = machine.device(which).index

    def synchronize(self, which: Which = None) -> None:
        """Wait until all work on a device, and on no other, has ended."""
        machine.device(which).synchronise()

    def Stream(self, device: Which = None, priority: int = 0) -> streams.Stream:  # noqa: N802
        """Return a new stream; every ``priority`` is the same."""
        del priority
        return machine.device(device).new_stream()

    def stream(self, stream: streams.Stream) -> streams.Stream:
        """Return what makes a stream current within a ``with`` block."""
        return stream

    def set_stream(self, stream: streams.Stream) -> None:
        """Make a stream, and its device, the thread's current ones."""
        stream.select()

    def current_stream(self, which: Which = None) -> streams.Stream:
        """Return the thread's current stream on a device."""
        return machine.stream(machine.device(which))

    def default_stream(self, which: Which = None) -> streams.Stream:
        """Return the stream that a device's work goes to unless another is chosen."""
        return machine.device(which).streams[0]

    def mem_get_info(self, which: Which = None) -> tuple[int, int]:
        """Return the free and all bytes of a device's memory."""
        return machine.spec.memory - machine.device(which).allocated, machine.spec.memory

    def memory_allocated(self, which: Which = None) -> int:
        """Return the bytes that tensors take on a device."""
        return machine.device(which).allocated

    def max_memory_allocated(self, which: Which = None) -> int:
        """Return the most bytes taken since `reset_peak_memory_stats`."""
        return machine.device(which).peak

    def reset_peak_memory_stats(self, which: Which = None) -> None:
        """Let `max_memory_allocated` start from what is taken now."""
        device = machine.device(which)
        device.peak = device.allocated

    def empty_cache(self) -> None:
        """Do nothing: memory is given back at once."""

    def get_device_name(self, which: Which = None) -> str:
        """Return the name of the product."""
        machine.device(which)
        return "Simulated accelerator"

    def get_device_capability(self, which: Which = None) -> tuple[int, int]:
        """Return the version of the architecture."""
        machine.device(which)
        return 1, 0

    def get_device_properties(self, which: Which = None) -> SimpleNamespace:
        """Return ``name``, ``total_memory`` and ``multi_processor_count``."""
        return SimpleNamespace(
            name=self.get_device_name(which),
            total_memory=machine.spec.memory,
            multi_processor_count=1,
        )

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """Return the types that autocast may use."""
        return [torch.bfloat16, torch.float16]

    def manual_seed(self, seed: int) -> None:
        """Seed the random numbers of the current device."""
        machine.device().seeds.seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        """Seed the random numbers of every device."""
        for device in machine.devices:
            device.seeds.seed(seed)

    def account(self, which: Which = None) -> Account:
        """Return what a device truly did, in simulated time."""
        return machine.device(which).account

    def late(self) -> float:
        """Return the seconds by which this thread's waits ended too late (see `host`)."""
        return host.late


_libraries: list[torch.library.Library] = []  # they undo their registrations when they die


def register() -> None:
    """Make the device known to PyTorch."""
    registration._setup_privateuseone_for_python_backend(
        machine.spec.name, backend_module=Backend()
    )
    # What has no tensor among its arguments (a factory) is dispatched to the key itself.
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(_call, "PrivateUse1")
    some = torch.library.Library("aten", "IMPL")
    for func in _DIRECT:
        some.impl(func.name().removeprefix("aten::"), partial(_call, func), "PrivateUse1")
    some.impl("_pin_memory", copies.pin_memory, "CPU")
    some.impl("is_pinned", copies.is_pinned, "CPU")
    _libraries.extend([everything, some])
    if machine.devices:
        _calibrate()


def _call(func: Any, *args: Any, **kwargs: Any) -> Any:
    return dispatch(func, args, kwargs)


def _calibrate() -> None:
    """Learn what a call costs before the simulation sees it and after it is done.

    Views are called: they run on no device, and so leave no trace there.
    """
    tensor = torch.empty(1, device=machine.spec.name)
    quickest = math.inf
    for _ in range(_BATCHES):
        host.settle(0.0)
        begin = perf_counter()
        for _ in range(_CALLS):
            tensor.view(1)
        quickest = min(quickest, (perf_counter() - begin) / _CALLS)
    Host.overhead = min(max(0.0, quickest - machine.spec.metadata), _MOST_OVERHEAD)
    host.late = 0.0
