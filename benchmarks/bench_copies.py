# SPDX-License-Identifier: MIT
"""What does moving data cost?

A sample is the time until what was copied is where it is wanted: telling the device to copy,
the copy, and waiting for it. Both places exist before, and small copies find their bytes in
the caches, as they do in a program that has just made them; cold caches do not hold these bytes,
and those of the CPU not even the code of Python and PyTorch that copies them. Memory of the host
is pageable, as PyTorch gives it, or pinned, which a device reaches without a detour;
``non_blocking`` copies are pinned too, and the thread has its hands free as soon as they are
launched. Copies between two devices go directly, as far as the machine lets them, or through
pinned memory of the host.

The bytes are those that arrive, once for each direction and device. Only a copy within a
device counts twice, because its memory is read and written.

Where the times lie on a line, its start is the latency, which a copy of nothing would take, and
its slope tells the bandwidth. A copy that moves its bytes in just the latency, and so takes
twice that, gets half of the bandwidth.
"""

import io
import re

import torch
from torch import Tensor

from frobench import (
    Check,
    Device,
    Lane,
    Measure,
    Work,
    cases,
    close_to,
    cpu_twins,
    needed,
    pinned,
    same_bytes,
)

pytestmark = cpu_twins()

SIZES = [4**power for power in range(1, 16)]  # bytes: 4 B to 1 GiB
FEW = [4, 4**5, 4**9, 4**13]
SHOWN, EDGE = 1000, 3
"""How many numbers PyTorch prints in full, and how many at each end of longer tensors."""


@cases("quick", size=FEW, memory=["pageable"])
@cases(size=[*FEW, 4**7, 4**11], memory=["pageable", "pinned"])
@cases(size=FEW, memory=["non_blocking"])
@cases("rigorous", size=SIZES, memory=["pageable", "pinned", "non_blocking"])
def bench_to_device(measure: Measure, accelerator: Device, size: int, memory: str) -> None:
    """Copy from memory of the host to the device."""
    values = draw(size)
    source, target = on_host(values, memory), room(accelerator, size)
    measure(
        lambda: target.copy_(source, non_blocking=memory == "non_blocking"),
        work=Work(bytes=size, path="host"),
        check=same_bytes([values]),
    )


@cases("quick", size=FEW, memory=["pageable"])
@cases(size=[*FEW, 4**7, 4**11], memory=["pageable", "pinned"])
@cases(size=FEW, memory=["non_blocking"])
@cases("rigorous", size=SIZES, memory=["pageable", "pinned", "non_blocking"])
def bench_to_host(measure: Measure, accelerator: Device, size: int, memory: str) -> None:
    """Copy from the device to memory of the host."""
    values = draw(size)
    source, target = there(values, accelerator), on_host(torch.zeros_like(values), memory)
    measure(
        lambda: target.copy_(source, non_blocking=memory == "non_blocking"),
        work=Work(bytes=size, path="host"),
        check=same_bytes([values]),
    )


@cases(size=FEW)
@cases("rigorous", size=SIZES)
def bench_both_ways(measure: Measure, accelerator: Device, size: int) -> None:
    """Copy to the device and back at once, in a stream each, with pinned memory."""
    with needed("streams"):
        lanes = [Lane(accelerator, accelerator.stream()) for _ in "12"]
    values = draw(size, copies=5)
    copies = [
        (pinned(values), room(accelerator, size)),
        (there(values, accelerator), pinned(torch.zeros_like(values))),
    ]
    measure(
        lambda: [copy(*one) for one in zip(lanes, copies, strict=True)],
        work=Work(bytes=2 * size, path="both-ways"),
        check=same_bytes([values] * 2),
        lanes=lanes,
    )


@cases(size=FEW, direction=["to_device", "to_host"])
@cases("rigorous", size=SIZES, direction=["to_device", "to_host"])
def bench_all_at_once(measure: Measure, devices: list[Device], size: int, direction: str) -> None:
    """Copy to or from every device at once, each with pinned memory of its own."""
    lanes = [Lane(device) for device in devices]
    values = draw(size, copies=2 + len(devices))
    copies = [
        (pinned(values), room(device, size))
        if direction == "to_device"
        else (there(values, device), pinned(torch.zeros_like(values)))
        for device in devices
    ]
    measure(
        lambda: [copy(*one) for one in zip(lanes, copies, strict=True)],
        work=Work(bytes=len(devices) * size, path="host"),
        check=same_bytes([values] * len(devices)),
        lanes=lanes,
    )


