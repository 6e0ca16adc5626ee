# SPDX-License-Identifier: MIT
# ruff: noqa: ANN401 (operations take and return whatever PyTorch's do)
"""What happens when one of PyTorch's operations meets a simulated device."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch

from .calls import Call, operation_of, widened
from .costs import Plan, Slot, make_plan, map_leaves
from .device import Device, machine
from .host import host, tape
from .streams import current
from .tape import Entry
from .tensor import SimTensor

_spec = machine.spec
_SHORT = (torch.bfloat16, torch.float16)


class Recorded(NamedTuple):
    """An operation of a graph.

    run : computes its values
    seconds : that the device takes for it
    """

    run: Callable[[], object]
    seconds: float


class Graph:
    """A graph of one device's operations, in the manner of `torch.cuda.CUDAGraph`.

    What it reads and writes is kept, so that every replay finds and leaves it in the same memory.
    """

    def __init__(self) -> None:
        self._operations: list[Recorded] = []
        self._read: list[SimTensor] = []
        self._written: list[SimTensor] = []

    def capture_begin(self) -> None:
        """Record what the thread launches from now on, and run none of it."""
        current.graph = self

    def capture_end(self) -> None:
        """Record no more."""
        current.graph = None

    def record(self, operation: Recorded, read: list[SimTensor], written: list[SimTensor]) -> None:
        """Add an operation."""
        self._operations.append(operation)
        self._read += read
        self._written += written

    def replay(self) -> None:
        """Launch all operations together, in the order in which they were recorded."""
        begin, device = host.begin(), self._device
        launch = machine.spec.launch
        reads, writes = ([one.buffer.value for one in its] for its in (self._read, self._written))
        tape.append(Entry(self._compute, reads, writes))
        for operation in self._operations:
            stream = machine.stream(device)
            device.run(stream, "compute", operation.seconds, begin + launch)
        host.spend(begin, launch)

    @property
    def _device(self) -> Device:
        return self._written[0].buffer.device

    def _compute(self) -> None:
        for operation in self._operations:
            operation.run()


def refuse() -> None:
    """Raise if a graph is recorded, which nothing that the host waits for can be a part of."""
    if current.graph is not None:
        raise RuntimeError("operation not permitted when stream is capturing")


class _Thread(threading.local):
    """Sees to it that backward passes of a thread run in that thread.

    PyTorch believes that a backend written in Python has one device, and has no worker
    thread for a second one.
    """

    ready = True

    def __init__(self) -> None:
        torch.autograd.set_multithreading_enabled(False)


_thread = _Thread()


def dispatch(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run one operation on the simulated machine."""
    begin = host.begin()
    _ = _thread.ready
    operation = operation_of(func)
    if operation.handler:
        return operation.handler(begin, *args, **kwargs)
    call = Call(begin, operation, args, kwargs)
    if operation.view:
        return _view(call)
    return _operate(call)


SimTensor.operation = staticmethod(dispatch)


def operate(begin: float, func: Any, *args: Any, **kwargs: Any) -> Any:
    """Launch an operation that computes on a device."""
    return _operate(Call(begin, operation_of(func), args, kwargs))


def _view(call: Call) -> Any:
    buffer = call.sims[0].buffer
    result = map_leaves(call.inner(), torch.Tensor, lambda part: SimTensor(part, buffer))
    host.spend(call.begin, _spec.metadata)
    return result


def _operate(call: Call) -> Any:
    operation = call.operation
    plan = operation.plans.get(call.key)
    if plan is None:
        plan = make_plan(_spec, operation.func, call.args, call.kwargs)
        operation.plans[call.key] = plan
    new = [SimTensor.on(call.device, *one) for one in zip(plan.forms, plan.sizes, strict=True)]
    if operation.allocates:
        host.spend(call.begin, _spec.metadata)
        return new[0]
    written = new + call.written() if operation.written else new
    for tensor in written:
        tensor.buffer.fresh = False
    run = _deferred(call, plan, [t.contents for t in new])
    if current.graph is not None:
        recorded = Recorded(run, plan.seconds[0])
        current.graph.record(recorded, call.sims, written)
        return _result(call, plan, new)
    if call.device.lazy:
        run = _worked_for(run, call, plan.seconds[0])
    reads, writes = ([t.buffer.value for t in tensors] for tensors in (call.sims, written))
    tape.append(Entry(run, reads, writes))
    if not call.device.lazy:
        call.run(plan.seconds, new)
    host.spend(call.begin, _spec.launch)
    return _result(call, plan, new)


def _result(call: Call, plan: Plan, new: list[SimTensor]) -> Any:
    """Return what an operation returns: new tensors, and those that it was given."""

    def to_tensor(slot: Slot) -> torch.Tensor:
        return call.tensors[slot.number] if slot.given else new[slot.number]

    return map_leaves(plan.result, Slot, to_tensor)


def _worked_for(run: Callable[[], Any], call: Call, seconds: float) -> Callable[[], Any]:
    """Return what lets the device work only when its values are computed, since they are read."""
    device, stream = call.device, machine.stream(call.device)

    def work() -> None:
        run()
        device.run(stream, "compute", seconds, host.now() + _spec.launch)

    return work


def _deferred(call: Call, plan: Plan, new: list[torch.Tensor]) -> Callable[[], Any]:
    """Return what computes the values that ``plan`` promises, without holding the call."""
    run: Callable[[], Any] = call.inner
    if plan.flops and new and new[0].dtype in _SHORT:
        run = partial(widened, call.inner)
    if call.operation.random:
        run = _seeded(run, call.device.seeds.getrandbits(63))
    if not new:
        return run

    def compute() -> None:
        results: list[torch.Tensor] = []
        map_leaves(run(), torch.Tensor, results.append)
        for target, result in zip(new, results, strict=True):
            if result.numel():  # a CPU leaves out statistics that nobody needs
                target.copy_(result)

    return compute


def _seeded(run: Callable[[], Any], seed: int) -> Callable[[], Any]:
    """Let random numbers depend on the device's seed alone, whenever they are drawn."""

    def draw() -> Any:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            return run()

    return draw
