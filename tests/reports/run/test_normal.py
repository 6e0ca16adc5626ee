# SPDX-License-Identifier: MIT
"""Whether a run's figures lie within those of others, on runs whose truth is known exactly."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.reports.run.first_screen import BesideOthers, beside_others
from frobench.reports.site.build import build as publish
from frobench.reports.summary.model import device_axes, with_others
from frobench.suite.datasheets import published
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Run, Work
from frobench.suite.units import format_value
from tests.instruments.faults.judging import made
from tests.instruments.runs.exact_runs import LAUNCHES, case, with_cases
from tests.reports.run.test_page import Reader

GPU = "cuda:0"
CARD = "NVIDIA GeForce RTX 4090"
BEST = [row.value for row in published.of(CARD, "matmul", "bfloat16")]
N = 4096


def run_of(cases: list[Case], group: str = "matmul", card: str = CARD, machine: str = "one") -> Run:
    """Return a run of these cases alone, on a machine with one accelerator."""
    cases = [replace(one, group=group) for one in cases]
    base = with_cases(made(accelerators=2, launches=LAUNCHES), cases)
    part = base.frobench
    part.environment.machine = machine
    part.environment.label = machine.encode().hex().ljust(10, "0")[:10]
    for accelerator in part.environment.accelerators:
        accelerator.name = card
    return base


def product(rate: float, device: str = GPU, dtype: str = "bfloat16") -> Case:
    flops = 2.0 * N**3
    steady = [flops / rate] * LAUNCHES
    return case("bench_square", steady, device, work=Work(flops=flops), n=N, dtype=dtype)


def only(run: Run, *elsewhere: Run) -> BesideOthers:
    """Return the one axis that is known of others, the machines of other runs."""
    own = with_others(device_axes(run), [], map(device_axes, elsewhere))
    (found,) = beside_others(own, {})
    return found


@pytest.mark.parametrize(
    ("rate", "word"),
    [
        (min(BEST), "within"),
        (min(BEST) * 0.91, "near"),
        (min(BEST) * 0.89, "below"),
        (max(BEST) * 1.11, "above"),
    ],
)
def test_a_rate_is_within_near_below_or_above_what_was_published(rate: float, word: str) -> None:
    row = only(run_of([product(rate)]))
    assert (row.axis.title, row.word, row.stored_range) == ("Compute, bf16", word, "")
    figures = [text.partition(", ")[0] for text, _ in row.sources]
    assert figures == [format_value(one, "FLOP/s") for one in BEST]
    low, high = (round(value / 1e12) for value in (min(BEST), max(BEST)))
    assert row.published_range.endswith(f" TFLOP/s ({len(BEST)})")
    assert row.published_range.startswith(f"{low} to {high}")
    assert len(row.sources) == len(BEST)


def test_an_interval_that_reaches_the_range_is_within_it() -> None:
    flops, low = 2.0 * N**3, min(BEST)
    seconds = [flops / (low * factor) for factor in (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05)]
    one = case("bench_square", seconds, GPU, work=Work(flops=flops), n=N, dtype="bfloat16")
    assert only(run_of([one])).word == "within"


@pytest.mark.usefixtures("unjudged")
def test_the_page_shows_what_others_measured_and_where_it_is_found(tmp_path: Path) -> None:
    stored = store.write(run_of([product(0.5 * min(BEST))]), tmp_path)
    paths = [publish([stored], tmp_path / folder)[1] for folder in ("a", "b")]
    text, again = (path.read_text("utf-8") for path in paths)
    assert text == again
    reader = Reader(text)
    assert "Is it normal?" in reader.text
    assert "Not normal for its kind: Compute, bf16 lies below what others measured." in reader.text
    outward = [one for tag, one in reader.tags if re.match(r"\w+://", one.get("href", ""))]
    assert len(outward) == len(BEST)
    assert {one["rel"] for one in outward} == {"external noopener noreferrer"}
    assert {tag for tag, one in reader.tags if one in outward} == {"a"}


@pytest.mark.usefixtures("unjudged")
def test_stored_runs_of_the_same_device_count_one_for_each_other_machine(tmp_path: Path) -> None:
    """Of each other machine the newest run counts, and none of the run's own machine."""
    made = [("one", 500e12), ("two", 300e12), ("two", 98e12), ("three", 104e12), ("one", 100e12)]
    runs = [
        replace(run_of([product(rate)], "matmul", "Another", name), datetime=f"2026-01-0{day}")
        for day, (name, rate) in enumerate(made, start=1)
    ]
    runs.append(replace(run_of([product(7e14)], card="Foreign"), datetime="2026-01-01"))
    built = publish([store.write(run, tmp_path / str(at)) for at, run in enumerate(runs)], tmp_path)
    found = [text for path in built[1:] if "98 to 104" in (text := path.read_text("utf-8"))]
    assert len(found) == 1
    assert "100.0" in found[0]
