# SPDX-License-Identifier: MIT
# mypy: disable-error-code="no-untyped-call"
"""The module ``torch.<name>``: functions that mean what those of `torch.cuda` mean.

``which`` is a device by number, name or `torch.device`; the current one by default.
"""

from types import SimpleNamespace
from typing import Self

import torch

from . import streams
from .device import machine
from .streams import Account

Which = torch.device | str | int | None


class _Event(streams.Event):
    """An event on a simulated device, in the manner of `torch.cuda.Event`."""

    def record(self, stream: streams.Stream | None = None) -> None:
        """Mark a stream, by default the current one of the current device."""
        self.mark(stream or machine.stream(machine.device()))


class UnusableGenerator(torch.Generator):
    """A source of random numbers that can be made for the device, and draws on the CPU only."""

    def __new__(cls, device: Which = "cpu") -> Self:
        """Make one for any device."""
        own = torch.device(device or "cpu").type == machine.spec.name
        return super().__new__(cls, "cpu" if own else device)  # type: ignore[call-arg]  # torch types no such argument


class Bare:
    """The least that a backend has: what PyTorch asks it for, and choosing a device.

    No call waits for a device but reading from it, and random numbers are drawn on the CPU only.
    """

    def is_available(self) -> bool:
        """Return whether a device is visible."""
        return bool(machine.devices)

    def _is_in_bad_fork(self) -> bool:
        return False

    def device_count(self) -> int:
        """Return the number of visible devices."""
        return len(machine.devices)

    def manual_seed_all(self, seed: int) -> None:
        """Seed the random numbers of every device."""
        for device in machine.devices:
            device.seeds.seed(seed)


class Backend(Bare):
    """What a backend usually has."""

    Event = _Event

    def synchronize(self, which: Which = None) -> None:
        """Wait until all work on a device, and on no other, has ended."""
        machine.device(which).synchronise()

    def Stream(self, device: Which = None, priority: int = 0) -> streams.Stream:  # noqa: N802
        """Return a new stream; every ``priority`` is the same."""
        del priority
        return machine.device(device).new_stream()

    def current_stream(self, which: Which = None) -> streams.Stream:
        """Return the thread's current stream on a device."""
        return machine.stream(machine.device(which))

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
        machine.device(which).forget_peak()

    def get_device_name(self, which: Which = None) -> str:
        """Return the name of the product."""
        machine.device(which)
        return "Simulated accelerator"

    def get_device_properties(self, which: Which = None) -> SimpleNamespace:
        """Return some of what CUDA tells, by the names that CUDA has for it."""
        return SimpleNamespace(
            name=self.get_device_name(which),
            total_memory=machine.spec.memory,
            multi_processor_count=1,
            L2_cache_size=machine.spec.cache,
        )

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """Return the types that autocast may use."""
        return [torch.bfloat16, torch.float16]

    def account(self, which: Which = None) -> Account:
        """Return what a device truly did, in simulated time."""
        return machine.device(which).account
