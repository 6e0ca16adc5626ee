# SPDX-License-Identifier: MIT
"""What is known of devices without a datasheet, and that no honest figure is above it."""

import math
import re

import pytest
from msgspec.structs import replace

from frobench.reports.run import published
from frobench.suite.checks import ceilings, doubts, plausibility, rule
from frobench.suite.datasheets import catalog, generations
from frobench.suite.stored.types import Accelerator, Run
from tests.instruments.faults.judging import keep
from tests.instruments.faults.spoiling import good, last, name_anew, product, sense
from tests.instruments.runs import factory_machine

GUIDE = {
    "6.0": (64, 32),
    "6.1": (128, 4),
    "7.0": (64, 32),
    "7.5": (64, None),
    "8.0": (64, None),
    "8.6": (128, 2),
    "8.9": (128, None),
    "9.0": (128, None),
}
"""Results of 32-bit and of 64-bit multiply-adds on CUDA cores in a clock of a multiprocessor.
Source: CUDA C++ Programming Guide, throughput of native arithmetic instructions. Products in
float64 use tensor cores on 8.0 and 9.0."""


def device(name: str, **facts: object) -> Accelerator:
    """Return an accelerator of which no more is known."""
    known = factory_machine.environment(None, 1).accelerators[0]
    nothing = dict.fromkeys(("memory_bytes", "capability", "multiprocessors", "max_clock_hz"))
    return replace(known, name=name, **(nothing | facts))


@pytest.mark.parametrize("capability", GUIDE)
def test_the_catalog_agrees_with_the_programming_guide(capability: str) -> None:
    one = device("NVIDIA Graphics Device", capability=capability, multiprocessors=10)
    for precision, results in zip(("float32", "float64"), GUIDE[capability], strict=True):
        bound = generations.peak(one, precision, 1e9)
        assert bound is not None
        assert bound.known
        if results:
            assert bound.rate == pytest.approx(10 * 1e9 * 2 * results, rel=0.03)


def test_the_generation_of_every_device_of_nvidia_and_amd_is_known() -> None:
    for name, figures in catalog.devices().items():
        found = [one for one in generations.CAPABILITIES if re.search(one, name)]
        vendor = next(iter(figures.values())).vendor
        assert len(found) == (vendor in {"NVIDIA", "AMD"}), name


@pytest.mark.parametrize(
    ("facts", "precision", "rate", "known"),
    [
        ({"capability": "8.9", "multiprocessors": 24}, "bfloat16", 24 * 2e9 * 1024, True),
        ({"capability": "12.1", "multiprocessors": 48}, "bfloat16", 48 * 2e9 * 1024, True),
        ({"capability": "7.5", "multiprocessors": 40}, "bfloat16", 40 * 2e9 * 1024, True),
        ({"capability": "gfx942:xnack-", "multiprocessors": 38}, "float16", 38 * 2e9 * 2048, True),
        ({"capability": "gfx1151", "multiprocessors": 20}, "float16", 20 * 2e9 * 1024, True),
        ({"capability": "13.0", "multiprocessors": 100}, "float32", 100 * 2e9 * 256, False),
        ({"type": "xpu", "multiprocessors": 128}, "bfloat16", 128 * 2e9 * 512, False),
    ],
)
def test_units_and_clock_say_what_a_device_can_do(
    facts: dict[str, object],
    precision: str,
    rate: float,
    known: bool,  # noqa: FBT001 - a fact
) -> None:
    bound = generations.peak(device("Another", **facts), precision, 2e9)
    assert bound is not None
    assert bound.rate == pytest.approx(rate, rel=0.03)
    assert bound.known == known


def test_without_units_nothing_is_known_and_without_a_clock_it_is_that_of_listed_cards() -> None:
    assert generations.peak(device("Another", capability="8.9"), "float32", 2e9) is None
    one = device("Another", capability="6.0", multiprocessors=56)
    bound = generations.peak(one, "float32", None)
    assert bound is not None
    assert bound.rate == pytest.approx(generations.SEEN_BOOST * 10.6e12, rel=0.03)  # P100-SXM2


@pytest.mark.parametrize(
    ("name", "facts", "mebibytes"),
    [
        ("NVIDIA GeForce RTX 2070 SUPER", {}, 4),
        ("AMD Instinct MI300X", {}, 256),  # behind an L2 of 32 MiB
        ("AMD Radeon RX 7900 XTX", {}, 96),
        ("AMD Instinct MI210", {}, 8),
        ("NVIDIA Graphics Device", {"capability": "8.6"}, 6),
        ("NVIDIA GB10", {"capability": "12.1"}, 128),
        ("Another", {"capability": "13.0"}, 256),
        ("Apple M3 Max", {"type": "mps"}, 256),
    ],
)
def test_a_devices_last_cache_is_its_own_or_its_generations(
    name: str, facts: dict[str, object], mebibytes: int
) -> None:
    run = good()
    run.frobench.environment.accelerators = [replace(device(name, **facts), type="cuda", index=0)]
    one = run.frobench.environment.accelerators[0]
    one.type = str(facts.get("type", "cuda"))
    known = ceilings.find_sheet(one)
    own = catalog.last_level_cache(known.figures) if known else None
    found = own or generations.last_level_cache(one) or ceilings.LARGEST_CACHE
    assert found == mebibytes * 2**20


def test_no_published_product_is_refused_or_doubted() -> None:
    """Each is put into a run on a device of its name, of whose clock nothing is known."""
    refused = {*rule.rules(plausibility), *rule.rules(doubts)} - {"longer-than-allowed"}
    judged = 0
    for row in published.read():
        if row.quantity != "matmul":
            continue
        run = multiplied(row.device.removesuffix(" GPU"), row.precision, row.value)
        found = [
            (one.code, row.device, one.message)
            for one in rule.conclusions(run, plausibility, doubts)
            if one.code in refused and one.case
        ]
        assert found == []
        judged += 1
    assert judged > 200


def multiplied(name: str, precision: str, rate: float) -> Run:
    """Return a run in which a large product in a precision has so many operations a second."""
    run = good()
    one = product(run, 16384, "float32")
    keep(run, lambda other: other is one)
    name_anew(run, one, dtype=precision)
    told = run.frobench.environment
    told.accelerators = [replace(device(name), type="cuda", index=0)]
    last(run, 2.0 * 16384**3 / rate, one)
    assert math.isclose(one.stats.median, 2.0 * 16384**3 / rate)
    return run


@pytest.mark.parametrize(
    ("clock_hz", "doubted"),
    [(345e6, False), (1.98e9, False), (1.2e9, True)],
)
def test_a_clock_that_was_read_at_rest_makes_no_product_doubtful(
    clock_hz: float,
    doubted: bool,  # noqa: FBT001 - a fact
) -> None:
    """A product at 80% of the peak of an H200; readings of short cases fall between their calls."""
    run = good()
    one = product(run)
    keep(run, lambda other: other is one)
    last(run, 2.0 * 16384**3 / (0.8 * 67e12), one)
    sense(one, "sm_clock_hz", 345e6, min(clock_hz, 345e6), clock_hz)
    codes = {found.code for found in rule.conclusions(run, doubts)}
    assert ("near-peak" in codes) == doubted
