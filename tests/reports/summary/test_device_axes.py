# SPDX-License-Identifier: MIT
"""What a device is worth, on made-up runs whose truth is known."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from frobench.command import main
from frobench.reports.findings import findings
from frobench.reports.summary.model import TITLES, DeviceAxes, device_axes, with_others
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Energy, Run
from frobench.suite.units import format_estimate
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import LAUNCHES, with_cases
from tests.reports.findings.table import cases
from tests.reports.pages import text_of
from tests.reports.run.test_page import read

GPU, CPU = "cuda:0", "cpu"
MEMORY, LINK, OPERATION, READ_BACK = 3e12, 5e10, 4e-6, 9e-6
FLOPS = 2.0 * 4096 * 8192 * 2048
"""Of the shape that a search found."""


SIZES = "size=1024,262144,67108864"


def micro(work: float, rate: float) -> float:
    """Return the microseconds of work at a rate."""
    return 1e6 * work / rate


def peak(device: str, dtype: str, rate: float, more: str = "") -> str:
    """Return the line of a product whose shape was found."""
    shape = f"+ attainable_peak/product | {device} | dtype={dtype}"
    return f"{shape} | {micro(FLOPS, rate)} | flops={FLOPS} search=0.9 {more}"


def everything(device: str, factor: float = 1.0) -> list[Case]:
    """Build a device whose rates are known, and so many times as high."""
    link = f"10 + {micro(1, factor * LINK)}x | bytes=1x"
    links = f"+ copies/to_device,to_host | {device} | {SIZES} memory=pinned | {link}"
    sustained = f"sustained={micro(FLOPS, factor * 5e14)}"
    return cases(f"""
{peak(device, "bfloat16", factor * 6e14, sustained)}
{peak(device, "float32", factor * 4e13)}
+ matmul/square | {device} | n=1024 dtype=float16 | {micro(2**31, factor * 4.5e14)} | flops=2x^3
+ copies/within | {device} | {SIZES} | 10 + {micro(2, factor * MEMORY)}x | bytes=2x
+ many_or_one/pieces | {device} | pieces=1,10,100,1000 | 10 + {1e6 * OPERATION}x | items=1x
+ norm_logging/item,log_on_device | {device} | steps=1000 | {1e4 + 1e9 * READ_BACK} 1e4 | items=1000
{links if device != CPU else ""}""")


def run_of(these: Sequence[Case], accelerators: int = 1) -> Run:
    return with_cases(factory.run(accelerators=accelerators, launches=LAUNCHES), these)


def axes_of(these: Sequence[Case], accelerators: int = 1) -> DeviceAxes:
    return device_axes(run_of(these, accelerators))


def axis(found: DeviceAxes, name: Any) -> Any:  # noqa: ANN401 - an axis that a test knows is there
    return found.axis(name)


def test_a_gpu_has_every_axis_in_its_real_unit() -> None:
    found = axes_of(everything(GPU))
    assert (found.device, found.place) == ("NVIDIA H200", GPU)
    assert (found.memory_bytes, found.limit_watts) == (141 * 10**9, 700.0)
    assert [*dict.fromkeys(one.name for one in found.axes)] == [*TITLES]
    rates = {"compute": 5e14, "memory": MEMORY, "link_to_device": LINK, "link_to_host": LINK}
    truth = rates | {"overhead": OPERATION, "read_back": READ_BACK}
    compute = {one.precision: one.basis for one in found.axes if one.name == "compute"}
    bursts = {"float16": "in bursts", "float32": "in bursts"}
    assert [*compute.items()] == [("bfloat16", "sustained"), *bursts.items()]
    values = {one.name: one.value.value for one in found.axes[::-1]}
    assert values == pytest.approx(truth, rel=0.05)
    assert {one.unit for one in found.axes} == {"FLOP/s", "B/s", "s"}
    assert all(one.value.low is not None and one.cases for one in found.axes)
    assert all(one.lower_is_better == (one.name in {"overhead", "read_back"}) for one in found.axes)


def test_each_axis_is_the_number_of_the_finding() -> None:
    """One figure has one estimator wherever it stands."""
    run = run_of([*everything(GPU), *everything(CPU)])
    named = {one.name: one for members in findings(run).values() for one in members}
    found = device_axes(run)
    for name, finding in (
        ("memory", f"bandwidth-within-{GPU}"),
        ("link_to_device", f"bandwidth-to-device-pinned-{GPU}"),
        ("overhead", f"launch-{GPU}"),
        ("read_back", f"read-back-{GPU}"),
    ):
        assert axis(found, name).value == named[finding].value
    burst = run_of(cases(peak(GPU, "bfloat16", 6e14)))
    (alone, *_) = findings(burst)["attainable_peak"]
    assert axis(device_axes(burst), "compute").value == alone.value


def test_language_models_have_the_speed_of_layers_that_no_cache_holds(tmp_path: Path) -> None:
    def measured(width: int) -> Run:
        small = f"+ small_weights/decode_graph | {GPU} | width={width} dtype=bfloat16 weights"
        layer = f"{GPU} | width=4096 layers=1 batch=1 dtype=bfloat16"
        return run_of(
            cases(f"""
{small}=bfloat16 | 100 | bytes=4e8
{small}=int8 | 100 | bytes=2.5e8
{small}=int4 | 100 | bytes=1.2e8
+ copies/within | {GPU} | {SIZES} | 10 + {micro(2, MEMORY)}x | bytes=2x
+ transformer/decode_graph | {layer} | 100 | bytes=4e8
+ transformer/prefill_graph | {layer} | 1600 | flops=8e11""")
        )

    run = measured(8192)
    own = device_axes(run)
    speeds = {one.name: one for one in own.models}
    cache = 2 * 2 * 32 * 1024 * 2048
    eight, four = (speeds["Llama 3.1 8B"].small[weights] for weights in ("int8", "int4"))
    assert eight.value == pytest.approx(2.5e12 / (8_030_261_248 + cache), rel=0.02)
    assert four.value == pytest.approx(1.2e12 / (8_030_261_248 * 4.5 / 8 + cache), rel=0.02)
    whole = speeds["Llama 3.1 8B"]
    assert whole.decode
    assert whole.prompt
    assert whole.decode.value == pytest.approx(4e12 / (2 * 8_030_261_248 + cache), rel=0.02)
    attention = 2 * 32 * 4096 * 2049
    assert whole.prompt.value == pytest.approx(5e14 / (2 * 8_030_261_248 + attention), rel=0.001)
    largest = speeds["Llama 3.1 70B"]
    assert (largest.fits, [*largest.small]) == (False, ["int8", "int4"])
    assert {*device_axes(measured(4096)).models[0].small} == {"int8"}  # int4: 113 MB
    path, other = (tmp_path / name for name in ("run.json", "other.json"))
    path.write_bytes(store.encode(run))
    other.write_bytes(store.encode(run_of(everything(GPU))))

    def printed(*command: object) -> str:
        result = CliRunner().invoke(main, [*map(str, command)], env={"COLUMNS": "120"})
        return " ".join(result.stdout.split())

    told, page = printed("show", path), text_of(read(tmp_path, run))
    assert f"{format_estimate(eight, 'tokens/s')} decoding with int8 weights" in told
    for speed in (eight, whole.decode, whole.prompt):
        assert format_estimate(speed, "tokens/s") in page
    assert " ".join(whole.text.split()) in told
    assert "Tokens per second are computed: " in told
    assert "is the largest model that fits: " in page
    side = f"Llama 3.1 8B, int8 {format_estimate(eight, '')} - - -"
    assert side in printed("compare", path, other, "--purchase")


def test_power_is_that_of_the_case_that_draws_most() -> None:
    every = everything(GPU)
    for one, watts in zip(every, (300.0, 650.0), strict=False):
        seconds = [2.0] * LAUNCHES
        one.extra_info.energy = Energy(joules=[2.0 * watts, *[None] * 7], seconds=[*seconds])
    found = axes_of(every)
    assert found.watts is not None
    assert (found.watts.value, found.watts.launches) == (650.0, 1)


def test_other_runs_of_the_same_device_stand_beside() -> None:
    own, faster = axes_of(everything(GPU)), axes_of(everything(GPU, 2.0))
    of_a_cpu = axes_of(everything(CPU), accelerators=0)
    found = with_others(own, [faster, own, of_a_cpu])
    for one in found.axes:
        values = [beside.value.value for beside in (own.axis(one.name, one.precision),) if beside]
        values += [other.value.value for other in faster.axes if other.key == one.key]
        assert one.others == tuple(sorted(values))
    memory = axis(found, "memory")
    assert memory.others == pytest.approx((MEMORY, 2 * MEMORY))
