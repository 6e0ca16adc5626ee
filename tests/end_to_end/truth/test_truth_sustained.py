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


@pytest.fixture(scope="module")
def seen() -> dict[str, float]:
    return play_warm("sampling", spec=LIMITED)


@pytest.fixture(scope="module")
def spec() -> Spec:
    return msgspec.convert(LIMITED, Spec)


@pytest.fixture(scope="module")
def product(spec: Spec) -> float:
    return spec.kernel + 2 * N**3 / spec.flops["float32"]


def test_samples_show_the_rate_of_bursts(
    seen: dict[str, float], spec: Spec, product: float
) -> None:
    assert seen["burst"] == pytest.approx(spec.launch + product + spec.synchronise, rel=EXACT)


def test_behind_queued_work_a_device_shows_its_own_time(
    seen: dict[str, float], spec: Spec, product: float
) -> None:
    assert seen["span"] == pytest.approx(spec.launch + product, rel=EXACT)
    assert seen["device"] == pytest.approx(product, rel=EXACT)
    assert seen["small"] == pytest.approx(spec.kernel + 12 * N**2 / spec.bandwidth, rel=EXACT)


def test_of_a_body_that_waits_for_its_device_no_such_time_is_claimed(
    seen: dict[str, float],
) -> None:
    assert seen["reading back"] == 0


def test_a_window_shows_the_rate_that_is_sustained(seen: dict[str, float], product: float) -> None:
    assert seen["sustained"] == pytest.approx(product / SLOWER, rel=EXACT)
