# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 (a program, not part of a package)
"""How a simulated device is sampled: in single calls, and on end; run by the tests.

``python -m sampling`` prints what each way takes for a call of one product, in seconds.
"""

import json
import time

import torch
from scenes import FIRST  # type: ignore[import-not-found]  # it lies beside

from frobench.suite.kit.device import Device
from frobench.suite.measure.timed_loop import Sampler, blocker
from frobench.suite.profiles import settings_for

N = 256


def main() -> None:
    """Sample a product, and repeat it."""
    device = Device(FIRST)
    a, b = device.uniform(N, N), device.uniform(N, N)
    block = blocker(device, time.perf_counter)
    sampler = Sampler(lambda: torch.mm(a, b), [device], blocker=block)
    small = Sampler(lambda: a + b, [device], blocker=block)
    reading = Sampler(lambda: torch.mm(a, b).sum().item(), [device], blocker=block)
    settings = settings_for("quick", [FIRST])
    seen = sampler.run(settings)
    window = sampler.repeat()
    sustained = window.seconds / window.calls
    small_parts, reading_parts = (one.run(settings).parts for one in (small, reading))
    times = {"burst": min(seen.samples), "sustained": sustained, **seen.parts}
    times["small"] = small_parts["device"]
    times["reading back"] = reading_parts.get("device", 0.0)
    print(json.dumps(times))  # noqa: T201


if __name__ == "__main__":
    main()
