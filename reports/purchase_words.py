# SPDX-License-Identifier: MIT
"""What a comparison says, in sentences, as `static/purchase_words.js` makes them."""

from collections.abc import Iterator

from reports.economics import Amount, Speed, faster, per_work
from reports.purchase_tables import spelled
from reports.purchase_view import Row, View, listed
from suite.units import counted


def sentences(view: View) -> list[str]:
    """Return what the numbers say, most telling first."""
    reference = view.reference
    others = [(row, speed) for row, speed in view.ranked if row is not reference]
    lost = [row.name for row in view.rows if row.speed is None]
    said = [_beside(*others[0], reference)] if others else []
    said += _leaders(view)
    if lost and reference.speed:
        none = "have no common case that can be compared; the reasons are below."
        said.append(f"{listed(lost)} and {reference.name} {none}")
    return [*said, *_cheapest(view), *_unknown(view)]


def _beside(row: Row, speed: Speed, reference: Row) -> str:
    """Hold a machine beside the reference."""
    overall, ratio = row.overall, speed.ratio
    over = f"over {overall.exercises} of {counted(overall.of, 'exercise')}"
    than = f"{_times(ratio)} as fast as {reference.name} {over}"
    if ratio.low is None:
        return f"{row.name} is {than}, with too few launches for an interval."
    base = reference.speed
    if base and (faster(speed, base) or faster(base, speed)):
        return f"{row.name} is {than}."
    return f"{row.name} cannot be told apart from {reference.name}: it is {than}."


def _times(ratio: Amount) -> str:
    value, interval = spelled(ratio, "")
    return f"{value} {interval} times" if interval else f"{value} times"


def _leaders(view: View) -> Iterator[str]:
    """Say which machines may be as fast as the fastest one."""
    if not view.ranked:
        return
    (first, best), *others = view.ranked
    if first is view.reference or best.error is None:
        return
    tied = [
        row.name
        for row, speed in others
        if row is not view.reference and speed.error is not None and not faster(best, speed)
    ]
    if tied:
        yield f"{listed(tied)} cannot be told apart from {first.name}."


def _cheapest(view: View) -> Iterator[str]:
    """Say which machine gives most for its price."""
    work = [
        (per_work(price, speed), row.name)
        for row, speed in view.ranked
        if (price := row.amounts["price"]) is not None
    ]
    if len(work) < 2:  # noqa: PLR2004 - nothing to choose from
        return
    (first, name), *others = sorted(work, key=lambda one: one[0].value)
    near = [
        other
        for amount, other in others
        if first.high is None or amount.low is None or amount.low <= first.high
    ]
    sure = "give most for their prices, and do not separate" if near else "gives most for its price"
    yield f"Of those with a known price, {listed([name, *near])} {sure}."


def _unknown(view: View) -> Iterator[str]:
    """Say of which machines the price is not known."""
    without = [row.name for row in view.rows if row.amounts["price"] is None]
    if without:
        whose = "any of them" if len(without) == len(view.rows) else listed(without)
        yield f"No price is known for {whose}."
