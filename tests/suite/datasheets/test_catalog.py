# SPDX-License-Identifier: MIT
"""Datasheet figures: each with unit, condition and source, none sparse, and percents of them."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.suite.datasheets import catalog, published
from frobench.suite.datasheets.catalog import Figure, NotInCatalogError
from frobench.suite.stored.types import Accelerator
from tests.instruments.catalog_rules import faults
from tests.instruments.processes.command import ROOT
from tests.instruments.runs import factory_machine

GIB = 2**30
NAMES = [
    "NVIDIA GeForce RTX 2080",
    "NVIDIA GeForce RTX 2080 SUPER",
    "NVIDIA GeForce RTX 3080",
    "NVIDIA GeForce RTX 3080 Ti",
    "NVIDIA GeForce RTX 3090",
    "NVIDIA GeForce RTX 3090 Ti",
    "NVIDIA GeForce RTX 4070",
    "NVIDIA GeForce RTX 4070 SUPER",
    "NVIDIA GeForce RTX 4070 Ti SUPER",
    "NVIDIA GeForce RTX 4090",
    "NVIDIA GeForce RTX 4090 D",
    "NVIDIA GeForce RTX 4090 Laptop GPU",
    "NVIDIA GeForce RTX 3050 6GB Laptop GPU",
    "NVIDIA GeForce RTX 5090",
    "NVIDIA GeForce RTX 5090 D",
    "NVIDIA GeForce RTX 5090 D v2",
    "TITAN Xp COLLECTORS EDITION",
    "NVIDIA A800-SXM4-80GB",
    "NVIDIA H20",
    "NVIDIA H800 PCIe",
    "NVIDIA RTX A2000",
    "NVIDIA RTX A2000 12GB",
    "NVIDIA RTX A6000",
    "NVIDIA RTX 6000 Ada Generation",
    "Tesla V100-SXM2-16GB",
    "Tesla V100-SXM2-32GB",
    "Tesla V100S-PCIE-32GB",
    "Tesla T4",
    "NVIDIA Tesla T4",
    "NVIDIA T4",
    "NVIDIA A10",
    "NVIDIA A10G",
    "A100-SXM4-40GB",
    "NVIDIA A100-SXM-80GB",
    "A100-PCIE-80GB",
    "NVIDIA A100-SXM4-80GB",
    "NVIDIA A100 80GB PCIe",
    "NVIDIA L4",
    "NVIDIA L40",
    "NVIDIA L40S",
    "NVIDIA H100 80GB HBM3",
    "NVIDIA H100 PCIe",
    "NVIDIA H100 NVL",
    "NVIDIA H200",
    "NVIDIA H200 NVL",
    "NVIDIA GH200 480GB",
    "NVIDIA B200",
    "NVIDIA GB200",
    "AMD Instinct MI210",
    "AMD Instinct MI250X",
    "AMD Instinct MI250X / MI250",
    "AMD Instinct MI300X",
    "Instinct MI300X",
    "AMD Instinct MI300X VF",
    "AMD Radeon RX 7900 XT",
    "AMD Radeon RX 7900 XTX",
    "Intel(R) Arc(TM) B580 Graphics",
    "Apple M1",
    "Apple M1 Max",
]
"""What torch calls some devices, many of them the beginning of another's name."""
OTHERS = [
    "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
    "NVIDIA GeForce RTX 2080 with Max-Q Design",
    "NVIDIA Graphics Device",
    "NVIDIA GeForce RTX 4090 Laptop GPU MIG",
    "NVIDIA H100 80GB HBM3 MIG 3g.40gb",
    "Simulated accelerator",
    "",
]


def device(
    name: str, memory_bytes: int | None = None, multiprocessors: int | None = None
) -> Accelerator:
    """Return an accelerator of which no more is known."""
    known = factory_machine.environment(None, 1).accelerators[0]
    return replace(known, name=name, memory_bytes=memory_bytes, multiprocessors=multiprocessors)


@pytest.fixture(scope="module")
def rows() -> list[Figure]:
    return catalog.read()


def test_the_catalog_is_large_and_faultless(rows: list[Figure]) -> None:
    assert len({row.device for row in rows}) >= 100
    assert list(faults(rows)) == []


def test_patterns_are_disjoint_and_leave_out_parts_of_devices(rows: list[Figure]) -> None:
    patterns = {row.torch_name for row in rows}
    for name in NAMES:
        assert len([one for one in patterns if re.search(one, name)]) == 1, name
    for name in OTHERS:
        assert not any(re.search(one, name) for one in patterns), name


def test_a_row_that_is_none_is_told_by_its_line(tmp_path: Path) -> None:
    lines = catalog.PATH.read_text(encoding="utf-8").splitlines()[:2]
    path = tmp_path / "catalog.csv"
    path.write_text("\n".join([*lines, "H200,NVIDIA"]), encoding="utf-8")
    with pytest.raises(ValueError, match=r"catalog\.csv:3: "):
        catalog.read(path)
    path.write_text(lines[1], encoding="utf-8")
    with pytest.raises(ValueError, match="the columns are not device, vendor"):
        catalog.read(path)


