# SPDX-License-Identifier: MIT
"""Machines that look odd and are honest are not refused."""

from pathlib import Path

import pytest

from frobench.suite.checks import ceilings
from tests.instruments.faults.judging import validate
from tests.instruments.faults.spoiling import good, product, sense


def test_a_small_container_on_large_caches_is_not_refused(tmp_path: Path) -> None:
    run = good()
    run.frobench.environment.cpu.memory_bytes = 2**30
    run.frobench.environment.cpu.last_level_cache_bytes = 2304 * 2**20  # two EPYC 9684X
    assert [one for one in validate(run, tmp_path) if one.severity == "error"] == []


def test_a_wrong_reading_among_many_is_not_refused(tmp_path: Path) -> None:
    run = good()
    sense(product(run), "power_watts", -1.0, 620.0, 65535.0)
    assert [one for one in validate(run, tmp_path) if one.severity == "error"] == []


@pytest.mark.parametrize(("dtype", "operations"), [("bfloat16", 128), ("int8", 256)])
def test_cores_of_arm_without_long_vectors_may_multiply_narrow_matrices(
    dtype: str, operations: int
) -> None:
    run = good()  # as on a Snapdragon X, or in a container on a Mac
    cpu = run.frobench.environment.cpu
    cpu.instruction_sets, cpu.usable_cores, cpu.logical_cores = "asimd asimddp bf16 i8mm", 12, 12
    one = product(run)
    one.params["dtype"], one.extra_info.devices = dtype, ["cpu"]
    ceiling = ceilings.peak_ceiling(run, one)
    assert ceiling is not None
    assert ceiling.most > 12 * 4.4e9 * operations


def test_a_part_of_a_device_may_have_the_name_of_the_whole(tmp_path: Path) -> None:
    run = good()
    for one in run.frobench.environment.accelerators:
        one.name, one.memory_bytes = "AMD Instinct MI300X", 47 * 2**30  # its memory in four parts
        one.capability, one.multiprocessors = "gfx942", 38
    assert "out-of-bounds" not in [one.code for one in validate(run, tmp_path)]
