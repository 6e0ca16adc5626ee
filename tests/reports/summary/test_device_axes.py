# SPDX-License-Identifier: MIT
"""What a device is worth, on made-up runs whose truth is known."""

from collections.abc import Sequence

import pytest

from frobench.reports.compare.workload import models
from frobench.reports.summary.model import TITLES, DeviceAxes, device_axes
from frobench.reports.summary.models import Serving, note, per, speeds
from frobench.suite.stored.types import Case, Energy, Estimate, Run
from frobench.suite.units import format_estimate
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import LAUNCHES, with_cases
from tests.reports.findings.table import cases

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


def test_a_gpu_has_every_axis_in_its_real_unit() -> None:
    found = axes_of(everything(GPU), accelerators=2)
    known = found.device, found.place, found.memory_bytes, found.limit_watts
    assert known == ("NVIDIA H200", GPU, 141 * 10**9, 700.0)
    assert [*dict.fromkeys(one.name for one in found.axes)] == [*TITLES]
    rates = {"compute": 5e14, "memory": MEMORY, "link_to_device": LINK, "link_to_host": LINK}
    truth = rates | {"overhead": OPERATION, "read_back": READ_BACK}
    bursts = [("float16", "in bursts"), ("float32", "in bursts"), ("", "slope of large copies")]
    made = [(one.precision, one.basis) for one in found.axes[:4]]
    assert made == [("bfloat16", "sustained"), *bursts]
    assert {one.name: one.value.value for one in found.axes[::-1]} == pytest.approx(truth)
    free = cases("+ norm_logging/item,log_on_device | cuda:0 | steps=1000 | 1e4 | items=1000")
    assert axes_of(free).axes == ()
    near = cases("+ copies/within | cuda:0 | size=67108864,134217728 | 10 + 1e-6x | bytes=2x")
    assert [(one.name, one.basis) for one in axes_of(near).axes] == [("memory", "at 128 MiB")]
    units = {one.name: one.unit for one in found.axes}
    assert [*units.values()] == ["FLOP/s", "B/s", "s", "s", "B/s", "B/s"]
    assert all(one.value.low is not None and one.cases for one in found.axes)


def test_language_models_have_the_speed_of_layers_that_no_cache_holds() -> None:
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
+ transformer/prefill,prefill_graph | {layer} | 3200 1600 | flops=8e11""")
        )

    own, copied = device_axes(measured(8192)), device_axes(run_of(everything(GPU)))
    rates = {name: one.value for name, one in own.serving.rates.items()}
    assert rates == pytest.approx({"decode": 4e12, "prompt": 5e14, "int8": 2.5e12, "int4": 1.2e12})
    assert own.serving.basis == "decoding with layers of width 4,096"
    assert {*device_axes(measured(3584)).models[0].small} == {"int8"}  # 154 MB, of int4 87
    whole = own.models[1]
    cells = [whole.decode, copied.models[1].decode, whole.prompt, whole.small["int8"]]
    shown = [format_estimate(one, "") for one in cells if one]
    rows = {name: cells for _, name, *cells in models(own, copied).rows}
    assert rows["Llama 3.1 8B"] == [*shown[:3], "-"]
    assert rows["Llama 3.1 8B, int8"] == [shown[3], "-", "-", "-"]


PUBLISHED = {  # parameters, layers, width, heads of keys, width of a head: of each configuration
    "Llama 3.2 1B": (1_235_814_400, 16, 2048, 8, 64),
    "Llama 3.1 8B": (8_030_261_248, 32, 4096, 8, 128),
    "Qwen2.5 14B": (14_770_033_664, 48, 5120, 8, 128),
    "Qwen2.5 32B": (32_763_876_352, 64, 5120, 8, 128),
    "Llama 3.1 70B": (70_553_706_496, 80, 8192, 8, 128),
}
SMALL = {"int8": 1.0, "float8_e4m3fn": 1.0, "int4": 9 / 16}
NOTE = """Tokens per second are computed: a: 1.00 TB/s [0.90, 1.20] in copies in its memory, a: 1.00
 TB/s [0.90, 1.20] in decoding with int8 weights, a: 1.00 TB/s [0.90, 1.20] in decoding with
 float8_e4m3fn weights, a: 1.00 TB/s [0.90, 1.20] in decoding with int4 weights, over the weights
 and the cache that a token reads (Llama 3.1 8B: 16 GB). Batch 1, bf16, 2,048 tokens of context; 2
 GB are kept free beside the weights."""


def test_a_token_reads_weights_and_cache_and_takes_two_operations_a_weight() -> None:
    rate, names = Estimate(1e12, 9e11, 1.2e12, 8), ("decode", "prompt", *SMALL)
    known = Serving(rates=dict.fromkeys(names, rate), basis="copies in its memory")
    needed = {}
    for name, (parameters, layers, width, heads, each) in PUBLISHED.items():
        cache = 2 * 2 * layers * heads * each * 2048  # keys and values, of 2 bytes
        attention = 2 * 2 * layers * width * 2049 / 2  # causal: to half of the tokens
        whole = [2 * parameters + cache, 2 * parameters + attention]
        small = [parameters * part + cache for part in SMALL.values()]
        needed[name] = pytest.approx(whole + small, rel=1e-12)
    assert needed == {
        one.name: [1e12 / it.value for it in (one.decode, one.prompt, *one.small.values()) if it]
        for one in speeds(known, 1e12)
    }
    assert per(rate, 4.0) == Estimate(2.5e11, 2.25e11, 3e11, 8)
    for free, fits in ((2e9, True), (2e9 - 1, False)):
        there = [one.fits for one in speeds(known, 2.0 * 8_030_261_248 + free)]
        assert there == [True, fits, False, False, False]
    assert note({"a: ": known}) == NOTE.replace("\n", "")


def test_power_is_that_of_the_case_that_draws_most() -> None:
    every = everything(GPU)
    for one, watts in zip(every, (300.0, 650.0), strict=False):
        seconds = [2.0] * LAUNCHES
        one.extra_info.energy = Energy(joules=[2.0 * watts, *[None] * 7], seconds=[*seconds])
    found = axes_of(every)
    assert found.watts is not None
    assert (found.watts.value, found.watts.launches) == (650.0, 1)
