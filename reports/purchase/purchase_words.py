# SPDX-License-Identifier: MIT
"""What a comparison says, in sentences, as `static/purchase_words.js` makes them."""

from collections.abc import Iterator

from reports.purchase.economics import Amount, per_work
from reports.purchase.measured import ON_CPU
from reports.purchase.purchase_tables import spelled
from reports.purchase.purchase_view import Row, View, listed
from reports.purchase.ranking import surely
from suite.units import counted

_WHY = "The reasons are below."


def sentences(view: View) -> list[str]:
    """Return what the numbers say, most telling first."""
    reference = view.reference
    others = [(row, speed.ratio) for row, speed in view.ranked if row is not reference]
    if reference.speed is None:
        return [_nothing(view), *_unknown(view)]
    said = [_beside(view, *others[0])] if others else []
    said += [*_leaders(view), *_lost(view), *_accelerators(view), *_devices(view)]
    return [*said, *_cheapest(view), *_unknown(view)]


def _nothing(view: View) -> str:
    """Say why nothing can be held against the reference."""
    if view.comparison.exercises:
        return "No exercise counts: give one of them more than 0."
    name = view.reference.name
    nothing = f"No case of {name} can be compared, so that nothing can be held against it"
    return f"{nothing}: choose another reference. {_WHY}"


def _lost(view: View) -> Iterator[str]:
    """Say which machines have no ratio."""
    reference = view.reference.name
    lost = [row for row in view.rows if row.speed is None]
    if without := [row.name for row in lost if not row.machine.logs]:
        yield f"Nothing of {listed(without)} can be compared with {reference}. {_WHY}"
    if light := [row.name for row in lost if row.machine.logs]:
        both = f"What {listed(light)} and {reference} both measured"
        yield f"{both} counts for nothing in all: see it by exercise."


def _accelerators(view: View) -> Iterator[str]:
    """Say of which machines the accelerators are not in the ratio, as the reference has none."""
    if not view.reference.on_cpu:
        return
    whose = [
        row.name for row in view.rows if any(not one.endswith(ON_CPU) for one in row.machine.beyond)
    ]
    if whose:
        ratios = f"the ratios of {listed(whose)} are those of the processors beside them"
        yield f"{view.reference.name} measured no accelerator: {ratios}."


def _devices(view: View) -> Iterator[str]:
    """Say that a ratio is not that of all devices where machines have more or fewer."""
    counts = [row.machine.count for row, _ in view.ranked]
    least, most = min(counts), max(counts)
    if least < most and not view.reference.on_cpu:
        ratio = "a ratio is that of equally many on either side"
        yield f"Machines here have {least} to {most} devices; {ratio}, and not of all together."


def _beside(view: View, row: Row, ratio: Amount) -> str:
    """Hold a machine beside the reference."""
    reference, overall = view.reference, row.overall
    where = ", on the CPU alone" if row.on_cpu else ""
    over = f"over {overall.exercises} of {counted(overall.of, 'exercise')}{where}"
    than = f"{_times(ratio)} as fast as {reference.name} {over}"
    if ratio.low is None and spelled(ratio, "")[0] == "1":
        about = f"about as fast as {reference.name} {over}"
        return f"{row.name} is {about}; too few launches to tell."
    if ratio.low is None:
        return f"{row.name} is {than}, with too few launches for an interval."
    if view.faster(row, reference) or view.faster(reference, row):
        return f"{row.name} is {than}."
    return f"{row.name} cannot be told apart from {reference.name}: it is {than}."


def _times(ratio: Amount) -> str:
    value, interval = spelled(ratio, "")
    return f"{value} {interval} times" if interval else f"{value} times"


def _leaders(view: View) -> Iterator[str]:
    """Say which machine is the fastest, or which may be as fast as it."""
    (first, best), *others = view.ranked
    if len(others) > 1 and all(view.faster(first, row) for row, _ in others):
        every = len(view.ranked) == len(view.rows)
        yield f"{first.name} is the fastest{'' if every else ' that can be compared'} (95%)."
    if first is view.reference or best.error is None:
        return
    tied = [
        row.name
        for row, speed in others
        if row is not view.reference and speed.error is not None and not view.faster(first, row)
    ]
    if tied:
        yield f"{listed(tied)} cannot be told apart from {first.name}."


def _cheapest(view: View) -> Iterator[str]:
    """Say which machine gives most for its price."""
    priced = [
        (row, price, per_work(price, speed).value)
        for row, speed in view.ranked
        if (price := row.each["price"]) is not None
    ]
    if len(priced) < 2:  # noqa: PLR2004 - nothing to choose from
        return
    (first, least, _), *others = sorted(priced, key=lambda one: one[2])
    near = [
        row.name
        for row, price, _ in others
        if price == 0 or not (least == 0 or surely(view.beside(first, row), least / price))
    ]
    sure = "give most for their prices, and do not separate" if near else "gives most for its price"
    yield f"Of those with a known price, {listed([first.name, *near])} {sure}."


def _unknown(view: View) -> Iterator[str]:
    """Say of which machines the price is not known."""
    without = [row.name for row in view.rows if row.amounts["price"] is None]
    if without:
        whose = "any of them" if len(without) == len(view.rows) else listed(without)
        yield f"No price in {view.currency} is known for {whose}."