@cases(size=FEW, way=["direct", "through_host"])
@cases("rigorous", size=SIZES, way=["direct", "through_host"])
def bench_between(measure: Measure, pair: list[Device], size: int, way: str) -> None:
    """Copy from the first device to the second, directly or through pinned memory of the host."""
    values = draw(size)
    staged = pinned(torch.zeros_like(values)) if way == "through_host" else None
    source, target = there(values, pair[0]), room(pair[1], size)

    def body() -> Tensor:
        if staged is None:
            return target.copy_(source, non_blocking=True)
        return target.copy_(staged.copy_(source))

    measure(body, work=Work(bytes=size, path="between"), check=same_bytes([values]))


@cases("quick", size=[4**6, 4**10, 4**12])
@cases(size=[4**6, 4**10, 4**12, 4**14])
@cases("rigorous", size=SIZES)
def bench_within(measure: Measure, device: Device, size: int) -> None:
    """Copy from one place of the device's memory to another."""
    values = draw(size)
    source, target = there(values, device), room(device, size)
    measure(
        lambda: target.copy_(source),
        work=Work(bytes=2 * size, path="within"),
        check=same_bytes([values]),
    )


@cases(size=[4**10, 4**12, 4**14])
@cases("rigorous", size=SIZES[8:])
def bench_within_cold(measure: Measure, device: Device, size: int) -> None:
    """Copy from one place of the device's memory to another while the caches are cold.

    Only one call finds them cold, and smaller ones are over before a coarse clock can tell.
    """
    values = draw(size)
    source, target = there(values, device), room(device, size)
    measure(
        lambda: target.copy_(source),
        work=Work(bytes=2 * size, path="within"),
        check=same_bytes([values]),
        cold=True,
    )


@cases(size=[4**6, 4**12])
@cases("rigorous", size=SIZES)
def bench_numpy(measure: Measure, device: Device, size: int) -> None:
    """Make a NumPy array of a tensor; on a CPU it shares the tensor's memory."""
    values = draw(size)
    source, same = there(values, device), same_bytes([values])
    measure(
        lambda: source.cpu().numpy(),
        work=Work(bytes=size if device.is_accelerator else None, items=1),
        check=lambda array: same(torch.from_numpy(array)),
    )


@cases(size=[4, 4 * SHOWN])
@cases("rigorous", size=[4**10])
def bench_print(measure: Measure, device: Device, size: int) -> None:
    """Print a tensor into memory; of more than a thousand numbers, only both ends are shown."""
    values = draw(size)
    source = there(values, device)

    def body() -> str:
        sink = io.StringIO()
        print(source, file=sink)
        return sink.getvalue()

    measure(body, work=Work(items=1), check=lambda text: shows(values, text))


def draw(size: int, copies: int = 3) -> Tensor:
    """Draw numbers on the host, where there must be room for as many copies of them."""
    host = Device("cpu")
    host.require(copies * size)
    return host.uniform(size // 4)


def on_host(values: Tensor, memory: str) -> Tensor:
    """Return numbers in memory of the host, which is pinned for copies that nobody waits for."""
    return values if memory == "pageable" else pinned(values)


def there(values: Tensor, device: Device) -> Tensor:
    """Return a copy of numbers on a device."""
    return room(device, values.nbytes).copy_(values)


def room(device: Device, size: int) -> Tensor:
    """Return as many bytes on a device, with nothing in them yet."""
    device.require(size)
    return torch.empty(size // 4, device=device.handle)


def copy(lane: Lane, both: tuple[Tensor, Tensor]) -> Tensor:
    """Copy from one tensor to another on a lane, without waiting."""
    source, target = both
    with lane:
        return target.copy_(source, non_blocking=True)


def shows(values: Tensor, text: str) -> Check:
    """Check that a text shows the numbers."""
    shown = values if len(values) <= SHOWN else torch.cat([values[:EDGE], values[-EDGE:]])
    numbers = re.findall(r"-?\d\.\d+(?:e[-+]\d+)?", text)
    return close_to(shown, 1e-4 / shown.abs().max().item(), "the printed numbers")(numbers)
