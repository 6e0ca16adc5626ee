# SPDX-License-Identifier: MIT
"""What a device is worth, on made-up runs whose truth is known."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from frobench.command import main
from frobench.reports.findings import findings
from frobench.reports.summary.model import TITLES, Axis, DeviceAxes, device_axes, with_others
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Energy, Run, Search, Work
from frobench.suite.units import format_estimate
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import LAUNCHES, WOBBLE, case, with_cases
from tests.reports.run.test_page import read

GPU, CPU = "cuda:0", "cpu"
SIZES = (4**5, 4**9, 4**13)
SHAPE = (4096, 8192, 2048)
LATENCY, MEMORY, LINK, OPERATION, READ_BACK = 1e-5, 3e12, 5e10, 4e-6, 9e-6


def of(exercise: str, cases: Sequence[Case]) -> list[Case]:
    return [replace(one, group=exercise) for one in cases]


def searched(device: str, dtype: str, rate: float, sustained: float | None = None) -> list[Case]:
    """Build the case of a shape that was found, maybe with its rate over seconds."""
    flops = 2.0 * SHAPE[0] * SHAPE[1] * SHAPE[2]
    found = case("bench_product", flops / rate, device, work=Work(flops=flops), dtype=dtype)
    found.extra_info.search = Search(shape=[*SHAPE], shapes=9, seconds=3.0, runner_up=0.9)
    if sustained:
        found.extra_info.parts["sustained"] = [flops / sustained * factor for factor in WOBBLE]
    return of("attainable_peak", [found])


def square(device: str, dtype: str, rate: float) -> list[Case]:
    flops = 2.0 * 1024**3
    made = case("bench_square", flops / rate, device, work=Work(flops=flops), n=1024, dtype=dtype)
    return of("matmul", [made])


def copied(function: str, device: str, rate: float, **params: Any) -> list[Case]:  # noqa: ANN401 - what a benchmark takes
    """Build copies of three sizes that lie on a line."""
    found = []
    for size in SIZES:
        moved = (2.0 if function == "bench_within" else 1.0) * size
        work, seconds = Work(bytes=moved), LATENCY + moved / rate
        found.append(case(function, seconds, device, work=work, size=size, **params))
    return of("copies", found)


def operations(device: str, seconds: float) -> list[Case]:
    found = []
    for n in (1, 10, 100, 1000):
        work, took = Work(items=float(n)), LATENCY + n * seconds
        found.append(case("bench_pieces", took, device, work=work, pieces=n))
    return of("many_or_one", found)


def steps(device: str, read_back: float) -> list[Case]:
    work = Work(items=1000.0)
    item = case("bench_item", 0.01 + 1000 * read_back, device, work=work, steps=1000)
    log = case("bench_log_on_device", 0.01, device, work=work, steps=1000)
    return of("norm_logging", [item, log])


def everything(device: str, factor: float = 1.0) -> list[Case]:
    """Build a device whose rates are known, and so many times as high."""
    links = [
        case
        for function in ("bench_to_device", "bench_to_host")
        for case in copied(function, device, factor * LINK, memory="pinned")
    ]
    return [
        *searched(device, "bfloat16", factor * 6e14, factor * 5e14),
        *searched(device, "float32", factor * 4e13),
        *square(device, "float16", factor * 4.5e14),
        *copied("bench_within", device, factor * MEMORY),
        *operations(device, OPERATION),
        *steps(device, READ_BACK),
        *(links if device != CPU else []),
    ]


def run_of(cases: Sequence[Case], accelerators: int = 1) -> Run:
    return with_cases(factory.run(accelerators=accelerators, launches=LAUNCHES), cases)


def axes_of(cases: Sequence[Case], accelerators: int = 1) -> DeviceAxes:
    return device_axes(run_of(cases, accelerators))


def axis(found: DeviceAxes, name: Any, precision: str = "") -> Axis:  # noqa: ANN401 - one of `TITLES`
    one = found.axis(name, precision)
    assert one is not None, name
    return one


def test_a_gpu_has_every_axis_in_its_real_unit() -> None:
    found = axes_of(everything(GPU))
    assert (found.device, found.place) == ("NVIDIA H200", GPU)
    assert (found.memory_bytes, found.limit_watts) == (141 * 10**9, 700.0)
    assert [*dict.fromkeys(one.name for one in found.axes)] == [*TITLES]
    truth = {
        "memory": MEMORY,
        "link_to_device": LINK,
        "link_to_host": LINK,
        "overhead": OPERATION,
        "read_back": READ_BACK,
    }
    compute = [(one.precision, one.basis) for one in found.axes if one.name == "compute"]
    assert compute == [
        ("bfloat16", "sustained"),
        ("float16", "in bursts"),
        ("float32", "in bursts"),
    ]
    truth["compute"] = 5e14
    values = {one.name: one.value.value for one in found.axes[::-1]}
    assert values == pytest.approx(truth, rel=0.05)
    assert {one.unit for one in found.axes} == {"FLOP/s", "B/s", "s"}
    assert all(one.value.low is not None and one.cases for one in found.axes)
    assert all(one.lower_is_better == (one.name in {"overhead", "read_back"}) for one in found.axes)


def test_a_rate_is_a_part_of_what_its_datasheet_or_link_allows() -> None:
    found = axes_of(everything(GPU))
    for name in ("compute", "memory", "link_to_device"):
        one = axis(found, name)
        assert one.sheet is not None
        assert one.part is not None
        assert one.part.value == pytest.approx(one.value.value / one.sheet)
    assert axis(found, "memory").sheet == 4.8e12
    assert axis(found, "overhead").sheet is None


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
    burst = device_axes(run_of([*searched(GPU, "bfloat16", 6e14)]))
    alone = findings(run_of([*searched(GPU, "bfloat16", 6e14)]))["attainable_peak"][0]
    assert axis(burst, "compute").value == alone.value


def layers(function: str, width: int, seconds: float, work: Work) -> list[Case]:
    """Build a layer whose work takes so long."""
    params: dict[str, Any] = {"width": width, "layers": 1, "batch": 1, "dtype": "bfloat16"}
    return of("transformer", [case(function, seconds, GPU, work=work, **params)])


def small(weights: str, moved: float, width: int) -> list[Case]:
    """Build a layer with small weights whose token takes 0.1 ms."""
    shape: dict[str, Any] = {"width": width, "weights": weights, "dtype": "bfloat16"}
    work = Work(bytes=moved)
    return of("small_weights", [case("bench_decode_graph", 1e-4, GPU, work=work, **shape)])


def test_language_models_with_small_weights_have_the_speed_of_layers_that_no_cache_holds(
    tmp_path: Path,
) -> None:
    def measured(width: int) -> Run:
        layer = [small("bfloat16", 4e8, width), small("int8", 2.5e8, width)]
        layer += [small("int4", 1.2e8, width), copied("bench_within", GPU, MEMORY)]
        layer += [layers("bench_decode_graph", 4096, 1e-4, Work(bytes=4e8))]
        layer += [layers("bench_prefill_graph", 4096, 1.6e-3, Work(flops=8e11))]
        return run_of([case for cases in layer for case in cases])

    run = measured(8192)
    own = device_axes(run)
    speeds = {one.name: one for one in own.models}
    cache = 2 * 2 * 32 * 1024 * 2048
    eight, four = (speeds["Llama 3.1 8B"].small[weights] for weights in ("int8", "int4"))
    assert eight.value == pytest.approx(2.5e12 / (8_030_261_248 + cache), rel=0.02)
    assert four.value == pytest.approx(1.2e12 / (8_030_261_248 * 4.5 / 8 + cache), rel=0.02)
    largest = speeds["Llama 3.1 70B"]
    assert (largest.fits, [*largest.small]) == (False, ["int8", "int4"])
    assert {*device_axes(measured(4096)).models[0].small} == {"int8"}  # int4: 113 MB
    path, other = (tmp_path / name for name in ("run.json", "other.json"))
    path.write_bytes(store.encode(run))
    other.write_bytes(store.encode(run_of(everything(GPU))))
    told = " ".join(CliRunner().invoke(main, ["show", str(path)]).stdout.split())
    assert f"{format_estimate(eight, 'tokens/s')} decoding with int8 weights" in told
    page = " ".join(read(tmp_path, run)[1].text.split())
    whole = speeds["Llama 3.1 8B"]
    for speed in (eight, whole.decode, whole.prompt):
        assert speed
        assert format_estimate(speed, "tokens/s") in page
    assert " ".join(whole.text.split()) in told
    assert "Tokens per second are computed: " in told
    assert "is the largest model that fits: " in page
    command = ["compare", str(path), str(other), "--purchase"]
    printed = CliRunner().invoke(main, command, env={"COLUMNS": "120"}).stdout
    side = " ".join(printed.split())
    assert f"Llama 3.1 8B, int8 {format_estimate(eight, '')} - - -" in side


def test_power_is_that_of_the_case_that_draws_most() -> None:
    cases = everything(GPU)
    for one, watts in zip(cases, (300.0, 650.0), strict=False):
        seconds = [2.0] * LAUNCHES
        one.extra_info.energy = Energy(joules=[2.0 * watts, *[None] * 7], seconds=[*seconds])
    found = axes_of(cases)
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
