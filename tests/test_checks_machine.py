# SPDX-License-Identifier: MIT
"""Machines that look odd and are honest are not refused."""

from pathlib import Path

from tests.judging import validate
from tests.spoiling import good, product, sense


def test_a_small_container_on_large_caches_is_not_refused(tmp_path: Path) -> None:
    run = good()
    run.frobench.environment.cpu.memory_bytes = 2**30
    run.frobench.environment.cpu.last_level_cache_bytes = 2304 * 2**20  # two EPYC 9684X
    assert [one for one in validate(run, tmp_path) if one.severity == "error"] == []


def test_a_laptop_may_draw_more_than_its_limit_was_when_the_run_began(tmp_path: Path) -> None:
    run = good()
    for one in run.frobench.environment.accelerators:
        one.name, one.capability = "NVIDIA GeForce RTX 4090 Laptop GPU", "8.9"
        one.power_limit_watts, one.power_limit_default_watts = 35.0, 80.0
    sense(product(run), "power_watts", 20.0, 120.0, 130.0)
    found = [one.code for one in validate(run, tmp_path) if one.severity == "error"]
    assert "impossible-reading" not in found


def test_a_part_of_a_device_may_have_the_name_of_the_whole(tmp_path: Path) -> None:
    run = good()
    for one in run.frobench.environment.accelerators:
        one.name, one.memory_bytes = "AMD Instinct MI300X", 47 * 2**30  # its memory in four parts
        one.capability, one.multiprocessors = "gfx942", 38
    found = [one.code for one in validate(run, tmp_path) if one.severity == "error"]
    assert "impossible-device" not in found
