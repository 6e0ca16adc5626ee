# SPDX-License-Identifier: MIT
"""Datasheet and published figures: each has its source, and none is beyond what a device can do."""

import re

import pytest
from msgspec.structs import replace

from frobench.suite.checks import plausibility, rule, too_good
from frobench.suite.datasheets import catalog, published
from frobench.suite.datasheets.catalog import NotInCatalogError
from frobench.suite.stored.types import Accelerator
from tests.instruments.catalog_rules import faults
from tests.instruments.faults.judging import keep
from tests.instruments.faults.published_figures import device_of, multiplied
from tests.instruments.faults.spoiling import good, last, product, sense
from tests.instruments.runs import factory_machine
from tests.instruments.runs.made_up import capability_of

GIB = 2**30
NAMES = [
    *("NVIDIA GeForce RTX 3080", "NVIDIA GeForce RTX 3080 Ti", "NVIDIA GeForce RTX 4090 D"),
    *("NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 5090 D v2", "NVIDIA RTX A2000"),
    *("NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe", "A100-SXM4-40GB", "NVIDIA H100 PCIe"),
    *("NVIDIA H100 80GB HBM3", "NVIDIA H100 NVL", "NVIDIA H200", "NVIDIA GB200", "NVIDIA L40S"),
    *("Tesla V100S-PCIE-32GB", "NVIDIA Tesla T4", "AMD Instinct MI250X", "Instinct MI300X"),
    *("AMD Instinct MI300X VF", "AMD Radeon RX 7900 XT", "Intel(R) Arc(TM) B580 Graphics"),
]
"""What torch calls some devices, many of them the beginning of another's name."""
OTHERS = [
    *("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA GeForce RTX 2080 with Max-Q Design", ""),
    *("NVIDIA GeForce RTX 4090 Laptop GPU MIG", "NVIDIA H100 80GB HBM3 MIG 3g.40gb"),
]


def device(
    name: str, memory_bytes: int | None = None, multiprocessors: int | None = None
) -> Accelerator:
    """Return an accelerator of which no more is known."""
    known = factory_machine.environment(None, 1).accelerators[0]
    return replace(known, name=name, memory_bytes=memory_bytes, multiprocessors=multiprocessors)


def test_the_catalog_is_large_and_faultless() -> None:
    assert len({row.device for row in catalog.read()}) >= 100
    assert list(faults(catalog.read())) == []


def test_patterns_are_disjoint_and_leave_out_parts_of_devices() -> None:
    patterns = {row.torch_name for row in catalog.read()}
    for name in NAMES:
        assert len([one for one in patterns if re.search(one, name)]) == 1, name
    for name in OTHERS:
        assert not any(re.search(one, name) for one in patterns), name


def test_memory_and_multiprocessors_tell_devices_of_one_name_apart() -> None:
    name, smaller = "NVIDIA GeForce RTX 3080", int(8.81 * GIB)
    for memory, units in ((smaller, 68), (None, 68), (smaller, None)):
        assert catalog.sheet(device(name, memory, units)).devices == ("GeForce RTX 3080",)
    assert catalog.sheet(device(name, int(12.2 * GIB), 70)).devices == ("GeForce RTX 3080 12GB",)
    for memory, units in ((int(8.79 * GIB), 68), (int(12.3 * GIB), 70), (None, 71)):
        with pytest.raises(NotInCatalogError, match="not those of the catalog's GeForce RTX 3080"):
            catalog.sheet(device(name, memory, units))


def test_where_nothing_tells_devices_apart_only_what_they_share_counts() -> None:
    both = catalog.sheet(device("NVIDIA GeForce RTX 3060 Ti", 8 * GIB, 38))
    assert both.devices == ("GeForce RTX 3060 Ti", "GeForce RTX 3060 Ti GDDR6X")
    assert catalog.peak(both, "bfloat16").rate == pytest.approx(32.39e12)
    neither = r"no memory bandwidth of GeForce RTX 3060 Ti or .* GDDR6X"
    with pytest.raises(NotInCatalogError, match=neither):
        catalog.memory_bandwidth(both)


