# SPDX-License-Identifier: MIT
"""How should a model's parameters be read from the device, and how written to it?

The model is sixteen linear layers in a row, with a million parameters or a hundred million:
thirty-two tensors either way. A sample is the time until everything read is on the host, or
everything written is on the device. On a CPU, where a parameter needs no journey, reading
means a copy that later training does not change.

The bytes are those of the parameters that were asked for, each counted once, so that bytes
per second can be held against what the link carries. ``rebuild`` is what is done without
thinking: construct the model anew, which draws initial values that nobody needs, load the
state, move the whole. ``rebuild_on_meta`` constructs it without memory and puts the new
tensors in.
"""

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from math import isqrt

import torch
from torch import Tensor, nn

from frobench import Check, Device, Measure, Work, cases, close_to, cpu_twins, pinned, same_bytes

pytestmark = cpu_twins()

LAYERS = 16
COUNTS = [1_000_000, 100_000_000]
FILL = 0.5


@cases("quick", parameters=COUNTS[:1])
@cases(parameters=COUNTS)
def bench_read_scalar(measure: Measure, device: Device, parameters: int) -> None:
    """Read a single parameter with .item()."""
    weight = next(placed(device.name, parameters).parameters())
    measure(
        lambda: [weight[0, 0].item()],
        work=Work(bytes=weight.itemsize, items=1),
        check=close_to(values(parameters)[0][0, :1], 0.0, "the parameter"),
    )


@cases(parameters=COUNTS)
def bench_read_tensor(measure: Measure, device: Device, parameters: int) -> None:
    """Read the weights of one layer."""
    weight = next(placed(device.name, parameters).parameters())
    measure(
        lambda: weight.to("cpu", copy=True),
        work=Work(bytes=weight.nbytes, items=1),
        check=same_bytes(values(parameters)[:1]),
    )


@cases("quick", parameters=COUNTS[:1])
@cases(parameters=COUNTS)
def bench_read_state_dict(measure: Measure, device: Device, parameters: int) -> None:
    """Read all parameters, one tensor of the state_dict after the other."""
    model = placed(device.name, parameters)
    measure(
        lambda: [value.to("cpu", copy=True) for value in model.state_dict().values()],
        work=work(parameters),
        check=holds(parameters),
    )


@cases("quick", parameters=COUNTS[:1])
@cases(parameters=COUNTS)
def bench_read_flat(measure: Measure, device: Device, parameters: int) -> None:
    """Read all parameters in one copy, joined on the device."""
    model = placed(device.name, parameters)
    measure(
        lambda: torch.cat([value.flatten() for value in model.parameters()]).cpu(),
        work=work(parameters),
        check=holds(parameters),
    )


@cases("quick", parameters=COUNTS[:1])
@cases(parameters=COUNTS)
def bench_write_copy(measure: Measure, device: Device, parameters: int) -> None:
    """Write all parameters in place, with copy_ from pageable memory."""
    state = host_state(parameters)
    with wiped(device, parameters) as model:
        measure(
            lambda: write(model, state.values()), work=work(parameters), check=holds(parameters)
        )


@cases(parameters=COUNTS)
def bench_write_copy_pinned(measure: Measure, accelerator: Device, parameters: int) -> None:
    """Write all parameters in place, with copy_ from pinned memory and without waiting."""
    state = pinned_state(parameters)
    with wiped(accelerator, parameters) as model:
        measure(
            lambda: write(model, state.values(), non_blocking=True),
            work=work(parameters),
            check=holds(parameters),
        )


@cases(parameters=COUNTS)
def bench_write_fill(measure: Measure, device: Device, parameters: int) -> None:
    """Write one value into all parameters with fill_."""
    filled = [torch.tensor(FILL).expand_as(value) for value in values(parameters)]
    with wiped(device, parameters) as model:
        measure(
            lambda: [value.fill_(FILL) for value in model.parameters()],
            work=work(parameters),
            check=same_bytes(filled),
        )


@cases("quick", parameters=COUNTS[:1])
@cases(parameters=COUNTS)
def bench_write_load(measure: Measure, device: Device, parameters: int) -> None:
    """Write all parameters in place, with load_state_dict from pageable memory."""
    state = host_state(parameters)
    with wiped(device, parameters) as model:
        measure(lambda: load(model, state), work=work(parameters), check=holds(parameters))


@cases(parameters=COUNTS)
def bench_write_load_pinned(measure: Measure, accelerator: Device, parameters: int) -> None:
    """Write all parameters in place, with load_state_dict from pinned memory."""
    state = pinned_state(parameters)
    with wiped(accelerator, parameters) as model:
        measure(lambda: load(model, state), work=work(parameters), check=holds(parameters))


