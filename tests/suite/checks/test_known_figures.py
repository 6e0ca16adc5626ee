# SPDX-License-Identifier: MIT
"""Figures that were published and cannot be are named; those near them that can be are not.

Each is put into a run as if it had been measured there.
"""

from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from frobench.suite.stored.types import Run, Work
from tests.instruments.faults.judging import keep, of_its_name, validate
from tests.instruments.faults.spoiling import case, good, last, name_anew, product, work

RTX_3080 = ("NVIDIA GeForce RTX 3080", 10 * 2**30, 68, "8.6", 1.71e9)
RTX_3090 = ("NVIDIA GeForce RTX 3090", 24 * 2**30, 82, "8.6", 1.695e9)
RTX_5090 = ("NVIDIA GeForce RTX 5090", 32 * 2**30, 170, "12.0", 2.407e9)
H100 = ("NVIDIA H100 80GB HBM3", 80 * 2**30, 132, "9.0", 1.98e9)
Device = tuple[str, int, int, str, float]


class Claim(NamedTuple):
    """That a device multiplies so fast; and what is said of it."""

    device: Device
    dtype: str
    n: int
    rate: float
    error: str | None


CLAIMS = {
    "float32 without waiting, 5000 x 5000": Claim(RTX_3090, "float32", 5000, 250e12, "above-peak"),
    "the same on a faster device": Claim(H100, "float32", 5000, 250e12, "above-peak"),
    "float32 that was TF32": Claim(H100, "float32", 8192, 373e12, "above-peak"),
    "TF32 that was TF32": Claim(H100, "tfloat32", 8192, 373e12, None),
    "ones or an identity, above all others": Claim(H100, "bfloat16", 8192, 1.5e15, "above-peak"),
    "the boost of a card": Claim(RTX_5090, "bfloat16", 10240, 242.18e12, None),
}


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


@pytest.mark.parametrize("name", CLAIMS)
def test_what_cannot_be_is_refused_and_what_can_be_is_not(name: str, tmp_path: Path) -> None:
    claim = CLAIMS[name]
    run = on(claim.device)
    one = product(run, 4096, claim.dtype)
    run.benchmarks = [one]
    run.frobench.outcomes = [o for o in run.frobench.outcomes if o.fullname == one.fullname]
    flops = 2.0 * claim.n**3
    work(one, flops=flops, bytes=12.0 * claim.n**2)
    last(run, flops / claim.rate, one)
    assert said(run, tmp_path) == ({claim.error} if claim.error else set())


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
    name_anew(run, one, device="+".join(names))
    keep(run, lambda other: other is one)
    one.extra_info.work = Work(bytes=8.0 * 4**13, path="host")
    last(run, 4**13 / rate, one)
    assert said(run, tmp_path) == ({error} if error else set())


@pytest.mark.parametrize("times", [11.0, 21.0])
def test_eight_devices_are_not_eleven_or_21_times_as_fast(times: float, tmp_path: Path) -> None:
    assert "above-one" in said(scaled(times), tmp_path)


def test_eight_devices_may_be_eight_times_as_fast(tmp_path: Path) -> None:
    assert said(scaled(7.9), tmp_path) == set()


def test_a_product_of_ones_is_named_for_its_inputs(tmp_path: Path) -> None:
    run = on(H100)
    product(run, 4096).extra_info.commonest = 1.0
    assert "plain-inputs" in said(run, tmp_path, "warning")


def of_eight(run: Run) -> list[str]:
    """Let a run have eight accelerators like its first one, and return their names."""
    told = run.frobench.environment
    first = told.accelerators[0]
    told.accelerators = [replace(first, index=index) for index in range(8)]
    of_its_name(told)
    names = [f"cuda:{index}" for index in range(8)]
    run.frobench.settings = replace(run.frobench.settings, devices=["cpu", *names])
    return names


def scaled(times: float) -> Run:
    """Return a run in which eight devices are so many times as fast as one."""
    run = on(RTX_3090)
    names = of_eight(run)
    one, many = case(run, "bench_sequence"), case(run, "bench_two_at_once")
    run.benchmarks = [one, many]
    name_anew(run, many, device="+".join(names))
    rate = (one.extra_info.work.flops or 0.0) / one.stats.median
    work(many, flops=8 * 2.0 * 2048**3)
    fastest = rate * one.stats.median / min(one.stats.data)
    last(run, 8 * 2.0 * 2048**3 / (times * fastest), many)
    run.frobench.outcomes = [
        o for o in run.frobench.outcomes if o.fullname in {one.fullname, many.fullname}
    ]
    return run
