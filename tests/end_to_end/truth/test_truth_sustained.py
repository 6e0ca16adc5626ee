# SPDX-License-Identifier: MIT
"""What is seen of a chip that its power limits is what the simulated chip is made to be.

The samples are taken in the simulation's own time (see `test_truth.py`).
"""

import msgspec
import pytest

from tests.instruments.devices.measured import EXACT, STRANGE
from tests.instruments.processes.stage import play_warm
from tests.instruments.simulated.simulated_accelerator.spec import Spec

N, SLOWER = 256, 0.8
LIMITED = STRANGE | {
    "flops": {"float32": 20e9},
    "faults": {"load_limit": 0.2, "limited_speed": SLOWER},
}


def test_bursts_and_what_is_sustained_are_told_apart_and_a_devices_own_time_from_waiting() -> None:
    spec = msgspec.convert(LIMITED, Spec)
    product = spec.kernel + 2 * N**3 / spec.flops["float32"]
    truths = {
        "burst": spec.launch + product + spec.synchronise,
        "span": spec.launch + product,
        "device": product,  # behind queued work
        "small": spec.kernel + 12 * N**2 / spec.bandwidth,
        "reading back": 0,  # of a body that waits for its device no such time is claimed
        "sustained": product / SLOWER,
    }
    seen = play_warm("sampling", spec=LIMITED)
    assert {name: seen[name] for name in truths} == {
        name: pytest.approx(truth, rel=EXACT, abs=0) for name, truth in truths.items()
    }
