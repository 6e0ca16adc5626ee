# SPDX-License-Identifier: MIT
"""Whether a run's figures lie within those of others, on runs whose truth is known exactly."""

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.run import normal, published
from frobench.reports.run.normal import Verdict
from frobench.reports.site.build import build as publish
from frobench.reports.summary.headlines import figures
from frobench.reports.summary.model import Summary, summarise
from frobench.reports.table.estimates import estimates
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Exercise, Outcome, Run, Work
from tests.instruments.faults.judging import made
from tests.instruments.runs.exact_runs import LAUNCHES, case
from tests.reports.run.test_page import Reader

GPU = "cuda:0"
CARD = "NVIDIA GeForce RTX 4090"
BEST = [row.value for row in published.of(CARD, "matmul", "bfloat16")]
N = 4096


def run_of(cases: list[Case], group: str = "matmul", card: str = CARD, machine: str = "one") -> Run:
    """Return a run of these cases alone, on a machine with one accelerator."""
    base = made(accelerators=2, launches=LAUNCHES)
    cases = [replace(one, group=group) for one in cases]
    part = base.frobench
    part.outcomes = [
        Outcome(fullname=one.fullname, group=group, params=one.params, status="passed")
        for one in cases
    ]
    part.exercises = {group: Exercise(question="What?", explanation="That.")}
    part.environment.machine = machine
    part.environment.label = machine.encode().hex().ljust(10, "0")[:10]
    for accelerator in part.environment.accelerators:
        accelerator.name = card
    return replace(base, benchmarks=cases)


def product(rate: float, device: str = GPU, dtype: str = "bfloat16") -> Case:
    flops = 2.0 * N**3
    steady = [flops / rate] * LAUNCHES
    return case("bench_square", steady, device, work=Work(flops=flops), n=N, dtype=dtype)


def copied(rate: float, function: str = "bench_to_device", **params: Any) -> Case:  # noqa: ANN401 - as `case` takes them
    size = 2**26
    work = Work(bytes=float(size))
    return case(function, [size / rate] * LAUNCHES, GPU, work=work, size=size, **params)


def held(run: Run, *newest_first: Run) -> list[Verdict]:
    """Hold a run against others that were measured before it."""
    earlier_runs = normal.EarlierRuns()
    for one in reversed(newest_first):
        earlier_runs.put(summary(one))
    own = summary(run)
    return normal.verdicts(own.figures, [one.figures for one in earlier_runs.others(own)])


def summary(run: Run) -> Summary:
    return summarise(run, "", estimates(run))


def only(run: Run, *others: Run) -> Verdict:
    (found,) = held(run, *others)
    return found


def told(run: Run, *others: Run) -> str:
    return normal.sentence(only(run, *others)).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("rate", "word"),
    [
        (min(BEST), "within"),
        ((min(BEST) + max(BEST)) / 2, "within"),
        (max(BEST), "within"),
        (min(BEST) * 0.91, "near"),
        (max(BEST) * 1.09, "near"),
        (min(BEST) * 0.89, "below"),
        (max(BEST) * 1.11, "above"),
    ],
)
def test_a_rate_is_within_near_below_or_above_what_was_published(rate: float, word: str) -> None:
    verdict = only(run_of([product(rate)]))
    assert (verdict.word, verdict.stored) == (word, ())
    assert [row.value for row in verdict.published] == BEST
    assert f"lies {word} what others measured on an {CARD}" in normal.sentence(verdict)
    assert bool(normal.hint(run_of([]), verdict)) == (word in {"below", "above"})


def test_the_sentence_names_figure_interval_range_and_number() -> None:
    rows = published.of(CARD, "matmul", "bfloat16")
    text = told(run_of([product(170e12)]))
    assert text.startswith("Your bfloat16 rate of 170.0 TFLOP/s [170.0, 170.0] lies within")
    low, high = (round(row.value / 1e12) for row in (rows[0], rows[-1]))
    assert text.endswith(f"({low} to {high} TFLOP/s; {len(rows)} published).")


def test_an_interval_that_reaches_the_range_is_within_it() -> None:
    flops, low = 2.0 * N**3, min(BEST)
    seconds = [flops / (low * factor) for factor in (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05)]
    one = case("bench_square", seconds, GPU, work=Work(flops=flops), n=N, dtype="bfloat16")
    assert only(run_of([one])).word == "within"


def test_nothing_is_said_where_there_is_nothing_to_hold_a_figure_against() -> None:
    assert held(run_of([product(1e14)], card="Another")) == []
    assert held(run_of([product(1e11, device="cpu", dtype="float32")])) == []
    assert held(run_of([])) == []


def test_stored_runs_of_the_same_device_count_one_for_each_other_machine() -> None:
    mine = run_of([product(100e12)], card="Another")
    again = run_of([product(500e12)], card="Another")
    theirs = run_of([product(98e12)], card="Another", machine="two")
    older = run_of([product(300e12)], card="Another", machine="two")
    third = run_of([product(104e12)], card="Another", machine="three")
    foreign = run_of([product(700e12)], card="Foreign", machine="four")
    verdict = only(mine, again, theirs, older, third, foreign)
    assert verdict.stored == pytest.approx((98e12, 104e12))
    assert told(mine, again, theirs, older, third, foreign).endswith(
        "lies within what others measured on an Another (98 to 104 TFLOP/s; 2 stored runs)."
    )


