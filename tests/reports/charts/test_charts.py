# SPDX-License-Identifier: MIT
"""Charts that stand inside a page: themed, strict, told in words, true, whatever they show."""

import re
from xml.etree import ElementTree as ET

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frobench.reports.charts import axes
from frobench.reports.charts.axes import describe, hover
from frobench.reports.charts.plots import draw
from frobench.reports.findings.finding import RATIO, Axis, Plot, PlotKind, Point, Series
from frobench.suite.printable import printable
from frobench.suite.stored.types import Estimate
from frobench.suite.units import format_estimate

HOSTILE = "</svg><script>alert(1)</script>$x^2$ \x00\u202e"
MANY = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
"""As many examples at every call, however busy the machine is."""
NUMBERS = st.floats(1e-9, 1e15, allow_subnormal=False)


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    value = draw(NUMBERS)
    below, above = draw(st.floats(0, 0.9)), draw(st.floats(0, 2))
    known = draw(st.booleans())
    low, high = ((1 - below) * value, (1 + above) * value) if known else (None, None)
    return Estimate(value, low, high, 8 if known else 3)


@st.composite
def plots(draw: st.DrawFn) -> Plot:
    """Make any plot: a number at every place for each series, and for a stack the whole."""
    kind: PlotKind = draw(st.sampled_from(["curve", "points", "dots", "stack"]))
    sized = kind in {"curve", "points"} or draw(st.booleans())
    sizes = draw(st.lists(st.integers(1, 2**30), min_size=1, max_size=6, unique=True))
    places = sorted(map(float, sizes)) if sized else [f"way {size}" for size in sizes]
    labels = draw(st.lists(st.sampled_from([HOSTILE, "a", "b"]), min_size=1, max_size=9))

    def series(label: str) -> Series:
        return Series(label, tuple(Point(place, draw(estimates())) for place in places))

    unit = draw(st.sampled_from(["s", "FLOP/s", "B/s", RATIO, "1", "tokens/s"]))
    return Plot(
        "name",
        "A title",
        kind,
        Axis("size n" if sized else "way"),
        Axis("Time", unit),
        tuple(series(f"{at} {label}") for at, label in enumerate(labels)),
        draw(st.sampled_from(["", "a limit"])),
        draw(st.sampled_from([1.0, 1.01])),
        whole=series("whole") if kind == "stack" else None,
    )


def titles(root: ET.Element) -> list[str]:
    return [title.text or "" for title in root.iter() if title.tag.endswith("title")]


@MANY
@given(plots())
def test_any_chart_is_strict_follows_the_theme_and_tells_every_number(plot: Plot) -> None:
    drawn = draw(plot)
    root = ET.fromstring(drawn)  # noqa: S314 - drawn here
    assert "<script" not in drawn
    assert not {"style", "id", "fill", "stroke"} & {
        key for one in root.iter() for key in one.attrib
    }
    assert not re.findall(r"#[0-9a-f]{6}", drawn)  # classes alone
    assert (root.get("role"), root.get("aria-label")) == ("img", describe(plot))
    every = [*plot.series, *([plot.whole] if plot.whole else [])]
    told = [
        f"{printable(one.label)}, {plot.x.label} {axes.spell_x(point.x)}: "
        f"{format_estimate(point.y, plot.y.unit)}"
        for one in every
        for point in one.points
    ]
    assert sorted(titles(root)) == sorted(told)
    assert sorted(title for one in every for title in hover(plot, one)) == sorted(told)
