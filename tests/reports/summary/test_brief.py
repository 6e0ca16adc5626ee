# SPDX-License-Identifier: MIT
"""The summary in words: a finding's own sentence each, and honest about what is missing."""

from functools import cache

from reports.findings.finding import Finding, Section
from reports.summary import paragraph, views
from suite.stored.run import Conclusion, Estimate, Run
from suite.units import format_estimate
from tests.instruments import factory

RATE = Estimate(447e9, 442e9, 450e9, 8)


def finding(name: str, answer: str, value: Estimate | None = None, unit: str = "") -> Finding:
    text = answer.replace("{value}", format_estimate(value, unit) if value else "")
    return Finding(name, "What?", text, value, unit, cases=(f"case of {name}",))


@cache
def whole(*, partial: bool) -> Run:
    run = factory.run(partial=partial, profile="quick")
    run.frobench.outcomes = [one for one in run.frobench.outcomes if one.status != "failed"]
    return run


def said(
    *,
    partial: bool = False,
    marks: views.Marks | None = None,
    **found: list[Finding],
) -> str:
    answered = [Section(name, name, "What?", "", tuple(one)) for name, one in found.items()]
    return paragraph.paragraph(whole(partial=partial), answered, marks or {})


def test_what_was_not_asked_is_not_mentioned() -> None:
    assert not said()


def test_answers_are_taken_as_they_are() -> None:
    crossover = finding(
        "crossover", "It is worth it from n = 91 [90, 92].", Estimate(91, 90, 92, 8), "n"
    )
    copies = finding("crossover-with-copies", "From n = 141.", Estimate(141, 140, 142, 8), "n")
    twice = finding(
        "efficiency-threads-cuda:0+cuda:1", "Two reach 97%.", Estimate(0.97, 0.9, 1, 8), "1"
    )
    halves = finding(
        "efficiency-processes-cpu/0+cpu/1", "Halves reach 90%.", Estimate(0.9, 0.8, 1, 8), "1"
    )
    text = said(matmul=[copies, crossover], parallel_matmul=[halves, twice])
    assert "It is worth it from n = 91 [90, 92]. Two reach 97%." in text
    assert "141" not in text
    assert "Halves" not in text


def test_a_benchmark_without_rules_is_named_with_its_first_number() -> None:
    absent = finding("speed-up-sort", "Not measured: no accelerator.")
    rate = finding("byte-rate-sort-cpu", "{value} on the CPU.", RATE, "B/s")
    text = said(big_sort=[absent, rate])
    assert text == "Big sort: 447 GB/s [442, 450] on the CPU."


def test_an_error_of_the_whole_run_is_told() -> None:
    run = factory.run(profile="quick")
    early = "launch 2 began too early"
    error = Conclusion(code="clock-set-back", severity="error", message=early, advice="")
    run.frobench.conclusions = [error]
    marks = views.marks(run)
    text = paragraph.paragraph(run, [], marks)
    assert "none of its figures is shown: clock-set-back: launch 2 began too early." in text


def test_what_was_not_measured_says_why() -> None:
    text = said(
        matmul=[finding("crossover", "Not measured: no accelerator.")],
        parallel_matmul=[finding("efficiency-accelerators", "Not measured: needs two.")],
    )
    assert text == (
        "Not measured: the size from which an accelerator is faster (no accelerator); "
        "the parallel efficiency of two devices (needs two)."
    )


def test_what_was_not_measured_comes_after_the_numbers() -> None:
    text = said(
        matmul=[finding("crossover", "Not measured: no accelerator.")],
        attainable_peak=[finding("peak-cpu", "{value} in bfloat16.", RATE, "FLOP/s")],
    )
    assert text.startswith("447 GFLOP/s [442, 450] in bfloat16. Not measured: the size")


def test_what_could_not_be_told_is_not_called_absent() -> None:
    text = said(matmul=[finding("crossover", "Launches differ too much to tell.")])
    assert text == "Launches differ too much to tell."


def test_the_fastest_precision_is_enough_with_its_part_of_the_peak() -> None:
    answer = "It reaches {value} in bfloat16, 71% of the peak; 204 GFLOP/s in float32. In bursts."
    text = said(attainable_peak=[finding("peak-cuda:0", answer, RATE, "FLOP/s")])
    assert text.endswith("It reaches 447 GFLOP/s [442, 450] in bfloat16, 71% of the peak.")
    unknown = "It reaches {value} in int8; 9 in float32; no percent of a peak, because of this."
    text = said(attainable_peak=[finding("peak-cuda:0", unknown, RATE, "FLOP/s")])
    assert text.endswith("in int8; no percent of a peak, because of this.")


def test_without_a_search_the_best_square_product_stands_for_the_rate() -> None:
    text = said(
        attainable_peak=[finding("peak-cpu", "Not measured: no time.")],
        matmul=[finding("best-rate-cpu", "The CPU reaches {value}.", RATE, "FLOP/s")],
    )
    assert "The CPU reaches 447 GFLOP/s [442, 450]." in text
    assert "no time" not in text


def test_doubts_failures_and_a_run_cut_short_are_told() -> None:
    found = finding("crossover", "From n = 91.", Estimate(91, 90, 92, 8), "n")
    marks: views.Marks = {"case of crossover": ("noisy",), "another": ("throttled",)}
    assert said(marks=marks, matmul=[found]).endswith("marked: noisy.")
    assert said(partial=True).endswith("The run is partial: not all of its launches have ended.")
