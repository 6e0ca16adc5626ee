# SPDX-License-Identifier: MIT
"""Should tensors be created on the device, or on the CPU and then moved?

A sample is the time until the tensor lies on the device: telling the device, the device's work,
and waiting for it; where the CPU is left for another device, the CPU's work and the copy too.
Memory of the host is pageable, as PyTorch gives it. What is created is normally distributed
random numbers, which a CPU draws with a single thread, or one number all over, which costs no
more than writing it; a CPU shares that among its threads from 32,768 numbers on.

A tensor that is ready on the CPU can be moved with ``to``, or copied into an empty one that was
made on the device before. Moved to where it lies already, as ``to`` and ``cuda`` may be told to,
it stays what it was: that the memory is the same is checked.

Random numbers that were drawn inside a sample are known to nobody. Their distribution is held
against the normal one, and what was moved against what was drawn, bit by bit. The bytes are those
of the finished tensor.
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from frobench import Check, Device, Measure, Work, cases, cpu_twins, same_bytes, worst

pytestmark = cpu_twins()

TensorCheck = Callable[[Tensor], Check]
NUMBER = 0.7
CREATE: dict[str, Callable[..., Tensor]] = {
    "randn": torch.randn,
    "full": partial(torch.full, fill_value=NUMBER),
}
LOOKED_AT = 2**16
"""Random numbers of a tensor that are held against their distribution, about."""


@cases("quick", n=[4**3, 4**6, 4**10], values=["randn"])
@cases(n=[4**3, 4**6, 4**10], values=["randn", "full"])
@cases("rigorous", n=[1, 4**8, 4**12], values=["randn", "full"])
def bench_create(measure: Measure, device: Device, n: int, values: str) -> None:
    """Create n numbers on the device."""
    device.require(4 * n)
    create = CREATE[values]
    measure(
        lambda: create((n,), device=device.handle),
        work=Work(bytes=4 * n, items=n),
        check=on(device, created(values, n)),
    )


@cases("quick", n=[4**3, 4**6, 4**10], values=["randn"])
@cases(n=[4**3, 4**6, 4**10], values=["randn", "full"])
@cases("rigorous", n=[1, 4**8, 4**12], values=["randn", "full"])
def bench_create_then_move(measure: Measure, accelerator: Device, n: int, values: str) -> None:
    """Create n numbers on the CPU, and move them."""
    Device("cpu").require(4 * n)
    accelerator.require(4 * n)
    create = CREATE[values]

    def body() -> tuple[Tensor, Tensor]:
        here = create((n,))
        return here, here.to(accelerator.handle)

    measure(
        body,
        work=Work(bytes=4 * n, items=n),
        check=lambda both: worst(
            [created(values, n)(both[0]), on(accelerator, same_bytes(both[:1]))(both[1])]
        ),
    )


@cases(n=[4**3, 4**6, 4**10])
@cases("rigorous", n=[1, 4**8, 4**12])
def bench_move(measure: Measure, accelerator: Device, n: int) -> None:
    """Move n numbers that are ready on the CPU."""
    values = Device("cpu").uniform(n)
    accelerator.require(values.nbytes)
    measure(
        lambda: values.to(accelerator.handle),
        work=Work(bytes=values.nbytes, items=n),
        check=on(accelerator, same_bytes([values])),
    )


@cases(n=[4**3, 4**6, 4**10])
@cases("rigorous", n=[1, 4**8, 4**12])
def bench_empty_then_copy(measure: Measure, device: Device, n: int) -> None:
    """Copy n numbers that are ready on the CPU into an empty tensor made on the device for them."""
    values = Device("cpu").uniform(n)
    device.require(values.nbytes)
    measure(
        lambda: torch.empty_like(values, device=device.handle).copy_(values),
        work=Work(bytes=values.nbytes, items=n),
        check=on(device, same_bytes([values])),
    )


@cases(n=[4**3, 4**10])
@cases("rigorous", n=[1, 4**12])
def bench_stay(measure: Measure, device: Device, n: int) -> None:
    """Move n numbers to the device that they lie on already, which copies nothing."""
    values = device.uniform(n)
    measure(
        lambda: values.to(device.handle), work=Work(items=1), check=on(device, same_memory(values))
    )


def on(device: Device, check: TensorCheck) -> TensorCheck:
    """Check further what lies on a device; what lies elsewhere is wrong."""

    def whole(result: Tensor) -> Check:
        if str(result.device) != device.name:
            return Check(f"a tensor on {result.device} with one on {device.name}", math.inf, 0.0)
        return check(result)

    return whole


def created(values: str, n: int) -> TensorCheck:
    """Check what was created."""
    return normal(n) if values == "randn" else same_bytes([torch.full((n,), NUMBER)])


def normal(n: int) -> TensorCheck:
    """Check that numbers are normally distributed: the error is the Kolmogorov-Smirnov distance.

    In m numbers it exceeds 3 / sqrt(m) by chance once in 30 million times (2 exp(-18), Massart
    1990). A single number may be any.
    """

    def check(drawn: Tensor) -> Check:
        if (drawn.shape, drawn.dtype) != ((n,), torch.float32):
            seen = f"{drawn.dtype} of shape {tuple(drawn.shape)} with float32 of shape {(n,)}"
            return Check(seen, math.inf, 0.0)
        some = drawn[:: math.ceil(n / LOOKED_AT)].cpu().double().sort().values
        ranks = torch.arange(len(some) + 1) / len(some)
        below = torch.special.ndtr(some)
        distance = torch.maximum(below - ranks[:-1], ranks[1:] - below).max().item()
        return Check("the distribution with the normal one", distance, 3 / math.sqrt(len(some)))

    return check


def same_memory(values: Tensor) -> TensorCheck:
    """Check that a tensor lies in the memory of another one."""

    def check(result: Tensor) -> Check:
        same = (result.data_ptr(), result.shape) == (values.data_ptr(), values.shape)
        return Check("the address of the memory", 0.0 if same else math.inf, 0.0)

    return check