def test_stored_and_published_figures_make_one_range_and_are_counted_apart() -> None:
    theirs = run_of([product(2 * max(BEST))], machine="two")
    verdict = only(run_of([product(1.9 * max(BEST))]), theirs)
    assert verdict.word == "within"
    assert normal.sentence(verdict).endswith(f"; {len(BEST)} published and 1 stored run).")


def test_a_single_figure_is_no_range() -> None:
    theirs = run_of([product(2e14)], card="Another", machine="two")
    assert "agrees with the one figure known of an Another (200 TFLOP/s; 1 stored run)" in told(
        run_of([product(2e14)], card="Another"), theirs
    )


def test_a_capped_card_and_a_narrow_link_are_named_where_they_explain_it() -> None:
    run = run_of([product(0.5 * min(BEST))])
    card = run.frobench.environment.accelerators[0]
    assert "power cap was" not in normal.hint(run, only(run))
    card.power_limit_watts = 300.0
    assert normal.hint(run, only(run)).startswith("Its power cap was 300 W, of 700 W by default.")
    run = run_of([copied(3e9, memory="pinned")], "copies")
    theirs = run_of([copied(25e9, memory="pinned")], "copies", machine="two")
    run.frobench.environment.accelerators[0].pcie_width = 4
    assert normal.hint(run, only(run, theirs)).startswith("Its link had 4 lanes, of 16.")


def test_copies_are_named_by_the_host_s_memory_and_only_large_ones_count() -> None:
    found = figures(
        run_of(
            [
                copied(11e9, memory="pageable"),
                copied(25e9, memory="pinned"),
                copied(26e9, "bench_to_host", memory="pinned"),
                copied(900e9, "bench_within"),
            ],
            "copies",
        )
    )
    assert {one.quantity: round(one.value.value / 1e9) for one in found} == {
        "copy_to_device_pageable": 11,
        "copy_to_device_pinned": 25,
        "copy_to_host_pinned": 26,
        "copy_within": 900,
    }
    small = case("bench_within", 1e-6, GPU, work=Work(bytes=8192.0), size=4096)
    run = run_of([small], "copies")
    assert figures(run) == []


def test_launches_and_devices_at_once_are_held_against_stored_runs() -> None:
    def both(machine: str, enqueue: float, seconds: float) -> Run:
        tiny = product(1e12, dtype="float32")
        tiny.extra_info.parts["enqueue"] = [enqueue] * LAUNCHES
        work = Work(items=1.0)
        alone = case("bench_sequence", [1.0] * LAUNCHES, GPU, work=work, n=N)
        pair = f"{GPU}+cuda:1"
        at_once = case("bench_one_thread", [seconds] * LAUNCHES, pair, work=work, n=N)
        run = run_of([tiny], machine=machine, card="Another")
        other = run_of([alone, at_once], "parallel_matmul", machine=machine, card="Another")
        run.benchmarks += other.benchmarks
        run.frobench.outcomes += other.frobench.outcomes
        return run

    mine, theirs = both("one", 9e-6, 1.25), both("two", 5e-6, 1.02)
    by_quantity = {one.figure.quantity: one for one in held(mine, theirs)}
    assert by_quantity["launch"].word == "above"
    assert "governor" in normal.hint(mine, by_quantity["launch"])
    assert by_quantity["efficiency"].word == "below"
    assert "share" in normal.hint(mine, by_quantity["efficiency"])
    text = normal.sentence(by_quantity["efficiency"])
    assert text.startswith("Your efficiency of products on 2 at once of 80.00% [80.00, 80.00]")


def test_a_figure_that_is_better_is_doubted() -> None:
    run = run_of([product(2 * max(BEST))])
    assert "Look at the precision that the check saw" in normal.hint(run, only(run))


@pytest.mark.usefixtures("unjudged")
def test_the_page_shows_what_others_measured_and_where_it_is_found(tmp_path: Path) -> None:
    stored = store.write(run_of([product(0.5 * min(BEST))]), tmp_path)
    paths = [publish([stored], tmp_path / folder)[1] for folder in ("a", "b")]
    text, again = (path.read_text("utf-8") for path in paths)
    assert text == again
    reader = Reader(text)
    assert "Is it normal?" in reader.text
    assert "lies below what others measured on an NVIDIA GeForce RTX 4090" in reader.text
    outward = [one for tag, one in reader.tags if re.match(r"\w+://", one.get("href", ""))]
    assert len(outward) == len(BEST)
    assert {one["rel"] for one in outward} == {"external noopener noreferrer"}
    assert {tag for tag, one in reader.tags if one in outward} == {"a"}


@pytest.mark.usefixtures("unjudged")
def test_a_page_without_others_says_nothing_of_them(tmp_path: Path) -> None:
    run = run_of([product(1e14)], card="<b>Another</b>")
    text = publish([store.write(run, tmp_path)], tmp_path / "site")[1].read_text("utf-8")
    assert "Is it normal?" not in text
    assert 'href="#normal"' not in text


@pytest.mark.usefixtures("unjudged")
def test_names_of_devices_are_escaped(tmp_path: Path) -> None:
    runs = [
        run_of([product(1e14)], card="<b>Another</b>", machine=machine)
        for machine in ("one", "two")
    ]
    built = publish([store.write(run, tmp_path) for run in runs], tmp_path / "site")
    newest, oldest = (path.read_text("utf-8") for path in built[1:])
    assert "Is it normal?" in newest
    assert "Is it normal?" not in oldest  # nothing had been measured before it
    assert "<b>Another" not in newest + oldest
