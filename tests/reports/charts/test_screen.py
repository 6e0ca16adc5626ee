# SPDX-License-Identifier: MIT
"""Small charts show what the answer says, with its values, and keep labels apart."""

import re

from markupsafe import Markup

from frobench.reports.charts import screen
from frobench.reports.charts.screen import Bar
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point, Series
from tests.reports.charts.test_ruler import around


def curve(*labels: str) -> Plot:
    """Draw a line for each label, each twice as high as the one before."""
    series = [
        Series(
            label,
            tuple(Point(n, around(2.0**at * n), (f"{label}-{n:g}",)) for n in (16.0, 64.0, 256.0)),
        )
        for at, label in enumerate(labels)
    ]
    return Plot("name", "Title", "curve", Axis("n"), Axis("Rate", "FLOP/s"), tuple(series))


def lead(value: float | None, unit: str, *cases: str) -> Finding:
    return Finding("name", "What?", "Much.", around(value) if value else None, unit, cases=cases)


def texts(drawn: Markup) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawn)


def test_the_line_of_the_answer_comes_first_with_its_short_name() -> None:
    plot, names = curve("float32", "bfloat16"), {"bfloat16": "bf16", "float32": "fp32"}
    both = lead(512, "FLOP/s", "bfloat16-256", "float32-256")
    drawn = screen.chart(both, [plot], {}, names)
    assert [text for text in texts(drawn) if text in names.values()] == ["bf16", "fp32"]
    assert re.search('class="lab l1"[^>]*>bf16<', drawn)
    alone = screen.chart(lead(512, "FLOP/s", "bfloat16-256"), [plot], {}, names)
    assert 'class="k1"' in alone
    assert 'class="k2"' not in alone  # the answer is not of the other


def test_a_name_without_room_is_cut_at_a_comma_and_else_between_words() -> None:
    names = {
        "two processes, n = 2048": "two processes",
        "a product of two large matrices": "a product of two",
    }
    for name, cut in names.items():
        drawn = screen.chart(lead(1, RATIO, "a"), [], {name: [1.0, 2.0]}, {})
        assert texts(drawn) == [f"1 s to 2 s {cut}"]


def test_a_bar_names_its_datasheet_and_has_few_ticks() -> None:
    bars = [Bar(around(value), "B/s", "Memory") for value in (43e9, 57e9, 71e9, 99e9)]
    named = texts(screen.bar(Bar(around(50e9), "B/s", "Memory", 100e9, "datasheet")))
    assert "datasheet 100" in named
    assert 3 <= len([text for text in named if text.isdigit()]) <= 4
    assert all(len(texts(screen.bar(bar))) <= 4 for bar in bars)
    assert texts(screen.bar(bars[-1])) == ["0", "40", "80", "120"]


def test_without_a_chart_of_its_cases_there_is_a_bar_and_without_a_number_nothing() -> None:
    assert len(re.findall("<rect", screen.chart(lead(3, "s", "z"), [curve("a")], {}, {}))) == 1
    assert not screen.chart(lead(None, ""), [], {}, {})
