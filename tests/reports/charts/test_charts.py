# SPDX-License-Identifier: MIT
"""Charts that stand inside a page: themed, strict, told in words, whatever they show."""

import re
from xml.etree import ElementTree as ET

from hypothesis import given

from frobench.reports.charts.axes import describe
from frobench.reports.charts.plots import draw
from frobench.reports.findings.finding import Plot
from tests.reports.charts.test_ruler import STEADY, charts

HOSTILE = "</svg><script>alert(1)</script>$x^2$ \x00\u202e"


@STEADY
@given(charts([HOSTILE, f"{HOSTILE}, {HOSTILE}", *"abcdefg"]))
def test_any_chart_is_strict_and_follows_the_theme(plot: Plot) -> None:
    drawn = draw(plot)
    root = ET.fromstring(drawn)  # noqa: S314 - drawn here
    assert "<script" not in drawn
    assert not {"style", "id", "fill", "stroke"} & {
        key for one in root.iter() for key in one.attrib
    }
    assert not re.findall(r"#[0-9a-f]{6}", drawn)  # classes alone
    assert (root.get("role"), root.get("aria-label")) == ("img", describe(plot))
