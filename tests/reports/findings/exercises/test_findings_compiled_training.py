# SPDX-License-Identifier: MIT
"""What is said of compiled training steps, on runs whose times are known."""

from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.findings import Section
from frobench.suite.stored.types import Case, Work
from tests.instruments.runs.exact_runs import LAUNCHES, answer, by_name, case, left_out, plain, plot

GPU = "cuda:0"
EAGER, COMPILED, REPLAYED, COMPILE = 10e-3, 8e-3, 9e-3, 12.0
SHAPE: dict[str, Any] = {"width": 4096, "layers": 1, "dtype": "bfloat16"}


def step(seconds: float = COMPILED) -> Case:
    made = case("bench_step", seconds, GPU, work=Work(flops=1e12, items=1024), **SHAPE)
    made.extra_info.against = [EAGER / seconds * one for one in made.stats.data]
    made.extra_info.parts["compile"] = [COMPILE] * LAUNCHES
    return made


def said(*cases: Case, **more: Any) -> Section:  # noqa: ANN401 - as `answer` takes it
    replayed = case("bench_train_graph", REPLAYED, GPU, work=Work(flops=1e12), **SHAPE)
    beside = [replace(replayed, group="transformer")]
    section: Section = answer("compiled_training", cases, accelerators=1, beside=beside, **more)
    return section


def test_a_compiled_step_gains_what_it_is_faster() -> None:
    gain = by_name(said(step()))[f"gain-{GPU}"]
    assert gain.value is not None
    assert gain.value.value == pytest.approx(EAGER / COMPILED)
    assert plain(gain).endswith("as fast compiled, in training (width 4,096, bfloat16).")
    assert gain.rule_of_thumb == "Compile long trainings."


def test_compiling_pays_when_it_has_saved_as_long_as_it_took() -> None:
    pays = by_name(said(step()))[f"pays-{GPU}"]
    assert pays.value is not None
    assert pays.value.value == pytest.approx(COMPILE / (1 - COMPILED / EAGER))
    assert pays.rule_of_thumb.startswith("Compile trainings of more than 60")
    assert "; compiling takes 12" in plain(pays)


def test_compiling_that_is_not_faster_never_pays() -> None:
    found = by_name(said(step(1.1 * EAGER)))
    assert plain(found[f"pays-{GPU}"]).startswith("Never, as far as this run shows: compiling")
    assert found[f"gain-{GPU}"].rule_of_thumb == ""


def test_what_is_missing_says_why() -> None:
    reason = "no compiler here: none"
    missing = left_out("bench_step", "skipped", reason, device=GPU, **SHAPE)
    found = by_name(said(outcomes=[missing]))
    assert found[f"gain-{GPU}"].answer == f"Not measured: {reason}."


def test_the_three_steps_are_drawn() -> None:
    (series,) = plot(said(step()), "step").series
    seconds = {point.x: point.y.value for point in series.points}
    expected = {"launched from Python": EAGER, "replayed": REPLAYED, "compiled": COMPILED}
    assert seconds == pytest.approx(expected, rel=0.06)