@cases("quick", parameters=COUNTS[:1])
@cases(parameters=COUNTS)
def bench_write_rebuild(measure: Measure, device: Device, parameters: int) -> None:
    """Build the model anew with initial values, load the state, move the whole."""
    state = host_state(parameters)
    device.require(8 * parameters)

    def body() -> list[Tensor]:
        model = network(parameters)
        load(model, state)
        return list(model.to(device.handle).parameters())

    measure(body, work=work(parameters), check=holds(parameters))


@cases(parameters=COUNTS)
def bench_write_rebuild_on_meta(measure: Measure, device: Device, parameters: int) -> None:
    """Build the model anew without memory, and put copies of the state in."""
    state = host_state(parameters)
    device.require(4 * parameters)

    measure(
        lambda: list(assembled(device, state).parameters()),
        work=work(parameters),
        check=holds(parameters),
    )


@cases(parameters=COUNTS)
def bench_move(measure: Measure, accelerator: Device, parameters: int) -> None:
    """Move the model to the device and back to the host."""
    model = copy.deepcopy(placed("cpu", parameters))
    accelerator.require(4 * parameters)

    def body() -> list[Tensor]:
        return list(model.to(accelerator.handle).to("cpu").parameters())

    measure(body, work=work(parameters, passes=2), check=holds(parameters))


def network(parameters: int) -> nn.Sequential:
    """Build the model as its user would, with initial values."""
    width = isqrt(parameters // LAYERS)
    layers = [nn.Linear(width, width) for _ in range(LAYERS)]
    return nn.Sequential(*layers).requires_grad_(requires_grad=False)


def assembled(device: Device, state: dict[str, Tensor]) -> nn.Sequential:
    """Build the model without memory, and put copies of a state in."""
    with torch.device("meta"):
        model = network(sum(value.numel() for value in state.values()))
    there = {name: value.to(device.handle, copy=True) for name, value in state.items()}
    model.load_state_dict(there, assign=True)
    return model


@cache
def values(parameters: int) -> list[Tensor]:
    """Return the truth on the host: for every parameter another window of the same numbers."""
    with torch.device("meta"):
        shapes = [value.shape for value in network(parameters).parameters()]
    numbers = Device("cpu").uniform(max(shape.numel() for shape in shapes) + len(shapes))
    return [numbers[i : i + shape.numel()].view(shape) for i, shape in enumerate(shapes)]


@cache
def placed(device: str, parameters: int) -> nn.Sequential:
    """Return the model on a device; whoever borrows it leaves its values as they were."""
    where = Device(device)
    where.require(12 * parameters)  # with what is read from it, or written to it
    return assembled(where, dict(named(parameters)))


@cache
def host_state(parameters: int) -> dict[str, Tensor]:
    """Return the state in pageable memory."""
    Device("cpu").require(8 * parameters)
    return {name: value.clone() for name, value in named(parameters)}


@cache
def pinned_state(parameters: int) -> dict[str, Tensor]:
    """Return the state in pinned memory."""
    Device("cpu").require(8 * parameters)
    return {name: pinned(value) for name, value in named(parameters)}


def named(parameters: int) -> Iterator[tuple[str, Tensor]]:
    """Yield the names and values of a state_dict."""
    with torch.device("meta"):
        names = network(parameters).state_dict()
    yield from zip(names, values(parameters), strict=True)


@contextmanager
def wiped(device: Device, parameters: int) -> Iterator[nn.Sequential]:
    """Lend the model with zeros for values, and put them right again."""
    model = placed(device.name, parameters)
    try:
        for value in model.parameters():
            value.zero_()
        yield model
    finally:
        write(model, values(parameters))


def write(
    model: nn.Sequential, source: Iterable[Tensor], *, non_blocking: bool = False
) -> list[Tensor]:
    """Copy values into the parameters of a model, waiting for each copy or for none."""
    return [
        value.copy_(new, non_blocking=non_blocking)
        for value, new in zip(model.parameters(), source, strict=True)
    ]


def load(model: nn.Sequential, state: dict[str, Tensor]) -> list[Tensor]:
    """Load a state; return the parameters."""
    model.load_state_dict(state)
    return list(model.parameters())


def work(parameters: int, passes: int = 1) -> Work:
    """Count the bytes and tensors of all parameters, once for each pass."""
    sizes = [value.nbytes for value in values(parameters)]
    return Work(bytes=passes * sum(sizes), items=passes * len(sizes))


def holds(parameters: int) -> Callable[[Tensor | Iterable[Tensor]], Check]:
    """Check that tensors, or a flat one, are the model's parameters."""
    return same_bytes(values(parameters))
