# SPDX-License-Identifier: MIT
# ruff: noqa: ANN401 (operations take and return whatever PyTorch's do)
"""Tensors on a simulated device.

A `SimTensor` is a shell that PyTorch takes for a tensor on the device. Its contents are a
tensor on the CPU, whose values are up to date once the tape has been forced.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import torch

from .costs import Form, form_of
from .device import Device
from .tape import Value


class Buffer:
    """Memory taken on a device, given back when the last tensor that uses it is gone.

    value : identity of the contents
    fresh : whether nothing was ever written to it

    Raises
    ------
    torch.OutOfMemoryError
        If the device has not that much left.
    """

    def __init__(self, device: Device, size: int) -> None:
        self.device = device
        self.size = 0  # what __del__ gives back if there is no memory
        device.allocate(size)
        self.size = size
        self.value = Value()
        self.fresh = True

    def __del__(self) -> None:
        self.device.free(id(self), self.size)


class SimTensor(torch.Tensor):
    """A tensor on a simulated device."""

    contents: torch.Tensor
    buffer: Buffer
    form: Form
    operation: ClassVar[Callable[[Any, Any, dict[str, Any]], Any]]
    """What runs an operation; set by the module that does, which needs this class."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls: type[Self], contents: torch.Tensor, buffer: Buffer) -> Self:
        """Wrap a CPU tensor as a part of what lies in ``buffer``."""
        self: Self = torch.Tensor._make_wrapper_subclass(
            cls,
            contents.shape,
            strides=contents.stride(),
            storage_offset=contents.storage_offset(),
            dtype=contents.dtype,
            device=buffer.device.torch_device,
        )
        self.contents, self.buffer, self.form = contents, buffer, form_of(contents)
        return self

    @classmethod
    def on(cls, device: Device, form: Form, size: int) -> Self:
        """Return a tensor without values in ``size`` bytes of its own on ``device``."""
        buffer = Buffer(device, size)
        shape, stride, dtype = form
        return cls(torch.empty_strided(shape, stride, dtype=dtype), buffer)

    @classmethod
    def holding(cls, device: Device, contents: torch.Tensor) -> Self:
        """Return a tensor with memory of its own on ``device`` and these contents."""
        return cls(contents, Buffer(device, contents.untyped_storage().nbytes()))

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch's own is no class method
        cls, func: Any, _types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run an operation that has such a tensor among its arguments."""
        return cls.operation(func, args, kwargs or {})

    @property
    def data(self) -> torch.Tensor:
        """The tensor without its history, as `torch.Tensor.data`; setting it swaps contents."""
        return self.detach()

    @data.setter
    def data(self, other: Any) -> None:
        torch.Tensor.data.__set__(self, other)  # type: ignore[attr-defined]  # a C descriptor
        self.contents, self.buffer, self.form = other.contents, other.buffer, other.form

    def data_ptr(self) -> int:
        """Return an address that is the same for tensors that share their memory."""
        return self.contents.data_ptr()

    def tolist(self) -> Any:
        """Read back and return nested lists."""
        return self.detach().cpu().tolist()

    def __repr__(self) -> str:  # type: ignore[override]  # torch's takes contents instead
        return f"{self.detach().cpu()!r}"[:-1] + f", device='{self.device}')"

    def __deepcopy__(self, memo: dict[int, Any]) -> torch.Tensor:
        copy = self.detach().clone().requires_grad_(self.requires_grad)
        copy._is_param = getattr(self, "_is_param", False)  # how torch marks its parameters
        memo[id(self)] = copy
        return copy
