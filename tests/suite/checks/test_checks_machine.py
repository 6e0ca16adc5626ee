# SPDX-License-Identifier: MIT
"""Machines that look odd and are honest are not refused."""

from pathlib import Path

import pytest

from frobench.suite.datasheets.generations import is_laptop
from tests.instruments.faults.judging import validate
from tests.instruments.faults.spoiling import good, product, sense


def test_a_small_container_on_large_caches_is_not_refused(tmp_path: Path) -> None:
    run = good()
    run.frobench.environment.cpu.memory_bytes = 2**30
    run.frobench.environment.cpu.last_level_cache_bytes = 2304 * 2**20  # two EPYC 9684X
    assert [one for one in validate(run, tmp_path) if one.severity == "error"] == []


LAPTOPS = [
    "NVIDIA GeForce RTX 4090 Laptop GPU",
    "NVIDIA GeForce RTX 3050 6GB Laptop GPU",
    "NVIDIA GeForce RTX 5070 Ti Laptop GPU",
    "NVIDIA RTX A2000 Laptop GPU",
    "NVIDIA RTX 3000 Ada Generation Laptop GPU",
    "NVIDIA GeForce RTX 2080 with Max-Q Design",
    "NVIDIA GeForce MX130",
    "NVIDIA GeForce MX450",
    "GeForce 940MX",
    "GeForce GT 750M",
    "NVIDIA GeForce GTX 1060M",
    "NVIDIA GeForce GTX 1650 Ti",
    "Quadro M2000M",
    "AMD Radeon 780M",
    "Radeon RX 6800M",
    "AMD Radeon RX 7600S",
    "AMD Radeon 8060S",
    "Intel(R) Arc(TM) A370M Graphics",
]
DESKTOPS = [
    "NVIDIA GeForce GTX 1650",
    "NVIDIA GeForce RTX 4090 D",
    "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
    "NVIDIA A100-SXM4-80GB",
    "NVIDIA L40S",
    "Tesla V100S-PCIE-32GB",
    "Tesla M40",
    "Quadro P620",
    "Quadro RTX 8000",
    "NVIDIA TITAN RTX",
    "AMD Instinct MI300X",
    "AMD Radeon RX 7900 XTX",
    "Intel(R) Data Center GPU Max 1550",
    "Apple M2 Max",
]


@pytest.mark.parametrize("name", LAPTOPS)
def test_a_laptop_may_draw_more_than_its_limit_was_when_the_run_began(
    name: str, tmp_path: Path
) -> None:
    assert "impossible-reading" not in drawing(name, 120.0, tmp_path)


@pytest.mark.parametrize("name", DESKTOPS)
def test_a_desktops_card_is_no_laptops(name: str) -> None:
    assert not is_laptop(name)


def test_a_card_draws_no_more_than_its_limits_allow_whichever_is_highest(tmp_path: Path) -> None:
    assert "impossible-reading" in drawing("NVIDIA Future", 120.1, tmp_path)
    assert "impossible-reading" not in drawing("NVIDIA Future", 119.9, tmp_path)
    lowered = "NVIDIA GeForce RTX 2070"  # 175 W on its datasheet, and the name of a laptop's too
    assert "impossible-reading" not in drawing(lowered, 250.0, tmp_path)


def drawing(name: str, watts: float, folder: Path) -> list[str]:
    """Return what is wrong with a device that has a limit of 35 W of 80 W, and drew more."""
    run = good()
    for one in run.frobench.environment.accelerators:
        one.name, one.capability = name, "8.9"
        one.memory_bytes = one.multiprocessors = None
        run.frobench.environment.unknown |= {
            f"accelerators.{one.index}.{fact}": "not told"
            for fact in ("memory_bytes", "multiprocessors")
        }
        one.power_limit_watts, one.power_limit_default_watts = 35.0, 80.0
    sense(product(run), "power_watts", 20.0, watts, watts + 10)
    return [one.code for one in validate(run, folder) if one.severity == "error"]


def test_a_part_of_a_device_may_have_the_name_of_the_whole(tmp_path: Path) -> None:
    run = good()
    for one in run.frobench.environment.accelerators:
        one.name, one.memory_bytes = "AMD Instinct MI300X", 47 * 2**30  # its memory in four parts
        one.capability, one.multiprocessors = "gfx942", 38
    found = [one.code for one in validate(run, tmp_path) if one.severity == "error"]
    assert "impossible-device" not in found
