# SPDX-License-Identifier: MIT
"""A rate is held to the clock that its device may have, and to the links of all its devices."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.suite.stored.types import Run, Work
from tests.instruments.faults.judging import keep, name_again, of_its_name, validate
from tests.instruments.faults.spoiling import case, good, last, product

RTX_5090 = ("NVIDIA GeForce RTX 5090", 32 * 2**30, 170, "12.0", 2.407e9)
Device = tuple[str, int, int, str, float]


def on(device: Device) -> Run:
    """Return the good run, as if its accelerators were others."""
    run = good()
    name, memory, units, capability, clock = device
    told = run.frobench.environment
    told.accelerators = [
        replace(
            one,
            name=name,
            memory_bytes=int(0.97 * memory),
            multiprocessors=units,
            capability=capability,
            max_clock_hz=clock,
        )
        for one in told.accelerators
    ]
    of_its_name(told)
    run.benchmarks = [one for one in run.benchmarks if one.group in {"matmul", "parallel_matmul"}]
    for one in run.benchmarks:  # as slow as is honest anywhere
        if one.extra_info.devices[0] != "cpu":
            last(run, max(1e-4, (one.extra_info.work.flops or 0.0) / 1e13), one)
    names = {one.fullname for one in run.benchmarks}
    run.frobench.outcomes = [one for one in run.frobench.outcomes if one.fullname in names]
    return run


def said(run: Run, folder: Path, severity: str = "error") -> set[str]:
    return {one.code for one in validate(run, folder) if one.severity == severity}


@pytest.mark.parametrize(
    ("clock", "rate", "doubted"),
    [(2.407e9, 242.18e12, True), (None, 242.18e12, False), (None, 255e12, True)],
)
def test_a_device_whose_highest_clock_is_unknown_may_have_a_boosted_one(
    clock: float | None,
    rate: float,
    doubted: bool,  # noqa: FBT001 - a parameter
    tmp_path: Path,
) -> None:
    run = on(RTX_5090)
    told = run.frobench.environment
    for place, device in enumerate(told.accelerators):
        device.max_clock_hz = clock
        if clock is None:
            told.unknown[f"accelerators.{place}.max_clock_hz"] = "the driver does not report it"
    one = product(run, 4096, "bfloat16")
    seconds = (one.extra_info.work.flops or 0.0) / rate
    last(run, seconds, one)
    one.extra_info.parts = {"span": [seconds] * len(one.extra_info.launches)}  # one clock
    assert ("near-peak" in said(run, tmp_path, "warning")) == doubted


@pytest.mark.parametrize(
    ("rate", "error"),
    [(60e9, None), (80e9, "above-link")],
)
def test_eight_devices_may_each_copy_as_fast_as_a_link_carries(
    rate: float, error: str | None, tmp_path: Path
) -> None:
    run = good()
    names = of_eight(run)
    one = case(run, "bench_to_device", size=4**13)
    name_again(run, one, device="+".join(names))
    keep(run, lambda other: other is one)
    one.extra_info.work = Work(bytes=8.0 * 4**13, path="host")
    last(run, 4**13 / rate, one)
    assert said(run, tmp_path) == ({error} if error else set())


def of_eight(run: Run) -> list[str]:
    """Let a run have eight accelerators like its first one, and return their names."""
    told = run.frobench.environment
    first = told.accelerators[0]
    told.accelerators = [replace(first, index=index) for index in range(8)]
    of_its_name(told)
    names = [f"cuda:{index}" for index in range(8)]
    run.frobench.settings = replace(run.frobench.settings, devices=["cpu", *names])
    return names
