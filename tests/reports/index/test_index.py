# SPDX-License-Identifier: MIT
"""The index tells every run without a script, and hands a script what it needs to compare them."""

import math
import re
from functools import cache
from typing import Any

import pytest
from bs4 import Tag
from msgspec.structs import replace

from frobench.reports.findings.finding import RATIO
from frobench.reports.index import index
from frobench.reports.making.broken import Broken
from frobench.reports.purchase import machines, script
from frobench.reports.purchase.prices import Price
from frobench.reports.summary.model import Summary, summarise
from frobench.reports.table.launches import STEP, Logs, Scored, estimates
from frobench.reports.table.workloads import table
from frobench.suite.datasheets import published as known_figures
from frobench.suite.datasheets.published import Published
from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import put
from tests.instruments.runs import factory, made_up_cards
from tests.instruments.runs.made_up_cards import CARD
from tests.reports.pages import attributes, block, parsed, text_of
from tests.reports.run.test_first_screen import noisy

FAULT = "clock: it stood still"
PRICE = Price("NVIDIA", None, 500.0, "USD", "2026-01-01", "list", "a list", "")
NOTHING = Scored(seconds=Logs({}, {}, 0.0), joules=Logs({}, {}, 0.0), left_out={})
"""What scores of an invalid run are made of."""


def of(run: Run) -> Summary:
    return summarise(run, "0" * 64, estimates(run))


@cache
def measured(accelerators: int = 1) -> Summary:
    """Return what is known of a card, or of a machine without one."""
    run = factory.run(accelerators=accelerators)
    if accelerators:
        card = run.frobench.environment
        run = made_up_cards.run(CARD)
        run.frobench.environment = card
    return of(run)


def on_day(day: int, name: str = "a", accelerators: int = 1, **changes: Any) -> Summary:  # noqa: ANN401
    """Return what is known of a run of the machine `name`."""
    known = {"device_id": changes["device"]} | changes if "device" in changes else changes
    when, href = f"2026-03-{day:02d}T12:30:00+00:00", f"{name}/{day}.html"
    return replace(measured(accelerators), machine_id=name, datetime=when, href=href, **known)


def lines(page: str, table: str = "runs") -> list[Tag]:
    """Return the rows of a table: of ``runs``, ``devices-table`` or ``elsewhere-table``."""
    closed = page.replace("<tr", "</tr><tr")  # the table of runs leaves these ends out
    return [*parsed(closed).select(f"#{table} tbody tr")]


def rows(page: str) -> list[str]:
    """Return the rows of the table of runs, each its text."""
    return [text_of(row) for row in lines(page)]


def devices(page: str) -> list[str]:
    """Return the rows of the table of devices, each its text."""
    return [text_of(row) for row in lines(page, "devices-table")]


def links(page: str, table: str = "runs") -> list[str]:
    return [link for row in lines(page, table) for link in attributes(row, "href", "a")]


def test_runs_are_newest_first_with_the_earlier_ones_beneath_their_machine_s_newest() -> None:
    runs = [on_day(1, "a"), on_day(4, "b"), on_day(3, "a"), on_day(2, "b"), on_day(9, "c")]
    assert links(index.page(runs)) == ["c/9.html", "b/4.html", "b/2.html", "a/3.html", "a/1.html"]


def named(name: str, device: str, day: int, times: float = 1.0, **changes: Any) -> Summary:  # noqa: ANN401
    """Return a run of a machine with another device, so many times as fast in all."""
    centres = {
        part: {
            kind: {case: log - math.log(times) for case, log in cases.items()}
            for kind, cases in kinds.items()
        }
        for part, kinds in measured().scored.seconds.centres.items()
    }
    scored = measured().scored
    scored = replace(scored, seconds=replace(scored.seconds, centres=centres))
    known: dict[str, Any] = {"device": device, "scored": scored}
    return on_day(day, name, **known | changes)


CARDS = [
    named("a", "Card A", 1),
    named("a", "Card A", 2),
    named("b", "Card B", 3, 3.0),
    named("c", "Card A", 4, 1.1),
    named("d", "Card C", 5, 2.0),
]


def test_a_device_has_one_row_and_the_fastest_comes_first() -> None:
    page = index.page(CARDS, [PRICE], reference="c/4.html")
    assert devices(page)[2] == (
        f"Card A 3 runs, 2 specimens 1.00{RATIO} baseline, [0.91, 1.00], covers 100% 700 [699, "
        "703] bfloat16 4.299 [4.293, 4.303] 144 700 power limit 500 2026-01 2.00 [1.82, 2.00]"
    )
    assert links(page, "devices-table") == ["b/3.html", "d/5.html", "c/4.html"]
    (drawn,) = parsed(page).select("#devices-table")
    assert attributes(drawn, "width", "rect") == ["96.15%", "64.07%", "35.23%"]
    assert attributes(drawn, "cx", "circle") == ["32.04%"]  # the other specimen
    drawn = parsed(index.page([named("c", "Card A", 1, 1.1), named("a", "Card A", 2)]))
    assert attributes(drawn, "cx", "#devices-table circle") == ["96.15%"]  # a faster one


