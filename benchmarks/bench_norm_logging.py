# SPDX-License-Identifier: MIT
"""What does it cost to bring every norm of a long loop back at once, not in one log at its end?

Each step multiplies two 100 x 100 matrices and takes the Frobenius norm of the product. A
sample is the whole loop, until the last norm is where it is wanted. The matrices lie on the
device already; ten pairs of them take turns, so that every length of the log meets the same
data in the caches.

Nothing inside a loop that waits for its device can be seen from outside. So the loop is also
run with parts of it left out, and the differences tell what each part takes: launching (the
same operations on matrices of one element), computing (the same on full matrices, norms
dropped), keeping the log (norms kept), and reading back (at the end, or at each step). That
the parts add up is checked by reading norms back that were ready before the clock started;
where that is cheaper than within the loop, the loop's launching no longer overlaps with the
device's computing.
"""

import io
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.linalg import matrix_norm as norm

from frobench import Check, Device, Measure, Work, capture, cases, close_to, cpu_twins, pinned

pytestmark = cpu_twins()

N = 100
POOL = 10
LENGTHS = [10, 100, 1000]
Pairs = list[tuple[Tensor, Tensor]]


@cases("quick", steps=[100, 1000])
@cases(steps=LENGTHS)
@cases("rigorous", steps=[1, 10_000])
def bench_item(measure: Measure, device: Device, steps: int) -> None:
    """Bring every norm back at once, with .item()."""
    pairs = draw(device, steps)
    measure(lambda: [norm(a @ b).item() for a, b in pairs], work=work(steps), check=logged(pairs))


@cases("quick", steps=[100, 1000])
@cases(steps=LENGTHS)
@cases("rigorous", steps=[1, 10_000])
def bench_log_on_device(measure: Measure, device: Device, steps: int) -> None:
    """Keep a log on the device and bring it back once, at the end."""
    pairs = draw(device, steps)
    measure(
        lambda: torch.stack([norm(a @ b) for a, b in pairs]).tolist(),
        work=work(steps),
        check=logged(pairs),
    )


@cases(steps=[1000])
def bench_numpy(measure: Measure, device: Device, steps: int) -> None:
    """Bring every norm back at once, as a NumPy array."""
    pairs = draw(device, steps)
    measure(
        lambda: [norm(a @ b).cpu().numpy() for a, b in pairs], work=work(steps), check=logged(pairs)
    )


@cases(steps=[100])
@cases("rigorous", steps=[1000])
def bench_print(measure: Measure, device: Device, steps: int) -> None:
    """Print every norm at once, into memory."""
    pairs = draw(device, steps)

    def body() -> io.StringIO:
        sink = io.StringIO()
        for a, b in pairs:
            print(norm(a @ b), file=sink)
        return sink

    check = logged(pairs)
    measure(
        body,
        work=work(steps),
        check=lambda sink: check(re.findall(r"tensor\(([^,)]+)", sink.getvalue())),
    )


@cases(steps=[1000])
def bench_batched(measure: Measure, device: Device, steps: int) -> None:
    """Take all norms of all products at once, and bring them back together."""
    pairs = draw(device, steps)
    left, right = torch.stack([a for a, _ in pairs]), torch.stack([b for _, b in pairs])
    measure(lambda: norm(left @ right).tolist(), work=work(steps), check=logged(pairs))


@cases(steps=[1000])
def bench_graph(measure: Measure, accelerator: Device, steps: int) -> None:
    """Replay the recorded loop, and bring its log back once."""
    pairs = draw(accelerator, steps)
    replay = capture(accelerator, lambda: torch.stack([norm(a @ b) for a, b in pairs]))
    measure(lambda: replay().tolist(), work=work(steps), check=logged(pairs))


@cases(steps=[1000])
def bench_pinned(measure: Measure, accelerator: Device, steps: int) -> None:
    """Send every norm to pinned memory at once, waiting for none but the last."""
    pairs = draw(accelerator, steps)
    log = pinned(torch.zeros(steps))
    slots = log.unbind()

    def body() -> Tensor:
        for (a, b), slot in zip(pairs, slots, strict=True):
            slot.copy_(norm(a @ b), non_blocking=True)
        accelerator.synchronize()
        return log

    measure(body, work=work(steps), check=logged(pairs))


@cases("quick", steps=[100])
@cases(steps=[1000])
def bench_launch_only(measure: Measure, device: Device, steps: int) -> None:
    """Do as bench_norm_only, with matrices of one element: launch, but compute nothing."""
    pairs = draw(device, steps, n=1)
    measure(lambda: drop_norms(pairs), work=work(steps, n=1), check=logged(pairs[-1:]))


@cases("quick", steps=[100])
@cases(steps=[1000])
def bench_norm_only(measure: Measure, device: Device, steps: int) -> None:
    """Multiply and take the norm, keeping none."""
    pairs = draw(device, steps)
    measure(lambda: drop_norms(pairs), work=work(steps), check=logged(pairs[-1:]))


@cases("quick", steps=[100])
@cases(steps=[1000])
def bench_log_kept(measure: Measure, device: Device, steps: int) -> None:
    """Keep a log on the device and leave it there."""
    pairs = draw(device, steps)
    measure(lambda: [norm(a @ b) for a, b in pairs], work=work(steps), check=logged(pairs))


@cases(steps=[1000])
def bench_wait(measure: Measure, accelerator: Device, steps: int) -> None:
    """Wait for the device at each step, bringing nothing back."""
    pairs = draw(accelerator, steps)

    def body() -> list[Tensor]:
        for a, b in pairs:
            last = norm(a @ b)
            accelerator.synchronize()
        return [last]

    measure(body, work=work(steps), check=logged(pairs[-1:]))


@cases(steps=[1000])
def bench_read_ready(measure: Measure, device: Device, steps: int) -> None:
    """Bring norms that are ready back, one by one with .item()."""
    pairs = draw(device, steps)
    ready = [norm(a @ b) for a, b in pairs]
    measure(lambda: [value.item() for value in ready], work=Work(items=steps), check=logged(pairs))


@cases(steps=[1000])
def bench_read_ready_log(measure: Measure, device: Device, steps: int) -> None:
    """Bring a log of norms that are ready back, once."""
    pairs = draw(device, steps)
    ready = [norm(a @ b) for a, b in pairs]
    measure(lambda: torch.stack(ready).tolist(), work=Work(items=steps), check=logged(pairs))


def draw(device: Device, steps: int, n: int = N) -> Pairs:
    """Return the pairs to multiply, a pool of them in turn."""
    pool = [(device.uniform(n, n), device.uniform(n, n)) for _ in range(POOL)]
    return [pool[step % POOL] for step in range(steps)]


def drop_norms(pairs: Pairs) -> list[Tensor]:
    """Run the loop without a log; return the last norm."""
    for a, b in pairs:
        last = norm(a @ b)
    return [last]


def work(steps: int, n: int = N) -> Work:
    """Count a product and the squares and sums of a norm for each step; norms are the items."""
    return Work(flops=steps * (2 * n**3 + 2 * n**2), items=steps)


def logged(pairs: Pairs) -> Callable[[Any], Check]:
    """Check the norms of the products of pairs."""
    pool = [norm(a.cpu().double() @ b.cpu().double()) for a, b in pairs[-POOL:]]
    truth = [pool[(step - len(pairs)) % len(pool)] for step in range(len(pairs))]
    return close_to(torch.stack(truth), 1e-5, "norms")
