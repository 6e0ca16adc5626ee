# SPDX-License-Identifier: MIT
"""What is said of the most that a chip gives, on runs whose truth is known."""

from msgspec.structs import replace

from frobench.reports.findings import Section, sections
from frobench.suite.stored.types import Case, Check, Outcome, Search, Work
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import (
    LAUNCHES,
    WOBBLE,
    by_name,
    case,
    left_out,
    plain,
    plot,
    with_cases,
)

GPU = "cuda:0"
RATES = {("cpu", "float32"): 1e11, (GPU, "float32"): 4e13, (GPU, "bfloat16"): 6e14}
SHAPE = (4096, 8192, 2048)


def searched(device: str, dtype: str, runner_up: float | None = 0.985) -> Case:
    """Build the case of a shape that was found."""
    function = "bench_product" if dtype in {"float32", "bfloat16"} else "bench_product_narrow"
    flops = 2.0 * SHAPE[0] * SHAPE[1] * SHAPE[2]
    seconds = flops / RATES[device, dtype]
    found = case(function, seconds, device, work=Work(flops=flops), dtype=dtype)
    search = Search(shape=[*SHAPE], shapes=87, seconds=3.125, runner_up=runner_up)
    found.extra_info.search = search
    return replace(found, group="attainable_peak")


def square(device: str, dtype: str, part: float) -> Case:
    """Build a square product that reaches a part of the most."""
    flops = 2.0 * 1024**3
    seconds = flops / (part * RATES[device, dtype])
    made = case("bench_square", seconds, device, work=Work(flops=flops), n=1024, dtype=dtype)
    return replace(made, group="matmul")


def answered(*cases: Case, without: tuple[Outcome, ...] = (), accelerators: int = 1) -> Section:
    """Return what the report answers of the most, in a run with these cases."""
    base = factory.run(accelerators=accelerators, launches=LAUNCHES)
    left = [replace(one, group="attainable_peak") for one in without]
    return sections(with_cases(base, cases, left, ["attainable_peak"]))[0]


WHOLE = (
    searched("cpu", "float32", runner_up=None),
    searched(GPU, "float32"),
    searched(GPU, "bfloat16"),
    square("cpu", "float32", 0.9),
    square(GPU, "float32", 0.8),
    square(GPU, "bfloat16", 0.7),
)


def test_the_fastest_precision_of_the_accelerator_leads_with_its_shape() -> None:
    section = answered(*WHOLE)
    assert section.findings[0].name == f"peak-{GPU}"
    lead = by_name(section)[f"peak-{GPU}"]
    middle = sorted(1 / factor for factor in WOBBLE)
    assert lead.value.value == 6e14 * (middle[3] + middle[4]) / 2
    assert lead.unit == "FLOP/s"
    answer = plain(lead)
    assert " in bfloat16, in bursts, " in answer
    assert "; 4,096 × 8,192 × 2,048 on the" in answer  # noqa: RUF001 - as it is printed
    assert answer.startswith("At least 750 TFLOP/s (median: 600 TFLOP/s [")


def test_float32_is_not_called_tf32_where_a_device_has_none() -> None:
    allowed = searched(GPU, "bfloat16")
    allowed.params["dtype"] = "tfloat32"
    for precision, told in (("tfloat32", True), ("float32", False)):
        allowed.extra_info.check = Check("every entry", 1e-6, 1e-2, precision)
        lead = by_name(answered(searched(GPU, "float32"), allowed))[f"peak-{GPU}"]
        assert ("tfloat32" in plain(lead)) == told


def test_how_sure_it_is_names_shapes_seconds_and_the_second_best() -> None:
    found = by_name(answered(*WHOLE))
    told = plain(found[f"searched-{GPU}"])
    assert "In bfloat16: 87 shapes tried in 3.1 s; the runner-up reaches 98.5% of" in told
    assert "; in float32: 87 shapes" in told
    assert plain(found["searched-cpu"]) == "In float32: 87 shapes tried in 3.1 s."


def test_a_machine_without_an_accelerator_says_so_and_leads_with_its_cpu() -> None:
    section = answered(WHOLE[0], accelerators=0)
    assert section.findings[0].name == "peak-cpu"
    assert by_name(section)["peak-accelerator"].answer == "Not measured: no accelerator."


def test_a_precision_that_failed_is_left_out() -> None:
    failed = left_out(
        "bench_product_narrow", "skipped", "no int8 product", device=GPU, dtype="int8"
    )
    section = answered(*WHOLE, without=(failed,))
    assert "int8" not in by_name(section)[f"peak-{GPU}"].answer


def test_the_plot_has_a_dot_for_each_precision_of_each_device() -> None:
    drawn = plot(answered(*WHOLE), "peak")
    assert [[point.x for point in line.points] for line in drawn.series] == [
        ["bfloat16", "float32"],
        ["float32"],
    ]