def test_a_run_is_doubtful_if_most_of_its_cases_are_noisy_or_other_programs_ran() -> None:
    run = factory.run(profile="quick")
    assert not of(run).doubt
    put(run, "frobench.launches.*.others", 1.0)
    assert of(run).doubt == "other programs used 1.0 of 2 cores"
    put(run, "frobench.launches.*.others", 0.01)
    run.frobench.conclusions, count = noisy(run.benchmarks), len(run.benchmarks)
    assert of(run).doubt == f"{count} of {count} cases noisy"
    del run.frobench.conclusions[count // 2 :]
    assert not of(run).doubt


def test_published_figures_of_others_are_hollow_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = [
        Published(name, f"^{name}$", what, dtype, 1e9 * value, "events", "torch", address, "2026")
        for name, what, dtype, value, address in (
            ("Slow", "matmul", "bfloat16", 10e3, "a"),
            ("Slow", "read_within", "", 1e3, "a"),
            ("Near", "matmul", "float16", 49e3, "a"),
            ("Near", "matmul", "float16", 50e3, "a"),
            ("NVIDIA H200", "matmul", "bfloat16", 800e3, "a"),
            ("Fast", "matmul", "bfloat16", 80e3, "a"),
            ("Fast", "matmul", "bfloat16", 100e3, "b"),
            ("Fast", "matmul", "float16", 90e3, "a"),
            ("Fast", "copy_within", "", 2.5e3, "a"),
            ("Fast", "copy_within", "", 2e3, "a"),
            ("Fast", "read_within", "", 9e3, "a"),
            ("Bare", "copy_to_device_pinned", "", 25, "a"),
        )
    ]
    monkeypatch.setattr(known_figures, "_all", lambda: figures)
    page = index.page(CARDS)
    assert [text_of(row) for row in lines(page, "elsewhere-table")] == [
        "Fast 80 to 100 2 sources, bfloat16 2.0 to 2.5 1 source, copies unknown",
        "Near 49 to 50 1 source, float16 unknown unknown",
        "Slow 10 1 source, bfloat16 1 1 source, reads unknown",
        "Bare unknown unknown 25 1 source, pinned",
    ]
    (drawn,) = parsed(page).select("#elsewhere-table")
    assert attributes(drawn, "width", "rect.spec") == ["8.64%"]  # beside points of less than 4%
    assert attributes(drawn, "cx", "circle.spec") == ["67.35%", "5.41%"]
    assert not drawn.select(".f1")
    assert "published figures are hollow and have none" in text_of(page)


def test_the_baseline_is_named_or_a_card_that_everybody_knows_or_the_newest_sound_run() -> None:
    def baseline(*more: Summary, reference: str = "") -> str:
        found = re.search(
            r"Baseline, 1\S: (.*?)\.", text_of(index.page([*CARDS, *more], reference=reference))
        )
        assert found
        return found[1]

    assert baseline() == "Card C"
    assert baseline(named("e", "Card E", 9, complete=False)) == "Card C"
    assert baseline(named("e", "Card E", 9, doubt="noisy")) == "Card C"
    assert baseline(named("e", "Card E", 9)) == "Card E"
    known = table().baseline
    assert baseline(named("k", known, 1), named("e", "Card E", 9)) == known
    assert baseline(named("k", known, 1), reference="b/3.html") == "Card B"


def test_an_invalid_run_says_why_in_its_row_and_has_no_axis() -> None:
    page = index.page([on_day(2, "a"), named("b", "Card B", 1, faults=(FAULT,), scored=NOTHING)])
    assert f"invalid run, not ranked {FAULT}" in devices(page)[1]
    found = block(page, "#data")
    good, bad = found["runs"]
    assert (good.get("invalid"), bad["invalid"], bad["axes"]) == (None, FAULT, [])
    names = {found["axis_kinds"][kind][0] for kind, *_ in good["axes"]}
    assert names >= {"compute", "memory", "link_to_device"}


def test_logarithms_are_packed_into_two_digits_where_these_suffice() -> None:
    for steps, logs in ((1, {"#", "$"}), (7743, {"~"}), (7744, {7744})):
        runs = [named("b", "Card B", 2, math.exp(steps * STEP)), on_day(1)]
        packed = block(index.page(runs), "#data")
        assert {*packed["runs"][1]["seconds"]["logs"]} == logs
        links = [(run.href, run.title) for run in runs]
        unpacked = script.call("(...given) => index.unpacked(...given).runs", packed, links)
        assert unpacked == script.call("(data) => data.runs", machines.data(runs))


def test_a_device_has_its_newest_run_that_ended_without_errors() -> None:
    runs = [
        on_day(1, "a"),
        on_day(2, "a", complete=False),
        on_day(2, "a", doubt="most of its cases are noisy"),
        on_day(3, "b", faults=(FAULT,), scored=NOTHING),
    ]
    page = index.page(runs)
    assert links(page, "devices-table") == ["a/1.html"]
    assert "4 runs, 2 specimens" in devices(page)[0]


def test_a_row_tells_what_to_doubt() -> None:
    runs = [on_day(9, complete=False, failed=2, faults=(FAULT,)), on_day(8, doubt="odd")]
    page = index.page(runs)
    name = "NVIDIA H200 + AMD EPYC 9654 96-Core Processor, 2 cores"
    assert rows(page) == [
        f"{name} newest of 2 2026-03-09 12:30 2.13.0 rigorous 8 112 partial errors 2 failed",
        f"{name} earlier 2026-03-08 12:30 2.13.0 rigorous 8 112 odd",
    ]
    assert [text_of(one) for one in parsed(page).select("#runs .bad")] == ["errors", "2 failed"]


def test_a_long_name_of_a_file_without_a_page_is_cut() -> None:
    page = index.page([], broken=[Broken("n" * 201, "r" * 200, ", and 1 more")])
    assert f"{'n' * 200}\u2026 : {'r' * 200}, and 1 more" in text_of(page)


def test_only_an_index_of_runs_with_nothing_to_compare_is_called_one_of_runs() -> None:
    bare = replace(on_day(1), axes=replace(measured().axes, axes=[]), scored=NOTHING)
    for runs, name in (([], "Which device for which work"), ([bare], "Stored runs")):
        assert text_of(parsed(index.page(runs)).select("h1")[0]) == name
