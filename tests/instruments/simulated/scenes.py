# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 (a program, not part of a package)
"""What a program does with simulated devices, and what it sees; run by the tests.

``python -m scenes NAME...`` plays scenes and prints what each returns as one JSON object.
They use what PyTorch offers for any accelerator; only ``account`` is the simulation's own.
"""

import copy
import json
import sys
import threading
from collections.abc import Callable
from time import perf_counter, sleep
from typing import Any

import torch

TYPE = torch._C._get_privateuse1_backend_name()
FIRST, SECOND = f"{TYPE}:0", f"{TYPE}:1"
sim: Any = torch.get_device_module(TYPE)


def random(*shape: int) -> torch.Tensor:
    """Return the same numbers between -1 and 1 at every call."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(1)) * 2 - 1


def product(device: str, n: int = 512) -> tuple[float, float]:
    """Multiply two matrices and return when the device did, without waiting for it."""
    a = random(n, n).to(device)
    _ = a @ a
    return last(device)


def last(device: str) -> tuple[float, float]:
    """Return when a device began and ended its last operation."""
    work = sim.account(device).recent[-1]
    return work.begin, work.end


def refusal(action: Callable[[], object]) -> list[str]:
    """Return the kind and the words of the error that an action raises, if it does."""
    try:
        action()
    except Exception as error:  # noqa: BLE001 (whatever it is, the test judges it)
        return [type(error).__name__, str(error)]
    return []


def presence() -> dict[str, object]:
    """Look around as a program does that has never heard of the device."""
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    return {
        "accelerator": accelerator and accelerator.type,
        "count": torch.accelerator.device_count(),
        "name": sim.get_device_name(0) if sim.device_count() else None,
        "third": refusal(lambda: torch.empty(1, device=f"{TYPE}:2")),
    }


def values() -> dict[str, float]:
    """Compute on the device and on the CPU; return the largest differences."""
    a, b = random(40, 50), random(50, 40)
    x, y = a.to(FIRST), b.to(FIRST)
    changed, kept = x.clone(), x * 2
    row = changed[3]
    row.zero_()
    changed += 1
    expected = a.clone()
    expected[3] = 0
    pairs = {
        "product": (x @ y, a @ b),
        "short floats": ((x.bfloat16() @ y.bfloat16()).float(), a.bfloat16().float() @ b),
        "batch": (torch.bmm(x.expand(3, 40, 50), y.expand(3, 50, 40))[2], a @ b),
        "norm": (torch.linalg.matrix_norm(x), torch.linalg.matrix_norm(a)),
        "in place, through a view": (changed, expected + 1),
        "read before it was changed": (kept, a * 2),
        "list": (torch._foreach_add([x, x], 1.0)[1], a + 1),
        "joined": (torch.cat([x.flatten(), y.flatten()]), torch.cat([a.flatten(), b.flatten()])),
        "other device": (x.to(SECOND) * 3, a * 3),
        "condition": (x[x > 0], a[a > 0]),
        "shared": (x.to(FIRST, copy=True).copy_(a * 5), a * 5),
    }
    return {name: (got.cpu() - want).abs().max().item() for name, (got, want) in pairs.items()}


def training() -> list[list[float]]:
    """Train a small network on each device in a thread of its own, and on the CPU."""

    def train(device: str) -> None:
        torch.manual_seed(0)
        network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
        network.load_state_dict(weights)
        network.to(device)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
        inputs, truth = random(16, 4).to(device), random(16, 1).to(device)
        for _ in range(5):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(network(inputs), truth)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        moved = copy.deepcopy(network).to(SECOND)
        losses[device] = [loss.item(), sum(p.sum().item() for p in moved.parameters())]

    weights = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)
    ).state_dict()
    losses: dict[str, list[float]] = {}
    threads = [threading.Thread(target=train, args=(name,)) for name in (FIRST, SECOND, "cpu")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [losses["cpu"], losses[FIRST], losses[SECOND]]


def durations() -> dict[str, float]:
    """Return how long the device took for one operation of each kind, by its own account."""
    matrix = random(256, 256)
    pinned = matrix.pin_memory()
    there = matrix.to(FIRST)
    buffer = torch.empty_like(matrix).pin_memory()
    actions: dict[str, Callable[[], object]] = {
        "product": lambda: there @ there,
        "short product": lambda: there.bfloat16() @ there.bfloat16(),
        "addition": lambda: there + there,
        "from pageable": lambda: there.copy_(matrix),
        "from pinned": lambda: there.copy_(pinned),
        "to pageable": lambda: there.to("cpu"),
        "to pinned": lambda: buffer.copy_(there),
        "to the other": lambda: there.to(SECOND),
    }
    seconds = {}
    for name, action in actions.items():
        action()
        sim.synchronize(FIRST)
        begin, end = last(FIRST)
        seconds[name] = end - begin
    return seconds


def waiting() -> dict[str, object]:
    """Launch a long product; see what is known before and after waiting for it."""
    begin, end = sim.Event(enable_timing=True), sim.Event(enable_timing=True)
    queued = sim.Event(enable_timing=True)
    sim.set_device(0)
    a = random(512, 512).to(FIRST)
    begin.record()
    _ = a @ a
    queued.record()
    _ = a @ a
    end.record()
    early = end.query()
    too_early = refusal(lambda: begin.elapsed_time(end))
    sim.synchronize(SECOND)
    after_the_other = end.query()
    sim.synchronize(FIRST)
    now = perf_counter()
    return {
        "early": early,
        "too early": too_early,
        "after the other": after_the_other,
        "late": end.query(),
        "waited until the end": now >= last(FIRST)[1],
        "queued": queued.elapsed_time(end),
        "all": begin.elapsed_time(end),
    }


def reading() -> dict[str, bool]:
    """Read results back in every way; each must have waited for the device."""
    a = random(64, 64).to(FIRST)
    waited = {}
    ways: dict[str, Callable[[torch.Tensor], object]] = {
        "item": lambda result: result[0, 0].item(),
        "cpu": lambda result: result.cpu(),
        "list": lambda result: result.tolist(),
        "print": str,
        "copy": lambda result: torch.empty(64, 64).copy_(result),
    }
    for name, way in ways.items():
        result = a @ a
        end = last(FIRST)[1]
        way(result)
        waited[name] = perf_counter() >= end
    return waited


def overlaps() -> dict[str, float]:
    """Return the seconds in which two products ran at once, by where and how they ran."""

    def together(one: tuple[float, float], other: tuple[float, float]) -> float:
        return max(0.0, min(one[1], other[1]) - max(one[0], other[0]))

    both = product(FIRST), product(SECOND)
    sim.synchronize(FIRST)
    sim.synchronize(SECOND)
    first = product(FIRST)
    sim.synchronize(FIRST)
    second = product(SECOND)
    side = sim.Stream(device=FIRST)
    main = product(FIRST)
    pinned = random(1 << 20).pin_memory()
    with side:
        aside = product(FIRST)
        moved = pinned.to(FIRST, non_blocking=True)
    copied = last(FIRST)
    sim.synchronize(FIRST)
    return {
        "two devices": together(*both),
        "two devices in sequence": together(first, second),
        "two streams": together(main, aside),
        "copy after product on its stream": together(aside, copied),
        "error": (moved.cpu() - pinned).abs().max().item(),
    }


def read_back_without_waiting() -> dict[str, bool]:
    """Copy to pinned memory without waiting, and look before and after waiting."""
    there = random(1000).to(FIRST)
    sim.synchronize(FIRST)
    here = there.to("cpu", non_blocking=True)
    sleep(0.05)  # the copy has long ended, but nobody has asked
    before = torch.equal(here, random(1000))
    sim.synchronize(FIRST)
    return {"before": before, "after": torch.equal(here, random(1000))}


def memory() -> dict[str, object]:
    """Fill a device; see what it says, and that the rest of it still works."""
    free, total = sim.mem_get_info(FIRST)
    half = torch.empty(total // 8, device=FIRST)
    refused = refusal(lambda: torch.empty(total // 4, device=FIRST))
    peak = sim.max_memory_allocated(FIRST)
    taken = half.nbytes
    result = half[:10] + 1
    del half
    return {
        "refusal": refused,
        "peak": peak - (total - free) - taken,
        "left": free - sim.mem_get_info(FIRST)[0] - result.nbytes,
    }


def mistakes() -> dict[str, list[str]]:
    """Do what an accelerator does not allow."""
    here, there, elsewhere = random(3, 3), random(3, 3).to(FIRST), random(3, 3).to(SECOND)
    return {
        "host and device": refusal(lambda: here @ there),
        "two devices": refusal(lambda: there + elsewhere),
        "numpy": refusal(there.numpy),
        "shapes": refusal(lambda: there @ there[:2]),
    }


def graphs() -> dict[str, object]:
    """Record three operations, and replay them on other numbers; read while recording."""
    given, state = random(8, 8).to(FIRST), torch.zeros(8, 8, device=FIRST)
    graph = sim.CUDAGraph()
    before = sim.account(FIRST).launches
    graph.capture_begin()
    product = given @ given
    state += product
    refused = refusal(product.tolist)
    graph.capture_end()
    recorded = sim.account(FIRST).launches - before
    other = random(8, 8) * 3
    given.copy_(other)
    begin = perf_counter()
    graph.replay()
    graph.replay()
    host = perf_counter() - begin
    return {
        "refused": refused,
        "launched while recording": recorded,
        "host": host,
        "product": (product.cpu() - other @ other).abs().max().item(),
        "state": (state.cpu() - 2 * (other @ other)).abs().max().item(),
    }


def lower_precision() -> list[str]:
    """Multiply and add with autocast, and go back through it."""
    a = random(4, 8).to(FIRST).requires_grad_()
    with torch.autocast(TYPE, torch.bfloat16):
        product = torch.nn.functional.linear(a, a)
        total = a + a
    (gradient,) = torch.autograd.grad(product.float().sum(), [a])
    return [str(one.dtype) for one in (product, total, gradient)]


def play(scenes: dict[str, Callable[[], object]]) -> None:
    """Play the scenes that the command line names, and print what they return."""
    seen = {name: scenes[name]() for name in sys.argv[1:]}
    print(json.dumps(seen))  # noqa: T201 (the result)


if __name__ == "__main__":
    play(globals())
