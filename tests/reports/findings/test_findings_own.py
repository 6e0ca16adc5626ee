# SPDX-License-Identifier: MIT
"""What a benchmark without rules of its own is answered, from runs whose truth is known."""

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.findings import sections
from frobench.reports.summary.plain import answers
from frobench.suite import checks
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Check, Work
from tests.instruments.processes.command import ROOT
from tests.instruments.processes.warm import frobench
from tests.instruments.runs.exact_runs import WOBBLE, answer, by_name, case, left_out, plain

GPU = "cuda:0"
X = "\N{MULTIPLICATION SIGN}"
SIZES = (10, 1_000, 100_000)


def on_cpu(n: int) -> float:
    return n * 1e-8


def on_gpu(n: int) -> float:
    """Take as long as the CPU at n = 10,000, and a tenth of it beyond."""
    return 9e-5 + n * 1e-9


def sort(n: int, device: str = "cpu", seconds: float | None = None, **params: Any) -> Case:  # noqa: ANN401
    """Build a case of an own benchmark that moves 8 bytes for each of n numbers."""
    took = (on_cpu if device == "cpu" else on_gpu)(n) if seconds is None else seconds
    return case("bench_sort", took, device, work=Work(bytes=8 * n, items=n), n=n, **params)


def both() -> list[Case]:
    return [sort(n, device) for device in ("cpu", GPU) for n in SIZES]


def copies(seconds: float) -> Case:
    """Build a copy of 128 MiB within the memory, of another exercise."""
    one = case("bench_within", seconds, work=Work(bytes=2**28), size=2**27)
    return replace(one, group="copies")


def asked(cases: list[Case], **how: Any) -> Any:  # noqa: ANN401 - see `answer`
    return answer("a_sort", cases, **how)


def test_the_speed_up_at_the_largest_size_leads_and_advises() -> None:
    lead = asked(both(), accelerators=1).findings[0]
    assert (lead.name, lead.unit) == (f"speed-up-sort-{GPU}", X)
    assert lead.value.value == pytest.approx(on_cpu(100_000) / on_gpu(100_000))
    assert plain(lead) == (
        f"5.263{X} [5.263, 5.263] the speed of the CPU on the NVIDIA H200 at n = 100,000."
    )
    assert lead.rule_of_thumb.replace("\N{NO-BREAK SPACE}", " ") == (
        "Up to n = 1,000 stay on the CPU."
    )


def test_the_largest_size_of_both_counts_where_the_accelerator_has_larger_ones() -> None:
    lead = asked([*both(), sort(10_000_000, GPU)], accelerators=1).findings[0]
    assert " at n = 100,000" in plain(lead)


def test_the_crossover_has_the_two_measured_sizes_as_its_interval() -> None:
    found = by_name(asked(both(), accelerators=1))[f"crossover-sort-{GPU}"]
    assert found.value.value == pytest.approx(10_000)
    assert (found.value.low, found.value.high) == (1_000, 100_000)
    assert plain(found).endswith("From somewhere between n = 1,000 and n = 100,000.")


def test_bytes_through_a_network_have_a_rate_and_no_ceiling() -> None:
    cases = [case("bench_send", 1e-3, "cpu/2x1", work=Work(bytes=1e6, path="network"))]
    found = by_name(asked(cases))["byte-rate-send-cpu/2x1"]
    assert plain(found).startswith("1.00 GB/s [")
    assert plain(found).endswith("] on 2 nodes.")


def test_the_crossover_grows_with_the_declared_work() -> None:
    """The work grows with the cube: so does what the accelerator's fixed cost is weighed with."""
    cases = [
        case("bench_solve", seconds, device, work=Work(flops=float(n**3)), n=n)
        for n in (8, 512)
        for device, seconds in (("cpu", n**3 * 1e-9), (GPU, 1e-3 + n**3 * 1e-12))
    ]
    found = by_name(asked(cases, accelerators=1))[f"crossover-solve-{GPU}"]
    assert found.value.value == pytest.approx((1e-3 / (1e-9 - 1e-12)) ** (1 / 3))


