# SPDX-License-Identifier: MIT
"""What is said of small weights, on runs whose times and errors are known."""

from typing import Any

import pytest

from frobench.reports.findings import Section
from frobench.reports.findings.exercises.layers import decoding
from frobench.reports.findings.finding import RATIO
from frobench.reports.findings.select import cases_of
from frobench.suite.stored.types import Case, Check, Work
from tests.instruments.runs.exact_runs import answer, by_name, case, left_out, plain, plot, run_of
from tests.reports.findings.exercises.test_findings_transformer import BANDWIDTH, GPU, ceilings

SECONDS = {"bfloat16": 1e-4, "int8": 6e-5, "int4": 1e-4}
SHARE = 0.8
"""The part of the bandwidth that each reads with."""


def layer(weights: str, function: str = "bench_decode_graph", times: float = 1.0) -> Case:
    seconds = times * SECONDS[weights]
    work = Work(flops=1e6, bytes=SHARE * BANDWIDTH * seconds, items=1)
    params: dict[str, Any] = {"width": 4096, "weights": weights, "dtype": "bfloat16"}
    made = case(function, seconds, GPU, work=work, **params)
    error = {"bfloat16": 0.004, "int8": 0.007, "int4": 0.08}[weights]
    made.extra_info.check = Check("outputs", error, 0.3)
    return made


def said(*cases: Case, **more: Any) -> Section:  # noqa: ANN401 - as `answer` takes it
    section: Section = answer("small_weights", cases, accelerators=1, beside=ceilings(), **more)
    return section


def test_weights_gain_what_they_are_faster_and_lose_their_error() -> None:
    found = by_name(said(*map(layer, SECONDS)))
    int8 = found[f"int8-{GPU}"]
    assert int8.value is not None
    assert int8.value.value == pytest.approx(1e-4 / 6e-5)
    words = plain(int8)
    assert (
        "as fast with int8 weights as with bfloat16 (width 4,096, replayed from a graph)" in words
    )
    assert "; 80" in words
    assert "of the memory bandwidth" in words
    assert int8.rule_of_thumb == "Decode with int8 weights."
    int4 = found[f"int4-{GPU}"]
    assert plain(int4).startswith(f"No measurable difference: 1.000{RATIO}")
    assert int4.rule_of_thumb == ""


def test_a_replayed_layer_answers_before_one_that_is_launched_from_python() -> None:
    eager = [layer(weights, "bench_decode", 3.0) for weights in SECONDS]
    cases = cases_of(
        run_of("small_weights", [*eager, *map(layer, SECONDS)], accelerators=1), "small_weights"
    )
    known = decoding(cases, GPU)
    assert known.keys() == SECONDS.keys()
    assert all("bench_decode_graph" in case.fullname for case in known.values())
    words = plain(by_name(said(*eager))[f"int8-{GPU}"])
    assert "(width 4,096);" in words


def test_what_is_missing_says_why() -> None:
    reason = "no product of float8_e4m3fn weights here: RuntimeError"
    missing = left_out("bench_decode", "skipped", reason, device=GPU, weights="float8_e4m3fn")
    found = by_name(said(layer("bfloat16"), outcomes=[missing]))
    assert found[f"float8_e4m3fn-{GPU}"].answer == f"Not measured: {reason}."


def test_times_and_errors_are_drawn_by_type() -> None:
    section = said(*map(layer, SECONDS))
    for name in ("time", "error"):
        (series,) = plot(section, name).series
        assert [point.x for point in series.points] == list(SECONDS)
