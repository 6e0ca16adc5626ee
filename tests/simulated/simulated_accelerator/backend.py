# SPDX-License-Identifier: MIT
"""What PyTorch asks a backend for: registration, and the module ``torch.<name>``."""

from types import SimpleNamespace, TracebackType
from typing import Any

import torch
from torch.utils import backend_registration as registration

from simulated_accelerator import device as parts
from simulated_accelerator.machine import machine
from simulated_accelerator.tensor import dispatch

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
        self._before, machine.current.index = machine.current.index, self._index

    def __exit__(self, *_: object) -> None:
        machine.current.index = self._before


class _StreamContext:
    """Makes a stream, and its device, current in the thread, within a ``with`` block."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def __enter__(self) -> None:
        self._before = machine.current.index, dict(machine.current.streams)
        module.set_stream(self._stream)

    def __exit__(self, *_: object) -> None:
        machine.current.index, machine.current.streams = self._before


class Backend:
    """The backend's module, with the functions that `torch.cuda` has too."""

    Event = Event
    device = _DeviceContext
    stream = _StreamContext

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return bool(machine.devices)

    def device_count(self) -> int:
        return len(machine.devices)

    def current_device(self) -> int:
        return machine.current.index

    def set_device(self, which: Which) -> None:
        machine.current.index = machine.device(which).index

    def synchronize(self, which: Which = None) -> None:
        machine.device(which).synchronise()

    def Stream(self, device: Which = None, priority: int = 0) -> Stream:  # noqa: N802
        return machine.device(device).new_stream()

    def current_stream(self, which: Which = None) -> Stream:
        return machine.stream(machine.device(which))

    def default_stream(self, which: Which = None) -> Stream:
        return machine.device(which).streams[0]

    def set_stream(self, stream: Stream) -> None:
        machine.current.index = stream.device.index
        machine.current.streams[stream.device.index] = stream

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

    def account(self, which: Which = None) -> parts.Account:
        """Return what a device did, in simulated time."""
        return machine.device(which).account


module = Backend()
_libraries: list[torch.library.Library] = []


def register() -> None:
    """Make the device known to PyTorch."""
    registration._setup_privateuseone_for_python_backend(machine.spec.name, backend_module=module)
    # What has no tensor among its arguments (a factory) reaches the key itself, and so does
    # `copy_` where PyTorch fills a new tensor with Python dispatch switched off.
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(lambda op, *args, **kwargs: dispatch(op, args, kwargs), "PrivateUse1")
    some = torch.library.Library("aten", "IMPL")
    copy = torch.ops.aten.copy_.default
    some.impl("copy_", lambda *args: dispatch(copy, args, {}), "PrivateUse1")
    _libraries.extend([everything, some])
    torch.autograd.set_multithreading_enabled(False)
