# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 (a program, not part of a package)
"""What bodies of benchmarks wait for, and what their devices do in a call; run by the tests.

``python -m waits`` prints for each body how often a call waited for each device, and when the
first device did what.
"""

import json
from collections.abc import Callable
from typing import Any

from scenes import FIRST, SECOND, sim  # type: ignore[import-not-found]  # it lies beside

from frobench.suite.kit.device import Device
from tests.instruments.processes.alone import BENCHMARKS, load

STEPS = 4
DEVICES = FIRST, SECOND


def called(body: Callable[[], object]) -> dict[str, Any]:
    """Call a body once, on devices that have no other work."""
    accounts = [sim.account(name) for name in DEVICES]
    for name in DEVICES:
        Device(name).synchronize()  # which tries at first how it can wait
    before = [account.synchronisations for account in accounts]
    accounts[0].recent.clear()
    body()
    waits = [one.synchronisations - had for one, had in zip(accounts, before, strict=True)]
    return {"waits": waits, "works": [*accounts[0].recent]}


def measured(exercise: str, function: str, **arguments: object) -> dict[str, Any]:
    """Call the body of a benchmark once."""
    module: Any = load(BENCHMARKS / f"bench_{exercise}.py")
    module.STEPS = STEPS
    seen: dict[str, Any] = {}

    def measure(
        body: Callable[[], object], *, before: Callable[[], object] | None = None, **_: object
    ) -> None:
        if before is not None:
            before()
        seen.update(called(body))

    getattr(module, f"bench_{function}")(measure, **arguments)
    return seen


def main() -> None:
    """Call the bodies that say that they wait."""
    first, second = map(Device, DEVICES)
    loop = {"accelerator": first, "steps": STEPS}
    loaded = {"accelerator": first, "network": "small", "batch": 64, "memory": "prefetched"}
    sharing: Any = load(BENCHMARKS / "sharing.py")
    step, _, _ = sharing.in_worker(first, "small", 64)
    seen = {
        "wait": measured("norm_logging", "wait", **loop),
        "pinned": measured("norm_logging", "pinned", **loop),
        "in_turn": measured("parallel_matmul", "in_turn", devices=[first, second], n=64),
        "in_worker": called(step),
        "prefetched": measured("loss_reporting", "loading", **loaded),
    }
    print(json.dumps(seen))  # noqa: T201


if __name__ == "__main__":
    main()
