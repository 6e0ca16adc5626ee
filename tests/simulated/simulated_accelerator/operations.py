# SPDX-License-Identifier: MIT
"""What happens when one of PyTorch's operations meets a simulated device."""

import threading
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

import torch

from simulated_accelerator.costs import Plan, Slot, form_of, make_plan, map_leaves
from simulated_accelerator.device import Device
from simulated_accelerator.host import host, tape
from simulated_accelerator.machine import machine
from simulated_accelerator.tape import Entry
from simulated_accelerator.tensor import SimTensor

Handler = Callable[..., Any]

_aten = torch.ops.aten
_spec = machine.spec
_handlers: dict[Any, Handler] = {}
_NUMBERS = ("bool", "int", "float", "number")
_SHORT = (torch.bfloat16, torch.float16)
_ALLOCATIONS = (
    _aten.empty,
    _aten.empty_like,
    _aten.empty_strided,
    _aten.new_empty,
    _aten.new_empty_strided,
)


class _Thread(threading.local):
    """Sees to it that backward passes of a thread run in that thread.

    PyTorch believes that a backend written in Python has one device, and has no worker
    thread for a second one.
    """

    ready = True

    def __init__(self) -> None:
        torch.autograd.set_multithreading_enabled(False)


_thread = _Thread()


def handles(func: Any) -> Callable[[Handler], Handler]:
    """Let a function run ``func``; it takes the moment of the call and the arguments."""

    def register(handler: Handler) -> Handler:
        _handlers[func] = handler
        return handler

    return register