def test_a_slower_accelerator_is_called_slower_and_the_advice_is_the_cpu() -> None:
    cases = [sort(n, device, 1e-3 if device == "cpu" else 2e-3) for device in ("cpu", GPU)
             for n in SIZES]  # fmt: skip
    lead = asked(cases, accelerators=1).findings[0]
    assert lead.value.value == pytest.approx(0.5)
    assert lead.answer.startswith(
        f"2.000{X} [2.000, 2.000] the speed of the NVIDIA H200 on the CPU"
    )
    assert lead.rule_of_thumb == "Stay on the CPU."


def test_equal_speeds_are_no_measurable_difference() -> None:
    noisy = [1e-3 * factor for factor in WOBBLE[::-1]]
    cases = [sort(10), case("bench_sort", noisy, GPU, work=Work(), n=10)]
    cases[0] = case("bench_sort", 1e-3, "cpu", work=Work(), n=10)
    lead = asked(cases, accelerators=1).findings[0]
    assert lead.answer.startswith("No measurable difference: 1.0")


def test_the_best_rate_is_of_the_declared_work_with_its_size() -> None:
    found = by_name(asked(both(), accelerators=1))
    rate = found[f"byte-rate-sort-{GPU}"]
    assert rate.value.value == pytest.approx(8 * 100_000 / on_gpu(100_000) / 1.0, rel=0.2)
    assert "on the NVIDIA H200 at n = 100,000" in plain(rate)
    assert "item" not in " ".join(found)
    falling = [sort(n, seconds=1e-9 * n**2) for n in SIZES]
    of_cpu = plain(by_name(asked(falling))["byte-rate-sort-cpu"])
    assert of_cpu.startswith("800 MB/s [650, 960] on the CPU at n = 10.")


def test_only_items_give_the_time_of_each() -> None:
    cases = [case("bench_parse", 1e-3 * n, work=Work(items=1_000 * n), n=n) for n in (1, 2)]
    lead = asked(cases).findings
    each = next(one for one in lead if one.name == "item-seconds-parse-cpu")
    assert each.value.value == pytest.approx(1e-6)
    assert "per item on the CPU at n = 2" in plain(each)


def test_a_rate_is_a_part_of_what_the_run_measured_of_the_memory() -> None:
    section = asked([sort(100_000)], beside=[copies(0.01)])
    rate = by_name(section)["byte-rate-sort-cpu"]
    assert "2.980% [" in rate.answer  # 8e8 of 2**28 / 0.01
    assert "of the memory bandwidth (27 GB/s)" in rate.answer
    assert "bench.py::bench_within[cpu-134217728]" in rate.cases


def test_what_is_faster_than_the_memory_comes_from_caches() -> None:
    rate = by_name(asked([sort(10)], beside=[copies(1.0)]))["byte-rate-sort-cpu"]
    assert rate.answer.endswith("(270 MB/s), from caches.")


def test_operations_are_a_part_of_the_fastest_product_in_their_precision() -> None:
    product = case("bench_square", 0.01, work=Work(flops=2e9), n=1000, dtype="float32")
    half = [
        case("bench_solve", 0.1, work=Work(flops=1e10), n=n, dtype=dtype)
        for n, dtype in ((10, "float32"), (10, "float64"))
    ]
    section = asked(half, beside=[replace(product, group="matmul")])
    rate = by_name(section)["flop-rate-solve-cpu"]
    assert "50.00% [50.00, 50.00] of the fastest float32 product" in rate.answer
    assert "with dtype = float32" in plain(rate)


@pytest.mark.parametrize(
    ("work", "ceiling"),
    [
        (Work(bytes=1e6), "the datasheet's memory bandwidth (4.8 TB/s)"),
        (Work(bytes=1e6, path="host"), "the link's rate in one direction"),
        (Work(flops=1e9), "the datasheet's dense float32 peak (67 TFLOP/s"),
    ],
)
def test_without_a_measured_ceiling_the_datasheet_counts(work: Work, ceiling: str) -> None:
    section = asked([case("bench_x", 1e-3, GPU, work=work)], accelerators=1)
    assert ceiling in section.findings[0].answer


