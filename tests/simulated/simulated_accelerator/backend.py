# SPDX-License-Identifier: MIT
"""What PyTorch asks a backend for: registration, and the module ``torch.<name>``."""

import math
from functools import partial
from time import perf_counter
from types import SimpleNamespace, TracebackType
from typing import Any

import torch
from torch.utils import backend_registration as registration

from simulated_accelerator import copies
from simulated_accelerator import device as parts
from simulated_accelerator.device import current
from simulated_accelerator.host import Host, host
from simulated_accelerator.machine import machine
from simulated_accelerator.operations import dispatch

Which = torch.device | str | int | None
Stream = parts.Stream


class Event(parts.Event):
    """An event on a simulated device, in the manner of `torch.cuda.Event`."""

    def record(self, stream: Stream | None = None) -> None:
        """Mark a stream, by default the current one of the current device."""
        self.mark(stream or module.current_stream())


class _DeviceContext:
    """Makes a device the current one of the thread, within a ``with`` block."""

    def __init__(self, which: Which) -> None:
        self._index = machine.device(which).index

    def __enter__(self) -> None:
        self._before, current.index = current.index, self._index

    def __exit__(self, *_: object) -> None:
        current.index = self._before


class Backend:
    """The backend's module, with the functions that `torch.cuda` has too."""

    Event = Event
    device = _DeviceContext

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return bool(machine.devices)

    def device_count(self) -> int:
        return len(machine.devices)

    def current_device(self) -> int:
        return current.index

    def set_device(self, which: Which) -> None:
        current.index = machine.device(which).index

    def synchronize(self, which: Which = None) -> None:
        machine.device(which).synchronise()

    def Stream(self, device: Which = None, priority: int = 0) -> Stream:  # noqa: N802
        return machine.device(device).new_stream()

    def current_stream(self, which: Which = None) -> Stream:
        return machine.stream(machine.device(which))

    def default_stream(self, which: Which = None) -> Stream:
        return machine.device(which).streams[0]

    def set_stream(self, stream: Stream) -> None:
        stream.select()

    def stream(self, stream: Stream) -> Stream:
        """Return what makes a stream current within a ``with`` block."""
        return stream

    def mem_get_info(self, which: Which = None) -> tuple[int, int]:
        device = machine.device(which)
        return machine.spec.memory - device.allocated, machine.spec.memory

    def memory_allocated(self, which: Which = None) -> int:
        return machine.device(which).allocated

    def max_memory_allocated(self, which: Which = None) -> int:
        return machine.device(which).peak

    def reset_peak_memory_stats(self, which: Which = None) -> None:
        device = machine.device(which)
        device.peak = device.allocated

    def empty_cache(self) -> None:
        """Do nothing: memory is given back at once."""

    def get_device_name(self, which: Which = None) -> str:
        machine.device(which)
        return "Simulated accelerator"

    def get_device_capability(self, which: Which = None) -> tuple[int, int]:
        machine.device(which)
        return 1, 0

    def get_device_properties(self, which: Which = None) -> SimpleNamespace:
        return SimpleNamespace(
            name=self.get_device_name(which),
            total_memory=machine.spec.memory,
            multi_processor_count=1,
        )

    def manual_seed_all(self, seed: int) -> None:
        for device in machine.devices:
            device.seeds.seed(seed)

    def manual_seed(self, seed: int) -> None:
        machine.device().seeds.seed(seed)

    def _is_in_bad_fork(self) -> bool:
        return False

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]

    def account(self, which: Which = None) -> parts.Account:
        """Return what a device did, in simulated time."""
        return machine.device(which).account


_BATCHES, _CALLS = 10, 20
_MOST_OVERHEAD = 20e-6

module = Backend()
_libraries: list[torch.library.Library] = []

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


def _call(func: Any, *args: Any, **kwargs: Any) -> Any:
    return dispatch(func, args, kwargs)


def register() -> None:
    """Make the device known to PyTorch."""
    registration._setup_privateuseone_for_python_backend(machine.spec.name, backend_module=module)
    # What has no tensor among its arguments (a factory) is dispatched to the key itself.
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(_call, "PrivateUse1")
    some = torch.library.Library("aten", "IMPL")
    for func in _DIRECT:
        name = func.name().removeprefix("aten::")
        some.impl(name, partial(_call, func), "PrivateUse1")
    some.impl("_pin_memory", copies.pin_memory, "CPU")
    some.impl("is_pinned", copies.is_pinned, "CPU")
    _libraries.extend([everything, some])
    if machine.devices:
        _calibrate()


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
