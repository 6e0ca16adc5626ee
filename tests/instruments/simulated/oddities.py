# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 (a program, not part of a package)
"""What a program sees of devices that are not quite as they should be; run by the tests.

``python -m oddities NAME...`` plays them as `scenes` does.
"""

import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from scenes import (  # type: ignore[import-not-found]  # it lies beside this one when run
    FIRST,
    SECOND,
    last,
    play,
    random,
    refusal,
    sim,
)


def loss() -> dict[str, object]:
    """Use a device until it is lost."""
    a = random(8, 8).to(FIRST)
    used = 0
    refused: list[str] = []
    while not refused:
        refused = refusal(lambda: a @ a)
        used += not refused
    return {
        "used": used,
        "refusal": refused,
        "waiting": refusal(lambda: sim.synchronize(FIRST)),
        "other device": refusal(lambda: random(8, 8).to(SECOND)),
    }


def first_launches() -> dict[str, list[float]]:
    """Return the seconds of the host in the first and the second launch of each kind."""
    there, buffer = torch.empty(8, 8, device=FIRST), random(8, 8).pin_memory()
    elsewhere = torch.empty(8, 8, device=SECOND)

    def took(action: Callable[[], object]) -> float:
        begin = time.perf_counter()
        action()
        return time.perf_counter() - begin

    actions: dict[str, Callable[[], object]] = {
        "product": lambda: there @ there,
        "product on the other": lambda: elsewhere @ elsewhere,
        "addition": lambda: there + there,
        "copy from host": lambda: there.copy_(buffer, non_blocking=True),
        "copy to host": lambda: buffer.copy_(there, non_blocking=True),
        "copy to the other": lambda: elsewhere.copy_(there),
    }
    return {name: [took(action) for _ in range(2)] for name, action in actions.items()}


def marks() -> dict[str, list[float]]:
    """Return the seconds of the host in recording an event, in launching, and in both events."""
    there = torch.zeros(8, 8, device=FIRST)
    there.zero_()
    sim.synchronize(FIRST)
    begin, end = sim.Event(enable_timing=True), sim.Event(enable_timing=True)
    moments = [time.perf_counter()]
    for action in (begin.record, there.zero_, end.record):
        action()
        moments.append(time.perf_counter())
    sim.synchronize(FIRST)
    spent = [after - before for before, after in pairwise(moments)]
    return {"host": spent, "device": [begin.elapsed_time(end) / 1e3]}


def cached() -> dict[str, float]:
    """Return the seconds of one and the same addition, by what was done before it."""
    a, b, other = (random(128, 128).to(FIRST) for _ in range(3))
    large = torch.empty(2 * sim.get_device_properties(FIRST).L2_cache_size // 4, device=FIRST)

    def added() -> float:
        _ = a + b
        begin, end = last(FIRST)
        return float(end - begin)

    def work() -> None:
        for _ in range(50):
            _ = other + 1

    def after(action: Callable[[], object]) -> float:
        action()
        return added()

    return {
        "nothing": added(),
        "itself": added(),
        "another that fits": after(other.zero_),
        "many that are gone": after(work),
        "a large write": after(large.zero_),
    }


def peaks() -> dict[str, list[int]]:
    """Return the memory taken on each device, and the most of it, before and after work."""

    def seen() -> list[int]:
        both = (FIRST, SECOND)
        return [ask(name) for name in both for ask in (sim.memory_allocated, most)]

    most = sim.max_memory_allocated
    stages = {"at first": seen()}
    kept = torch.empty(1000, dtype=torch.uint8, device=FIRST)
    _ = kept * 2
    del _
    stages["after work"] = seen()
    sim.reset_peak_memory_stats(FIRST)
    stages["after the reset"] = seen()
    return stages


def imports() -> list[str]:
    """Compute, and tell what of PyTorch's largest parts had to be imported for it."""
    a = random(3, 3).to(FIRST)
    ((a @ a + a).sum() / 2).item()
    parts = "torch._dynamo", "torch.distributed.tensor", "torch.utils._sympy.functions", "sympy"
    return [name for name in parts if name in sys.modules]


def least() -> dict[str, Any]:
    """Use a backend that offers no more than it must, and tell what it offers."""
    a = random(100, 100)
    sim.set_device(1)
    there = a.to(SECOND)
    begin = time.perf_counter()
    result = there @ there
    torch.accelerator.current_stream(SECOND).synchronize()
    refusal(lambda: torch.accelerator.synchronize(SECOND))  # or no error, by release
    moments = [time.perf_counter()]
    result[0, 0].item()
    moments.append(time.perf_counter())
    return {
        "offers": [name for name in dir(sim) if not name.startswith("_")],
        "current": sim.current_device(),
        "seconds": [moment - begin for moment in moments],
        "generator": torch.Generator(SECOND).initial_seed() > 0,
        "drawing": refusal(lambda: torch.rand(1, generator=torch.Generator(SECOND), device=SECOND)),
        "error": (result.cpu() - a @ a).abs().max().item(),
        "accelerators": torch.accelerator.device_count(),
        "context": refusal(lambda: sim.device(FIRST)),
    }


def lazy() -> dict[str, Any]:
    """Use a backend that computes what is read, and nothing else."""
    a = random(512, 512)
    there = a.to(FIRST)
    results: list[torch.Tensor] = []
    actions: list[Callable[[], object]] = [
        lambda: results.append(there @ there),
        lambda: sim.synchronize(FIRST),
        lambda: results[0].as_strided((), ()).item(),
        lambda: results[0].as_strided((), ()).item(),
    ]
    moments = [time.perf_counter()]
    for action in actions:
        action()
        moments.append(time.perf_counter())
    _ = there @ there  # nobody reads it
    return {
        "seconds": [after - before for before, after in pairwise(moments)],
        "error": (results[0].cpu() - a @ a).abs().max().item(),
    }


def hang() -> None:
    """Wait for a device that never ends."""
    a = torch.empty(8, 8, device=FIRST)
    for _ in range(3):
        a.zero_()
    print("launched", flush=True)  # noqa: T201 (the test waits for this)
    sim.synchronize(FIRST)


if __name__ == "__main__":
    play(globals())
