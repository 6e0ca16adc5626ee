# SPDX-License-Identifier: MIT
"""Machines side by side in tables, as `static/purchase_tables.js` draws them."""

import math
from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup

from reports.charts.scales import Scale, spanning
from reports.findings.finding import RATIO
from reports.purchase.comparison import Exercise
from reports.purchase.economics import Amount, single
from reports.purchase.purchase_view import Row, View
from reports.web.elements import Inside, element, percent
from suite.stored.run import Estimate
from suite.units import format_estimate, format_value

Cell = Sequence[Inside]


def name(row: Row) -> Cell:
    """Show a machine's mark and name, with a link to its run."""
    called = element("a", {"href": row.machine.href}, row.name) if row.machine.href else row.name
    note = (" ", element("span", {"class": "reference"}, "(the reference)"))
    mark = element("span", {"class": "letter"}, row.letter)
    return [mark, " ", called, *(note if row.is_reference else ())]


def number(amount: Amount | None, unit: str, absent: str = "not known") -> Cell:
    """Show a number with its interval, or why there is none."""
    if amount is None:
        return [element("span", {"class": "absent"}, absent)]
    value, interval = spelled(amount, unit)
    around = (" ", element("span", {"class": "interval"}, interval))
    return [element("span", {"class": "value"}, value), *(around if interval else ())]


def spelled(amount: Amount, unit: str) -> tuple[str, str]:
    """Return a number and its interval, which is empty where there is none or the number exact."""
    if amount.low is None or amount.high is None or amount.low == amount.high:
        return format_value(amount.value, unit), ""
    value, _, ends = format_estimate(Estimate(*amount, launches=0), unit).partition(" [")
    return value, f"[{ends}"


def plain(value: float | None, unit: str) -> Cell:
    """Show a number that has no interval by nature, or that it is not known."""
    return number(None if value is None else Amount(value, None, None), unit)


def line(kind: str, across: tuple[float, float], down: tuple[float, float]) -> Markup:
    """Draw a line between places in percent across and in pixels down."""
    (x1, x2), (y1, y2) = map(percent, across), down
    return element("line", {"class": kind, "x1": x1, "x2": x2, "y1": y1, "y2": y2})


def table(
    caption: Inside, heads: Sequence[Cell], rows: Iterable[Sequence[Cell]], key: str
) -> Markup:
    """Build a table in a region that the keyboard scrolls where it is too wide.

    Parameters
    ----------
    key
        Of all tables of the page, this one's alone.
    """
    head = [element("th", {"scope": "col"}, *inside) for inside in heads]
    body = [
        element(
            "tr",
            {},
            element("th", {"scope": "row"}, *first),
            *(element("td", {}, *inside) for inside in cells),
        )
        for first, *cells in rows
    ]
    return element(
        "div",
        {"class": "scroll", "role": "region", "aria-labelledby": key, "tabindex": 0},
        element(
            "table",
            {},
            element("caption", {"id": key}, caption),
            element("thead", {}, element("tr", {}, *head)),
            element("tbody", {}, *body),
        ),
    )


def speed(view: View) -> Markup:
    """Show machines in order of their speed."""
    axis = _ratios([row.ratio for row in view.rows])
    heads = [
        ["Machine"],
        ["Place"],
        [f"Times as fast as {view.reference.letter}", _ruler(axis)],
        ["Exercises"],
        ["Cases"],
        ["Best exercise"],
        ["Worst exercise"],
    ]
    rows = [
        [
            name(row),
            [" to ".join(map(str, dict.fromkeys(row.place))) if row.place else "-"],
            [f"1{RATIO}" if row.is_reference and row.speed else _measured(axis, row.ratio)],
            [f"{row.overall.exercises} of {row.overall.of}"],
            _counted(row.overall.cases, row.overall.every, row.overall.worst, row.overall.best),
            _extreme(view, row, max),
            _extreme(view, row, min),
        ]
        for row in view.rows
    ]
    caption = "Speed overall: geometric mean over exercises [95% interval]"
    return table(caption, heads, rows, "table-speed")


def panel(view: View, exercise: Exercise) -> Markup:
    """Show an exercise: all machines, their ratios, and on how many cases those rest."""
    ratios = _of(view, exercise)
    axis = _ratios(ratio for one in view.comparison.exercises for ratio in _of(view, one))
    heads = [["Machine"], [f"Times as fast as {view.reference.letter}", _ruler(axis)], ["Cases"]]
    rows = [
        [
            name(row),
            [f"1{RATIO}" if row.is_reference else _measured(axis, ratio)],
            _counted(
                row.machine.counts[exercise.name],
                exercise.total,
                *(_exp(logs[exercise.name]) for logs in (row.machine.worst, row.machine.best)),
            ),
        ]
        for row, ratio in zip(view.rows, ratios, strict=True)
    ]
    key = f"table-{view.comparison.exercises.index(exercise)}"
    return table(element("h3", {}, exercise.title), heads, rows, key)