def test_each_device_with_published_results_is_listed_or_named_as_unknown() -> None:
    """By its name without what is in parentheses; where no model is stated, none is asked for."""
    text = (ROOT / "docs" / "catalog.md").read_text(encoding="utf-8")
    part = text.partition("<!-- devices without figures -->")[2].partition("\n## ")[0]
    unknown = {
        f"{vendor} {name}".removeprefix("others ")
        for line in part.replace("\n  ", " ").strip().splitlines()
        for vendor, _, names in [line.removeprefix("- ").partition(": ")]
        for name in names.split(", ")
    }
    patterns = {one.torch_name for one in catalog.read()}

    def listed(name: str, pattern: str = "") -> bool:
        return pattern in patterns or any(re.search(one, name) for one in patterns)

    rows = [row for row in published.read() if "not stated" not in row.device]
    known = {row.device.partition(" (")[0].removesuffix(" GPU"): row.torch_name for row in rows}
    missing = {name for name, pattern in known.items() if not listed(name, pattern)}
    assert len(known.keys() - missing) > 80
    assert missing - unknown - {name.removeprefix("NVIDIA ") for name in unknown} == set()
    assert {name for name in unknown if listed(name)} == set()


def test_memory_and_multiprocessors_tell_devices_of_one_name_apart() -> None:
    name = "NVIDIA GeForce RTX 3080"
    assert catalog.sheet(device(name, int(9.8 * GIB), 68)).devices == ("GeForce RTX 3080",)
    assert catalog.sheet(device(name, int(11.8 * GIB), 70)).devices == ("GeForce RTX 3080 12GB",)
    assert catalog.sheet(device(name, None, 68)).devices == ("GeForce RTX 3080",)
    assert catalog.sheet(device(name, int(9.8 * GIB))).devices == ("GeForce RTX 3080",)
    with pytest.raises(NotInCatalogError, match="not those of the catalog's GeForce RTX 3080 or"):
        catalog.sheet(device(name, 24 * GIB, 68))


def test_the_memory_that_torch_shows_is_less_than_the_label_says() -> None:
    for name, seen in (
        ("NVIDIA H200", 139.8),
        ("NVIDIA A10G", 22.06),
        ("NVIDIA L4", 22.03),
        ("Tesla T4", 14.56),
        ("NVIDIA A40", 44.4),
        ("AMD Instinct MI300X", 191.98),
    ):
        assert len(catalog.sheet(device(name, int(seen * GIB))).devices) == 1


def test_where_nothing_tells_devices_apart_only_what_they_share_counts() -> None:
    both = catalog.sheet(device("NVIDIA GeForce RTX 3060 Ti", 8 * GIB, 38))
    assert both.devices == ("GeForce RTX 3060 Ti", "GeForce RTX 3060 Ti GDDR6X")
    assert catalog.peak(both, "bfloat16").rate == pytest.approx(32.39e12)
    with pytest.raises(
        NotInCatalogError, match=r"no memory bandwidth of GeForce RTX 3060 Ti or .* GDDR6X"
    ):
        catalog.memory_bandwidth(both)


def test_a_device_that_is_not_there_is_said_to_be_absent() -> None:
    with pytest.raises(NotInCatalogError, match="no datasheet of 'Simulated accelerator'"):
        catalog.sheet(device("Simulated accelerator"))


def test_a_peak_is_of_the_datasheets_clock_unless_another_was_seen() -> None:
    known = catalog.sheet(device("NVIDIA H200"))
    printed, seen = (catalog.peak(known, "bfloat16", clock) for clock in (None, 915e6))
    assert printed.rate == 989e12
    assert printed.name == seen.name == "the datasheet's dense bfloat16 peak"
    assert printed.figure == "989 TFLOP/s at a boost clock of 1.83 GHz"
    assert seen.rate == pytest.approx(989e12 / 2)
    assert seen.figure == "494 TFLOP/s at the 915 MHz that were seen"
    assert (printed.clock_hz, seen.clock_hz) == (1.83e9, 915e6)
    assert catalog.peak(known, "int8").figure == "1.98 Pop/s at a boost clock of 1.83 GHz"


def test_a_peak_whose_clock_is_not_known_stays_as_it_is_printed() -> None:
    known = catalog.sheet(device("NVIDIA GB200"))
    assert catalog.peak(known, "bfloat16", 1e9) == catalog.peak(known, "bfloat16")
    assert " at " not in catalog.peak(known, "bfloat16").figure


def test_a_precision_that_a_device_has_no_units_for_has_no_peak() -> None:
    with pytest.raises(NotInCatalogError, match="no peak float8_e4m3fn of A40"):
        catalog.peak(catalog.sheet(device("NVIDIA A40")), "float8_e4m3fn")


def test_float64_is_that_of_the_units_which_products_use() -> None:
    known = catalog.sheet(device("NVIDIA A100-SXM4-40GB"))
    assert catalog.peak(known, "float64").rate == pytest.approx(19.5e12)  # 9.7 without tensor cores


@pytest.mark.parametrize(
    ("generation", "lanes", "rate"),
    [(1, 16, 4e9), (3, 16, 15.754e9), (4, 8, 15.754e9), (5, 16, 63.015e9), (6, 16, 121e9)],
)
def test_a_link_carries_what_its_encoding_leaves(generation: int, lanes: int, rate: float) -> None:
    assert catalog.pcie_rate(generation, lanes) == pytest.approx(rate, rel=1e-4)


def test_the_link_is_that_under_load_and_as_wide_as_it_is() -> None:
    idle = replace(device("NVIDIA L4"), pcie_generation=1, pcie_generation_max=4, pcie_width=8)
    assert catalog.host_link(idle).rate == pytest.approx(15.754e9, rel=1e-4)
    assert catalog.host_link(idle).figure == "15.8 GB/s, PCIe 4.0 x8"
    with pytest.raises(NotInCatalogError, match="no rate is known"):
        catalog.host_link(replace(idle, pcie_width=None))


def test_a_link_of_the_devices_own_counts_rather_than_pcie() -> None:
    assert catalog.host_link(device("NVIDIA GH200 480GB")).rate == 450e9
