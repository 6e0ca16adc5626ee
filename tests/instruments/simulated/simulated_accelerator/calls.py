# SPDX-License-Identifier: MIT
# ruff: noqa: ANN401 (operations take and return whatever PyTorch's do)
"""PyTorch's operations as the simulation knows them, and single calls of them."""

from collections.abc import Callable, Hashable, Sequence
from functools import cache, partial
from typing import Any

import torch

from .costs import Plan, form_of, map_leaves
from .device import Device, machine
from .tensor import SimTensor

Handler = Callable[..., Any]

_aten = torch.ops.aten
_spec = machine.spec
_handlers: dict[Any, Handler] = {}
_ALLOCATIONS = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}


def handles(func: Any) -> Callable[[Handler], Handler]:
    """Let a function run ``func``; it takes the moment of the call and the arguments."""

    def register(handler: Handler) -> Handler:
        _handlers[func] = handler
        return handler

    return register


class Operation:
    """What is known of one of PyTorch's operations; worked out when it is first met.

    handler : the function that runs it, if it is a special one
    written : number and name of the arguments that it changes
    plans : results and duration, by what of the arguments they depend on
    """

    def __init__(self, func: Any) -> None:
        schema = func._schema
        aliases = [one.alias_info for one in schema.returns if one.alias_info is not None]
        self.func = func
        self.handler = _handlers.get(func)
        self.view = func is _aten._unsafe_view.default or not all(one.is_write for one in aliases)
        self.allocates = func.overloadpacket.__name__ in _ALLOCATIONS
        self.random = torch.Tag.nondeterministic_seeded in func.tags
        self.written = [
            (number, argument.name)
            for number, argument in enumerate(schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        ]
        self.plans: dict[Hashable, Plan] = {}


operation_of = cache(Operation)


def widened(inner: partial[Any]) -> Any:
    """Compute short floats in float32: accelerators add up so, and CPUs are slow at them."""
    return inner.func(*map_leaves(inner.args, torch.Tensor, torch.Tensor.float), **inner.keywords)


class Call:
    """One call of an operation.

    tensors : those among the arguments, in order
    key : what of the arguments shape and duration of the results depend on
    device : where it runs
    inner : the same call on the CPU
    """

    def __init__(self, begin: float, operation: Operation, args: Any, kwargs: Any) -> None:
        self.begin = begin
        self.operation = operation
        self.args = args
        self.kwargs = kwargs
        self.tensors: list[torch.Tensor] = []
        parts: list[Hashable] = []
        inner_args = [self._look_at(argument, parts) for argument in args]
        inner_kwargs = {}
        for name, value in kwargs.items():
            parts.append(name)
            inner_kwargs[name] = self._look_at(value, parts)
        self.inner = partial(operation.func, *inner_args, **inner_kwargs)
        self.key = tuple(parts)
        self.sims = [tensor for tensor in self.tensors if isinstance(tensor, SimTensor)]
        self.device = self._device()
        self.device.check()

    def _look_at(self, argument: Any, parts: list[Hashable]) -> Any:
        """Note tensors and what the key needs; return the argument as the CPU takes it."""
        if isinstance(argument, torch.Tensor):
            self.tensors.append(argument)
            if isinstance(argument, SimTensor):
                parts.append(argument.form)
                return argument.contents
            parts.append(form_of(argument))
            return argument.clone()  # a scalar, which counts with the value that it has now
        if isinstance(argument, (list, tuple)):
            parts.append(len(argument))
            return [self._look_at(item, parts) for item in argument]
        parts.append((type(argument), argument))
        return argument

    def _device(self) -> Device:
        """Return where the operation runs; raise if its arguments lie on several devices."""
        generator = self.kwargs.get("generator")
        if generator is not None:
            raise RuntimeError(f"Expected a '{_spec.name}' device type for generator")
        if self.kwargs.get("device") is not None:
            self.inner.keywords.update(device=torch.device("cpu"), pin_memory=False)
            return machine.device(self.kwargs["device"])
        device = self.sims[0].buffer.device
        # A scalar on the CPU may take part anywhere.
        given = (one for one in self.tensors if one.dim() or isinstance(one, SimTensor))
        if aliens := {tensor.device for tensor in given} - {device.torch_device}:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two "
                f"devices, {device.torch_device} and {aliens.pop()}!"
            )
        return device

    def run(self, seconds: tuple[float, float], new: Sequence[SimTensor]) -> None:
        """Let the device compute after the launch, from its memory or its cache."""
        from_memory, from_cache = seconds
        duration = from_cache if self._cached(new) else from_memory
        stream = machine.stream(self.device)
        self.device.run(stream, "compute", duration, self.begin + _spec.launch)

    def _cached(self, new: Sequence[SimTensor]) -> bool:
        """Touch what is read and written; return whether all that was given is in the cache."""
        if not _spec.cache:
            return False
        given = self.device.touch(_sizes(self.sims)) and bool(self.sims)
        self.device.touch(_sizes(new))
        return given

    def written(self) -> list[SimTensor]:
        """Return the tensors that the operation changes."""
        found: list[SimTensor] = []
        for number, name in self.operation.written:
            argument = self.args[number] if number < len(self.args) else self.kwargs.get(name)
            map_leaves(argument, SimTensor, found.append)
        return found


def _sizes(tensors: Sequence[SimTensor]) -> dict[int, int]:
    return {id(tensor.buffer): tensor.buffer.size for tensor in tensors}