def test_the_precision_that_a_check_saw_chooses_the_peak() -> None:
    half = case("bench_x", 1e-3, GPU, work=Work(flops=1e9))
    half.extra_info.check = Check("x", 0.0, 1.0, precision="bfloat16")
    assert "dense bfloat16 peak" in asked([half], accelerators=1).findings[0].answer


def test_without_an_accelerator_the_rate_leads_and_the_comparison_is_absent() -> None:
    section = asked([sort(n) for n in SIZES])
    assert section.findings[0].name == "byte-rate-sort-cpu"
    absent = [one for one in section.findings if one.absent]
    assert [one.name for one in absent] == ["speed-up-sort", "crossover-sort"]
    assert {one.absent for one in absent} == {"no accelerator"}


def test_what_asks_for_no_device_is_compared_with_none() -> None:
    cases = [case("bench_words", 1e-3 * n, words=n) for n in (1, 2)]
    for one in cases:
        one.name = f"bench_words[{one.params['words']}]"
        one.fullname = f"bench.py::{one.name}"
    assert [one.name for one in asked(cases).findings] == ["time-words-cpu"]


def test_what_no_device_can_run_says_why_once() -> None:
    lacking = left_out("bench_x", "skipped", "needs two accelerators", device="none", n=1)
    (only,) = asked([], outcomes=[lacking]).findings
    assert (only.question, only.absent) == ("What?", "needs two accelerators")


def test_a_single_size_has_a_speed_up_and_no_crossover() -> None:
    section = asked([sort(10, device) for device in ("cpu", GPU)], accelerators=1)
    assert plain(section.findings[0]).startswith(f"900.1{X} [900.1, 900.1] the speed of the NVIDIA")
    assert "largest" not in section.findings[0].answer
    assert f"crossover-sort-{GPU}" not in by_name(section)
    assert [plot.kind for plot in section.plots] == ["dots"]


def test_what_varies_beside_the_size_is_named_and_the_headline_leads() -> None:
    cases = [
        sort(n, device, dtype=dtype)
        for dtype in ("float64", "float32")
        for device in ("cpu", GPU)
        for n in SIZES
    ]
    for one in cases:
        one.extra_info.headline = one.params["dtype"] == "float32"
    section = asked(cases, accelerators=1)
    lead = plain(section.findings[0])
    assert "on the NVIDIA H200 with dtype = float32 at n = 100,000" in lead
    assert "float32 stay on the CPU" in section.findings[0].rule_of_thumb
    (plot,) = section.plots
    assert [line.label for line in plot.series] == [
        f"{title}, dtype = {dtype}"
        for dtype in ("float32", "float64")
        for title in ("NVIDIA H200", "CPU")
    ]


def test_of_two_sizes_the_one_with_more_values_is_the_axis() -> None:
    cases = [
        case("bench_x", 1e-6 * batch * n, work=Work(), batch=batch, n=n)
        for batch in (1, 8)
        for n in (10, 20, 30)
    ]
    (plot,) = asked(cases).plots
    assert plot.x.label == "n"
    assert [line.label for line in plot.series] == ["CPU, batch = 1", "CPU, batch = 8"]


def test_many_variants_are_counted_in_charts() -> None:
    cases = [sort(n, how=str(how)) for how in range(9) for n in SIZES]
    section = asked(cases)
    (plot,) = section.plots
    assert len(plot.series) == 6
    assert plot.title.endswith("(3 more lines among the cases)")


def test_parameters_that_are_no_numbers_are_places_of_dots() -> None:
    cases = [case("bench_x", 1e-3, device, way=way) for way in "ab" for device in ("cpu", GPU)]
    section = asked(cases, accelerators=1)
    (plot,) = section.plots
    assert plot.kind == "dots"
    assert [point.x for point in plot.series[0].points] == ["way = a", "way = b"]
    assert "the speed of the CPU on the NVIDIA H200 with way = a" in plain(section.findings[0])