class _Operation:
    """What is known of one of PyTorch's operations; worked out when it is first met.

    name : as PyTorch spells it
    handler : the function that runs it, if it is a special one
    composite : whether it consists of others (met in inference mode only)
    written : number and name of the arguments that it changes
    plans : results and duration, by what of the arguments they depend on
    """

    def __init__(self, func: Any) -> None:
        schema = func._schema
        aliases = [one.alias_info for one in schema.returns if one.alias_info is not None]
        self.func = func
        self.name = str(func)
        self.handler = _handlers.get(func)
        self.composite = func._can_decompose()
        self.view = func is _aten._unsafe_view.default or not all(one.is_write for one in aliases)
        self.wants_values = any(str(one.type) in _NUMBERS for one in schema.returns)
        self.allocates = func.overloadpacket in _ALLOCATIONS
        self.reshapes = torch.Tag.inplace_view in func.tags
        self.random = torch.Tag.nondeterministic_seeded in func.tags
        self.written = [
            (number, argument.name)
            for number, argument in enumerate(schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        ]
        self.plans: dict[Hashable, Plan] = {}


_operation = cache(_Operation)


def dispatch(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run one operation on the simulated machine."""
    begin = host.begin()
    _ = _thread.ready
    operation = _operation(func)
    if operation.handler:
        return operation.handler(begin, *args, **kwargs)
    if operation.composite:
        return func.decompose(*args, **kwargs)
    if operation.reshapes:
        msg = f"{func} changes the shape of a tensor in place, which is not simulated"
        raise NotImplementedError(msg)
    call = _Call(begin, operation, args, kwargs)
    if operation.view:
        return _view(call)
    if operation.wants_values:
        return _operate_on_values(call)
    return _operate(call)


SimTensor.operation = staticmethod(dispatch)


def operate(begin: float, func: Any, *args: Any, **kwargs: Any) -> Any:
    """Launch an operation that computes on a device."""
    return _operate(_Call(begin, _operation(func), args, kwargs))


class _Inner:
    """An operation on the contents of its tensors, for whenever it is to be computed."""

    __slots__ = ("args", "func", "kwargs")

    def __init__(self, func: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs

    def __call__(self) -> Any:
        return self.func(*self.args, **self.kwargs)


class _Call:
    """One call of an operation.

    tensors : those among the arguments, in order
    key : what of the arguments shape and duration of the results depend on
    device : where it runs
    inner : the same call on the CPU
    """

    def __init__(
        self, begin: float, operation: _Operation, args: Any, kwargs: dict[str, Any]
    ) -> None:
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
        self.inner = _Inner(operation.func, inner_args, inner_kwargs)
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
            msg = (
                f"Expected a '{_spec.name}' device type for generator "
                f"but found '{generator.device.type}'"
            )
            raise RuntimeError(msg)
        if self.kwargs.get("device") is not None:
            self.inner.kwargs |= {"device": torch.device("cpu"), "pin_memory": False}
            return machine.device(self.kwargs["device"])
        device = self.sims[0].buffer.device
        for tensor in self.tensors:
            if isinstance(tensor, SimTensor):
                alien = tensor.buffer.device is not device
            else:
                alien = tensor.dim() > 0  # a scalar on the CPU may take part anywhere
            if alien:
                msg = (
                    "Expected all tensors to be on the same device, but found at least two "
                    f"devices, {device.torch_device} and {tensor.device}!"
                )
                raise RuntimeError(msg)
        return device

    def run(self, seconds: float) -> float:
        """Let the device compute for ``seconds`` after the launch; return when it will end."""
        stream = machine.stream(self.device)
        at = self.begin + _spec.launch
        return self.device.run(self.operation.name, stream, "compute", seconds, at)

    def written(self) -> list[SimTensor]:
        """Return the tensors that the operation changes."""
        found: list[SimTensor] = []
        for number, name in self.operation.written:
            argument = self.args[number] if number < len(self.args) else self.kwargs.get(name)
            map_leaves(argument, SimTensor, found.append)
        return found


def _view(call: _Call) -> Any:
    buffer = call.sims[0].buffer
    result = map_leaves(call.inner(), torch.Tensor, lambda part: SimTensor(part, buffer))
    host.spend(call.begin, _spec.metadata)
    return result


def _operate(call: _Call) -> Any:
    operation = call.operation
    plan = operation.plans.get(call.key)
    if plan is None:
        try:
            plan = make_plan(_spec, operation.func, call.args, call.kwargs)
        except NotImplementedError:  # the results' shapes depend on values
            return _operate_on_values(call)
        operation.plans[call.key] = plan
    new = [
        SimTensor.on(call.device, form, size)
        for form, size in zip(plan.forms, plan.sizes, strict=True)
    ]
    if operation.allocates:
        host.spend(call.begin, _spec.metadata)
        return new[0]
    written = new + call.written() if operation.written else new
    for tensor in written:
        tensor.buffer.fresh = False
    tape.append(
        Entry(
            _deferred(call, plan, [t.contents for t in new]),
            [t.buffer.value for t in call.sims],
            [t.buffer.value for t in written],
            (operation.name, call.key),
            plan.seconds,
        )
    )
    call.run(plan.seconds)

    def to_tensor(slot: Slot) -> torch.Tensor:
        return call.tensors[slot.number] if slot.given else new[slot.number]

    result = map_leaves(plan.result, Slot, to_tensor)
    host.spend(call.begin, _spec.launch)
    return result


def _operate_on_values(call: _Call) -> Any:
    """Run an operation whose result must be known before the host can go on."""
    end = call.run(_spec.kernel + sum(t.nbytes for t in call.sims) / _spec.bandwidth)
    tape.force(t.buffer.value for t in call.sims)
    device = call.device
    result = map_leaves(call.inner(), torch.Tensor, lambda new: SimTensor.holding(device, new))
    machine.stream(device).wait_for(end)
    return result


def _deferred(call: _Call, plan: Plan, new: list[torch.Tensor]) -> Callable[[], Any]:
    """Return what computes the values that ``plan`` promises, without holding the call."""
    run: Callable[[], Any] = call.inner
    if plan.flops and new and new[0].dtype in _SHORT:
        # CPUs are slow at short floats; accelerators add them up in float32 anyway.
        call.inner.args = map_leaves(call.inner.args, torch.Tensor, torch.Tensor.float)
    if call.operation.random:
        run = _seeded(run, call.device.seeds.getrandbits(63))
    if not new:
        return run

    def compute() -> None:
        results: list[torch.Tensor] = []
        map_leaves(run(), torch.Tensor, results.append)
        for target, result in zip(new, results, strict=True):
            target.copy_(result)

    return compute


def _seeded(run: Callable[[], Any], seed: int) -> Callable[[], Any]:
    """Let random numbers depend on the device's seed alone, whenever they are drawn."""

    def draw() -> Any:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            return run()

    return draw