def test_a_peak_is_of_the_datasheets_clock_unless_another_was_seen() -> None:
    known = catalog.sheet(device("NVIDIA H200"))
    printed, seen = (catalog.peak(known, "bfloat16", clock) for clock in (None, 912.36e6))
    assert printed.rate == 989e12
    assert printed.name == seen.name == "the datasheet's dense bfloat16 peak"
    assert printed.figure == "989 TFLOP/s at a boost clock of 1.83 GHz"
    assert seen.rate == pytest.approx(989e12 * 912.36 / 1830)
    assert seen.figure == "493 TFLOP/s at the 912.4 MHz that were seen"
    assert (printed.clock_hz, seen.clock_hz) == (1.83e9, 912.36e6)
    assert catalog.peak(known, "int8").figure == "1.98 Pop/s at a boost clock of 1.83 GHz"


def test_a_peak_is_that_of_the_units_which_products_use_and_none_where_there_are_none() -> None:
    known = catalog.sheet(device("NVIDIA A100-SXM4-40GB"))
    assert catalog.peak(known, "float64").rate == pytest.approx(19.5e12)  # 9.7 without tensor cores
    with pytest.raises(NotInCatalogError, match="no peak float8_e4m3fn of A40"):
        catalog.peak(catalog.sheet(device("NVIDIA A40")), "float8_e4m3fn")


@pytest.mark.parametrize(
    ("generation", "lanes", "rate"),
    [
        *((1, 16, 4e9), (2, 1, 0.5e9), (3, 16, 15.753846153846e9), (4, 8, 15.753846153846e9)),
        *((5, 16, 63.015384615385e9), (6, 16, 121e9)),
    ],
)
def test_a_link_carries_what_its_encoding_leaves(generation: int, lanes: int, rate: float) -> None:
    assert catalog.pcie_rate(generation, lanes) == pytest.approx(rate, rel=1e-11)


def test_the_link_is_that_under_load_and_as_wide_as_it_is() -> None:
    idle = replace(device("NVIDIA L4"), pcie_generation=1, pcie_generation_max=4, pcie_width=8)
    assert catalog.host_link(idle).rate == pytest.approx(15.754e9, rel=1e-4)
    assert catalog.host_link(idle).figure == "15.8 GB/s, PCIe 4.0 x8"
    for known in ({"pcie_width": None}, {"pcie_generation_max": None}):
        with pytest.raises(NotInCatalogError, match="no rate is known"):
            catalog.host_link(replace(idle, **known))
    assert catalog.host_link(device("NVIDIA GH200 480GB")).rate == 450e9  # a link of its own


def test_the_last_cache_is_the_l2_where_nothing_is_behind_it() -> None:
    names = "GeForce RTX 4090", "Arc B580", "Instinct MI300X", "Radeon RX 9070 XT"
    known = [catalog.devices()[name] for name in names]
    caches = [catalog.last_level_cache(figures) for figures in (*known, {})]
    assert caches == [72 * 2**20, 18 * 2**20, 256 * 2**20, 64 * 2**20, None]
    assert catalog.last_level_cache({"l2_bytes": known[-1]["l2_bytes"]}) is None


ROUNDED = 1.03


def test_no_listed_device_is_above_its_generation() -> None:
    for name, figures in catalog.devices().items():
        capability = capability_of(name)
        if capability is None:
            assert next(iter(figures.values())).vendor in {"Intel", "Apple"}, name
            continue
        most = catalog.generations()[capability]
        values = {what: figure.value for what, figure in figures.items()}
        assert values.get("memory_bandwidth", 0.0) <= ROUNDED * most.memory, name
        assert values.get("peer_bandwidth", 0.0) <= most.peer, name
        for quantity, figure in figures.items():
            clock = figure.clock_hz or values.get("boost_clock")
            if quantity.startswith("peak_") and clock and "multiprocessors" in values:
                done = figure.value / values["multiprocessors"] / clock
                precision = quantity.removeprefix("peak_")
                assert done <= ROUNDED * most.operations(precision), (name, quantity)