def test_a_failed_accelerator_says_why() -> None:
    failed = [
        left_out("bench_sort", "failed", "RuntimeError: no such call", device=GPU, n=n)
        for n in SIZES
    ]
    section = asked([sort(n) for n in SIZES], outcomes=failed, accelerators=1)
    found = by_name(section)
    assert found[f"speed-up-sort-{GPU}"].absent == "RuntimeError: no such call"
    assert section.findings[0].name == "byte-rate-sort-cpu"


def test_a_group_of_devices_has_times_and_rates_and_no_comparison() -> None:
    group = "cuda:0+cuda:1"
    cases = [case("bench_x", 1e-3 * n, group, work=Work(flops=1e9 * n), n=n) for n in (1, 2)]
    section = asked(cases, accelerators=2)
    assert [one.name for one in section.findings] == [f"flop-rate-x-{group}", f"time-x-{group}"]
    assert f"on 2{X} NVIDIA H200 at n = 1" in plain(section.findings[0])


def test_several_functions_are_told_apart_by_their_titles() -> None:
    cases = [case(name, 1e-3 * n, n=n) for name in ("bench_a", "bench_b") for n in (1, 2)]
    section = asked(cases)
    times = [one for one in section.findings if one.value]
    assert [plain(one).partition(":")[0] for one in times] == ["Do bench_a", "Do bench_b"]
    assert len({one.question for one in section.findings}) == len(section.findings)


@pytest.mark.parametrize("name", ["over", "what", "function", "items", "case", "device_", "where"])
def test_a_parameter_may_have_any_name(name: str) -> None:
    """Also one that a table of all cases uses for something else."""
    cases = [
        case("bench_x", 1e-3 * n, device, work=Work(items=7), size=n)
        for device in ("cpu", GPU)
        for n in (1, 2, 4)
    ]
    for one in cases:
        one.params[name] = one.params.pop("size")
    section = asked(cases, accelerators=1)
    assert [point.x for point in section.plots[0].series[0].points] == [1.0, 2.0, 4.0]


NORM = '''
"""How long does a norm take?"""

from frobench import Device, Measure, Work, cases, close_to


@cases("quick", n=[1_000, 1_000_000])
def bench_norm(measure: Measure, device: Device, n: int) -> None:
    """Compute the norm of n numbers."""
    numbers = device.uniform(n)
    measure(
        lambda: numbers.norm(),
        work=Work(flops=2 * n, bytes=numbers.nbytes),
        check=close_to(numbers.cpu().double().norm(), 1e-3, "the norm"),
    )
'''


def test_a_benchmark_in_a_folder_of_its_own_is_answered_in_the_terminal(tmp_path: Path) -> None:
    """Measured on the simulated accelerator, in the time of the machine's clock."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bench_norm.py").write_text(NORM, "utf-8")
    options = ("--profile", "quick", "--launches", 1, "--benchmarks", folder)
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "instruments" / "simulated")])
    made = frobench("run", *options, folder=tmp_path, environment={"PYTHONPATH": paths})
    assert made.returncode == 0, made.stderr
    path = tmp_path / made.stdout.splitlines()[-1]
    lead = next(one for one in answers(checks.credible(checks.read(path))).answers if one.leads)
    assert lead.name == "speed-up-norm-sim:0"
    assert "at n = 1,000,000." in " ".join(made.stderr.split())
    run = store.read(path)
    (section,) = sections(run)
    names = {one.name for one in section.findings}
    assert {"speed-up-norm-sim:0", "flop-rate-norm-sim:0", "byte-rate-norm-cpu"} <= names
    (plot,) = section.plots
    assert [line.label for line in plot.series] == ["Simulated accelerator", "CPU"]
    assert {one.name for one in tmp_path.iterdir()} == {"mine", "results", "frobench.lock"}
