# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 (a program, not part of a package)
"""Where a large product on a device is compared with the truth, and what is seen; run by the tests.

``python -m checking`` prints for each product whether it passed, and what its device launched.
"""

import json
from typing import Any

import torch
from scenes import FIRST, sim  # type: ignore[import-not-found]  # it lies beside

from frobench.suite.kit.check_result import freivalds
from frobench.suite.kit.device import Device

N = 1100


def main() -> None:
    """Check a right product, one without an entry, and one of rounded factors."""
    device = Device(FIRST)
    a, b = device.uniform(N, N), device.uniform(N, N)
    right = a @ b
    lacking = right.clone()
    lacking[17, 23] = 0.0
    narrow = (a.bfloat16() @ b.bfloat16()).float()
    seen: dict[str, Any] = {}
    for name, product in (("right", right), ("lacking", lacking), ("narrow", narrow)):
        torch.get_device_module(FIRST).synchronize(FIRST)
        before = sim.account(FIRST).launches
        passed = freivalds(a, b)(product).passed
        seen[name] = [passed, sim.account(FIRST).launches - before]
    print(json.dumps(seen))  # noqa: T201


if __name__ == "__main__":
    main()