def _of(view: View, exercise: Exercise) -> list[Amount | None]:
    """Return the machines' ratios in one exercise."""
    found = [single(view.comparison, row.machine, exercise.name) for row in view.rows]
    return [one.ratio if one else None for one in found]


def notes(row: Row) -> Markup:
    """Show where numbers of a machine are from, and what else is not alike."""
    one = row.machine
    price = "not known"
    if one.price is not None:
        amount = format_value(one.price, one.currency or "")
        price = f"{amount}: {one.price_kind}, {one.price_date}, says {one.price_source}"
    facts = [("Run", [one.run]), ("Price", [price])]
    if one.watts is not None:
        facts.append(("May draw", [f"{format_value(one.watts, 'W')}, by its {one.watts_source}"]))
    if not row.is_reference:
        differs = one.differs or ["nothing that is known"]
        facts.append(("Differs from the reference beyond the devices", differs))
    if one.missing:
        facts.append(("Cases of the reference without a ratio", one.missing))
    rows = [
        element("div", {}, element("dt", {}, title), *(element("dd", {}, text) for text in lines))
        for title, lines in facts
    ]
    titled = element("h3", {}, *name(row))
    return element("div", {}, titled, element("dl", {"class": "facts"}, *rows))


def _exp(log: float | None) -> float | None:
    return None if log is None else math.exp(log)


def _counted(part: int, whole: int, worst: float | None, best: float | None) -> Cell:
    """Say "9 of 11", and what would be if the rest were like the worst and like the best of it."""
    if part >= whole or worst is None or best is None:
        return [f"{part} of {whole}"]
    shown = [format_value(one, "") for one in (worst, best)]
    decimals = max(len(one.partition(".")[2]) for one in shown)
    low, high = (f"{one:,.{decimals}f}{RATIO}" for one in (worst, best))
    if low == high:  # a single ratio is the worst and the best of them
        return [f"{part} of {whole}"]
    note = f"{low} to {high} if the missing were like the worst or the best"
    return [f"{part} of {whole} ", element("span", {"class": "what-if"}, note)]


def _extreme(view: View, row: Row, choose: Callable[..., tuple[Exercise, Amount]]) -> Cell:
    """Show the exercise with the highest (lowest) ratio."""
    singles = view.singles(row)
    if row.is_reference or not singles:
        return ["-"]
    exercise, ratio = choose(singles, key=lambda one: one[1].value)
    return [f"{exercise.title}: ", *number(ratio, RATIO)]


def _ratios(amounts: Iterable[Amount | None]) -> Scale:
    """Return an axis with 1 on it and all ends of intervals."""
    ends = (end for amount in amounts if amount for end in amount if end is not None)
    return spanning([1.0, *ends])


def _ruler(axis: Scale) -> Markup:
    """Show the numbers of the axis that the bars below share."""
    texts = [
        element("text", {"x": percent(at), "y": 12}, f"{text}{RATIO}") for at, text in axis.ticks()
    ]
    drawn = element("svg", {"class": "ruler", "aria-hidden": "true"}, *texts)
    return element("div", {"class": "measured"}, drawn, element("span", {"class": "number"}))


def _measured(axis: Scale, ratio: Amount | None) -> Markup:
    """Show a ratio as a bar and in digits."""
    digits = element("span", {"class": "number"}, *number(ratio, RATIO, "no common case"))
    return element("div", {"class": "measured"}, _bar(axis, ratio), digits)


def _bar(axis: Scale, ratio: Amount | None) -> Markup:
    """Draw a bar from 1 to a ratio, and over it the ratio's interval."""
    one = axis.at(1.0)
    marks = [line("grid", (at, at), (0, 24)) for at, _ in axis.ticks()]
    marks.append(line("one", (one, one), (0, 24)))
    if ratio:
        end = axis.at(ratio.value)
        places = {"x": percent(min(one, end)), "width": percent(round(abs(end - one), 2))}
        marks.append(element("rect", {"class": "length", **places, "y": 6, "height": 12}))
        if ratio.low is not None and ratio.high is not None:
            low, high = axis.at(ratio.low), axis.at(ratio.high)
            for kind in ("halo", "whisker"):
                marks.append(line(kind, (low, high), (12, 12)))
                marks += [line(kind, (tip, tip), (7, 17)) for tip in (low, high)]
    return element("svg", {"class": "bar", "aria-hidden": "true"}, *marks)
