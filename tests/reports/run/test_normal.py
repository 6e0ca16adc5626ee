# SPDX-License-Identifier: MIT
"""Whether a run's figures lie within those of others, on runs whose truth is known exactly."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.reports.run.first_screen import BesideOthers, beside_others
from frobench.reports.site.build import build as publish
from frobench.reports.summary.model import device_axes, with_others
from frobench.suite.datasheets import published
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from frobench.suite.units import format_value
from tests.instruments.faults.judging import made, put
from tests.instruments.runs.exact_runs import LAUNCHES, with_cases
from tests.reports.findings.table import cases
from tests.reports.pages import attributes, parsed, text_of
from tests.reports.summary.test_device_axes import micro

GPU = "cuda:0"
CARD = "NVIDIA GeForce RTX 4090"
BEST = [row.value for row in published.of(CARD, "matmul", "bfloat16")]


def run_of(*rates: float, card: str = CARD, machine: str = "one") -> Run:
    """Return a run of a product alone, at a rate in each launch or in all."""
    launches = ",".join(f"{max(rates) / rate}" for rate in rates)
    took = f"{micro(2.0 * 4096**3, max(rates))} | flops=2x^3 launches={launches}"
    product = cases(f"+ matmul/square | {GPU} | n=4096 dtype=bfloat16 | {took}")
    run = with_cases(made(accelerators=2, launches=LAUNCHES), product)
    environment = run.frobench.environment
    environment.machine = machine
    environment.label = machine.encode().hex().ljust(10, "0")[:10]
    put(environment.accelerators, "*.name", card)
    return run


def only(run: Run, *elsewhere: Run) -> BesideOthers:
    """Return the one axis that is known of others, the machines of other runs."""
    own = with_others(device_axes(run), [], map(device_axes, elsewhere))
    (found,) = beside_others(own, {})
    return found


@pytest.mark.parametrize(
    ("rates", "word"),
    [
        ([min(BEST)], "within"),
        ([min(BEST) * factor for factor in (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05)], "within"),
        ([min(BEST) * 0.91], "near"),
        ([min(BEST) * 0.89], "below"),
        ([max(BEST) * 1.11], "above"),
    ],
)
def test_a_rate_is_within_near_below_or_above_others(rates: list[float], word: str) -> None:
    row = only(run_of(*rates))
    assert (row.axis.title, row.word, row.stored_range) == ("Compute, bf16", word, "")
    figures = [text.partition(", ")[0] for text, _ in row.sources]
    assert figures == [format_value(one, "FLOP/s") for one in BEST]
    low, high = (round(value / 1e12) for value in (min(BEST), max(BEST)))
    assert row.published_range == f"{low} to {high} TFLOP/s ({len(BEST)})"


@pytest.mark.usefixtures("unjudged")
def test_the_page_shows_what_others_measured_and_where_it_is_found(tmp_path: Path) -> None:
    stored = store.write(run_of(0.5 * min(BEST)), tmp_path)
    page = parsed(publish([stored], tmp_path)[1])
    told = "Not normal for its kind: Compute, bf16 lies below what others measured."
    assert told in text_of(page)
    outward = page.select("[href*='://']")
    assert len(outward) == len(BEST)
    assert {one.name for one in outward} == {"a"}
    assert {*attributes(page, "rel", "[href*='://']")} == {"external noopener noreferrer"}


@pytest.mark.usefixtures("unjudged")
def test_stored_runs_of_the_same_device_count_one_for_each_other_machine(tmp_path: Path) -> None:
    """Of each other machine the newest run counts, and none of the run's own machine."""
    made = [("one", 500e12), ("two", 300e12), ("two", 98e12), ("three", 104e12), ("one", 100e12)]
    runs = [
        replace(run_of(rate, card="Another", machine=name), datetime=f"2026-01-0{day}")
        for day, (name, rate) in enumerate(made, start=1)
    ]
    runs.append(replace(run_of(7e14, card="Foreign"), datetime="2026-01-01"))
    built = publish([store.write(run, tmp_path / str(at)) for at, run in enumerate(runs)], tmp_path)
    found = [text for path in built[1:] if "98 to 104" in (text := path.read_text("utf-8"))]
    assert len(found) == 1
    assert all(words in found[0] for words in ("100.0", "4 other runs of this device"))