@pytest.mark.parametrize(
    ("facts", "precision", "rate", "named"),
    [
        ({"capability": "7.5", "multiprocessors": 40}, "float16", 40 * 2e9 * 1024, True),
        ({"capability": "gfx942:xnack-", "multiprocessors": 38}, "float16", 38 * 2e9 * 2048, True),
        ({"capability": "8.9", "multiprocessors": 24}, "float64", 24 * 2e9 * 256, True),
        ({"capability": "8.9", "multiprocessors": None}, "float16", 2.5e15, True),
        ({"capability": "14.0", "multiprocessors": 100}, "float32", 100 * 2e9 * 256, False),
    ],
)
def test_units_and_clock_say_what_a_device_without_a_datasheet_can_do(
    facts: dict[str, object], precision: str, rate: float, *, named: bool
) -> None:
    device = replace(device_of("Another"), max_clock_hz=2e9, **facts)
    for factor, severity in ((0.95, ""), (1.2, "warning"), (1.4, "error")):
        run = multiplied(device, precision, factor * rate)
        found = [one for one in rule.conclusions(run, plausibility, too_good) if one.case]
        assert {one.severity for one in found} == ({severity} - {""} if named else set())


@pytest.mark.parametrize(("clock_hz", "doubted"), [(345e6, False), (1.98e9, False), (1.2e9, True)])
def test_a_clock_that_was_read_at_rest_makes_no_product_doubtful(
    clock_hz: float, *, doubted: bool
) -> None:
    """A product at 80% of the peak of an H200; readings of short cases fall between their calls."""
    run = good()
    one = product(run)
    keep(run, lambda other: other is one)
    last(run, 2.0 * 16384**3 / (0.8 * 67e12), one)
    sense(one, "sm_clock_hz", 345e6, min(clock_hz, 345e6), clock_hz)
    codes = {found.code for found in rule.conclusions(run, too_good)}
    assert ("near-peak" in codes) == doubted


ROWS = published.read()
KINDS = {"matmul", "copy_to_device_pinned", "copy_to_host_pinned", "copy_within", "read_within"}


def test_each_figure_is_of_a_known_kind_and_says_where_it_is_found() -> None:
    for row in ROWS:
        assert row.quantity in KINDS
        assert (row.precision in catalog.PRECISIONS) == (row.quantity == "matmul")
        assert row.value > 0
        assert row.method
        assert re.fullmatch(r"https://[\w.-]+\.\w+/[^\s\"'<>]+", row.address), row
        assert re.fullmatch(r"(\d{4}(-\d\d){0,2})?", row.as_of)


def test_a_device_is_found_by_the_name_that_torch_gives_it() -> None:
    found = published.of("NVIDIA GeForce RTX 4090", "matmul", "bfloat16")
    assert len(found) > 1
    assert [row.value for row in found] == sorted(row.value for row in found)
    assert published.of("NVIDIA GeForce RTX 4090 D", "matmul", "bfloat16") != found
    assert published.of("NVIDIA Tesla T4", "matmul", "float16")
    assert published.of("Another", "matmul", "bfloat16") == []
    assert published.of("NVIDIA GeForce RTX 4090", "launch") == []


def test_devices_that_were_measured_are_left_out_by_the_names_that_torch_gives_them() -> None:
    every = published.others([])
    left = published.others(["NVIDIA GeForce RTX 4090", "Another", "Tesla T4"])
    assert every.keys() - left.keys() == {"NVIDIA GeForce RTX 4090", "NVIDIA Tesla T4"}
    assert sum(map(len, every.values())) == len(ROWS)
