# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 (a program, not part of a package)
"""How a simulated device is sampled: in single calls, and on end; run by the tests.

``python -m sampling`` prints what each way takes for a call of one product, in seconds.
"""

import json

import torch
from scenes import FIRST  # type: ignore[import-not-found]  # it lies beside

from suite.devices import Device
from suite.profiles import settings_for
from suite.timing import Sampler, measure
from suite.windows import repeat

N = 256


def main() -> None:
    """Sample a product, and repeat it."""
    device = Device(FIRST)
    a, b = device.uniform(N, N), device.uniform(N, N)
    sampler = Sampler(lambda: torch.mm(a, b), [device])
    settings = settings_for("quick", [FIRST])
    seen = measure(sampler, settings)
    window, _ = repeat(sampler)
    sustained = window.seconds / window.calls
    parts = seen.part_medians()
    print(json.dumps({"burst": min(seen.host), "sustained": sustained, **parts}))  # noqa: T201


if __name__ == "__main__":
    main()
