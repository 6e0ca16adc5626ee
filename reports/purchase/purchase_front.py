# SPDX-License-Identifier: MIT
"""Speed against what it takes, with the Pareto front, as `static/purchase_front.js` draws it."""

from dataclasses import dataclass

from markupsafe import Markup

from reports.charts.scales import Scale, labels, spanning
from reports.findings.finding import RATIO
from reports.purchase.economics import Amount
from reports.purchase.purchase_tables import line, name, number, plain, table
from reports.purchase.purchase_view import Across, Row, View, listed
from reports.purchase.ranking import beaters
from reports.web.elements import element, percent
from suite.units import axis_scale

HEIGHT = 340
"""Of the chart, in CSS pixels."""
TITLES: dict[Across, str] = {
    "price": "Price of a device",
    "ownership": "Cost of ownership of a device",
    "watts": "Power of a device",
    "memory": "Memory of a device",
}
_UNITS: dict[Across, str] = {"watts": "W", "memory": "B"}
_MORE: Across = "memory"
"""What more of is better."""


@dataclass(frozen=True)
class Point:
    """A machine of which speed and amount are known.

    Parameters
    ----------
    beaters, near
        Who is surely faster and costs no more; who costs less and is not surely slower.
    """

    row: Row
    ratio: Amount
    amount: float
    beaters: list[Row]
    near: list[Row]

    @property
    def within(self) -> bool:
        """Whether it is on the front."""
        return not self.beaters

    @property
    def word(self) -> str:
        """Where the machine stands."""
        if not self.within:
            return f"beaten by {_letters(self.beaters)}"
        if self.near:
            return f"on the front; not conclusively faster than {_letters(self.near)}"
        return "on the front"


def _letters(rows: list[Row]) -> str:
    return listed([row.letter for row in rows])


def points(view: View, across: Across) -> list[Point]:
    """Return all machines of which speed and amount are known, fastest first."""
    known = [
        (row, speed.ratio, amount)
        for row, speed in view.ranked
        if (amount := row.each[across]) is not None
    ]
    options = [(-amount if across == _MORE else amount, row) for row, _, amount in known]
    beaten = beaters(options, view.faster)
    return [
        Point(
            row,
            ratio,
            amount,
            by,
            [other for its, other in options if its < cost and not view.faster(row, other)],
        )
        for (row, ratio, amount), (cost, _), by in zip(known, options, beaten, strict=True)
    ]


def usual(view: View) -> Across:
    """Return what speed is held against unless a reader says: the first that is known of two."""
    known = {across: len(points(view, across)) for across in TITLES}
    return next((across for across, number in known.items() if number > 1), "price")


def draw(view: View) -> list[Markup]:
    """Draw the chart, and the same as a table."""
    across = usual(view)
    found = points(view, across)
    title = TITLES[across]
    shown = {one.row.letter for one in found}
    unknown = [row.name for row in view.rows if row.letter not in shown]
    notes = []
    if unknown:
        why = f"because their {title.lower()} or speed is not known or 0"
        notes = [element("p", {"class": "meta"}, f"Not shown, {why}: {listed(unknown)}.")]
    if not found:
        return notes
    unit = _UNITS.get(across, view.currency)
    heads = [["Machine"], ["Speed"], [title], ["Where it stands"]]
    rows = [
        [name(one.row), number(one.ratio, RATIO), plain(one.amount, unit), [one.word]]
        for one in found
    ]
    return [
        element("figure", {"class": "pareto"}, _chart(found, title, unit)),
        *notes,
        table(f"Speed against {title.lower()}", heads, rows, "table-front"),
    ]


def _chart(found: list[Point], title: str, unit: str) -> Markup:
    factor, symbol = axis_scale(max(one.amount for one in found), unit)
    ends = (end for one in found for end in one.ratio if end is not None)
    xs, ys = spanning(one.amount / factor for one in found), spanning(ends)
    ats = [xs.at(one.amount / factor) for one in found]
    below = labels([(at, _up(ys, one.ratio.value)) for at, one in zip(ats, found, strict=True)])
    said = "; ".join(f"{one.row.letter}, {one.row.name}: {one.word}" for one in found)
    return element(
        "svg",
        {"class": "points", "role": "img", "aria-label": f"Speed against {title.lower()}. {said}."},
        *_grid(xs, ys),
        *(_point(one, at, ys, step) for one, at, step in zip(found, ats, below, strict=True)),
        element(
            "text", {"class": "title across", "x": "50%", "y": HEIGHT + 40}, f"{title}, {symbol}"
        ),
    )


def _up(ys: Scale, value: float) -> float:
    return _down(ys.at(value))


def _down(at: float) -> float:
    """Turn a place on the upright axis, in percent, into pixels from the top."""
    return round(HEIGHT * (1 - at / 100), 2)


def _grid(xs: Scale, ys: Scale) -> list[Markup]:
    """Draw the grid and what stands at it."""
    across = [
        piece
        for at, text in xs.ticks()
        for piece in (
            line("grid", (at, at), (0, HEIGHT)),
            element("text", {"class": "tick across", "x": percent(at), "y": HEIGHT + 18}, text),
        )
    ]
    upwards = [
        piece
        for at, text in ys.ticks()
        for piece in (
            line("grid", (0, 100), (_down(at), _down(at))),
            element("text", {"class": "tick up", "x": -8, "y": _down(at) + 4}, f"{text}{RATIO}"),
        )
    ]
    return [*across, *upwards]


def _point(one: Point, at: float, ys: Scale, below: float) -> Markup:
    """Draw a machine: its interval, its point, a ring on the front, and its letter."""
    x, y = percent(at), _up(ys, one.ratio.value)
    marks = []
    if one.ratio.low is not None and one.ratio.high is not None:
        ends = _up(ys, one.ratio.low), _up(ys, one.ratio.high)
        marks.append(line("whisker", (at, at), ends))
    marks.append(element("circle", {"class": "dot", "cx": x, "cy": y, "r": 5}))
    if one.within:
        marks.append(element("circle", {"class": "ring", "cx": x, "cy": y, "r": 9}))
    top = round(y + below, 2)
    label = element("text", {"class": "label", "x": x, "y": top, "dy": 4}, one.row.letter)
    return element("g", {}, element("title", {}, one.row.name), *marks, label)
