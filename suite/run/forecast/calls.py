# SPDX-License-Identifier: MIT
"""What a call of a case should take, before it is made.

The newest stored run of this kind of machine knows the calls of the cases it has, and tells
something of the others; without one, declared work and rates that any machine reaches do.
"""

import math
from typing import Literal, NamedTuple

from suite.climb import Climb
from suite.journal.records import Identity
from suite.kit.cases import sizes
from suite.stored.names import short_name
from suite.stored.run import Case, Run, Scalar, Work

Basis = Literal["measured", "sizes", "rates", "nominal"]


TOGETHER = ("batch", "tokens")
"""Parameters that say how many items go through in a single launch."""


class Nominal(NamedTuple):
    """Rates that any device of a class reaches: seconds of a call and an item, FLOP/s, bytes/s."""

    call: float
    item: float
    flops: float
    bytes: float


CPU = Nominal(call=5e-6, item=10e-6, flops=20e9, bytes=5e9)
"""A core or two of any processor of the last ten years."""
ACCELERATOR = Nominal(call=50e-6, item=20e-6, flops=2e12, bytes=5e9)
"""Any accelerator, its bytes over the link to the host."""


class Call(NamedTuple):
    """The seconds that a call should take, and how they are known."""

    seconds: float
    basis: Basis


class Calls:
    """What calls should take, from a stored run and, beyond it, from declared work."""

    def __init__(self, before: Run | None) -> None:
        self._cases = before.benchmarks if before else []
        self._climb = Climb(math.inf)
        for case in self._cases:
            self._climb.climbed(_family(case), case.params, case.extra_info.work, _seconds(case))

    def work(self, case: Identity) -> Work | None:
        """Return the work that the same benchmark declared, on whatever device."""
        parameters = _beside_device(case.params)
        return next(
            (
                other.extra_info.work
                for other in self._cases
                if _family(other) == _family_of(case)
                and _beside_device(other.params) == parameters
                and str(other.params["device"]).count("+") == str(case.params["device"]).count("+")
            ),
            None,
        )

    def expected(self, case: Identity, work: Work | None) -> Call | None:
        """Return what a call should take; nothing is expected of unknown work."""
        for other in self._cases:
            if other.fullname == case.fullname and _family(other) == _family_of(case):
                return Call(_seconds(other), "measured")
        if work is None:
            return None
        seconds, smaller = self._climb.prediction(_family_of(case), case.params, work)
        if smaller:
            return Call(seconds, "sizes")
        at_rates = self._at_rates(case, work)
        return Call(at_rates, "rates") if at_rates else Call(_nominal(case, work), "nominal")

    def _at_rates(self, case: Identity, work: Work) -> float | None:
        """Scale the case of the same device whose work is nearest; launching takes its time."""
        same = [like for like in self._cases if like.params["device"] == case.params["device"]]
        ratios = [(_ratio(work, like.extra_info.work), _seconds(like)) for like in same]
        known = [(ratio, seconds) for ratio, seconds in ratios if ratio]
        if not known:
            return None
        ratio, seconds = min(known, key=lambda pair: abs(math.log(pair[0])))
        return max(ratio * seconds, min(_seconds(like) for like in same))


def _ratio(work: Work, of: Work) -> float | None:
    """Return one work over another, by the first measure that the first one declares."""
    for mine, other in ((work.flops, of.flops), (work.bytes, of.bytes), (work.items, of.items)):
        if mine:
            return mine / other if other else None
    return None


def _nominal(case: Identity, work: Work) -> float:
    """Return what the work takes at most, on a device of which nothing is known.

    Items may be operations or mere elements. They count where nothing else is declared; beside
    FLOP they are launched one after the other, but for those of one batch, and the device is
    as slow as the slower of the launches and the arithmetic.
    """
    rates = CPU if all(name.startswith("cpu") for name in case.devices) else ACCELERATOR
    moved = (work.flops or 0) / rates.flops + (work.bytes or 0) / rates.bytes
    items = work.items or 0
    if work.flops:
        together = math.prod(size for name, size in sizes(case.params).items() if name in TOGETHER)
        return rates.call + max(moved, rates.item * items / together)
    return rates.call + (moved or rates.item * items)


def _family(case: Case) -> str:
    function = short_name(case.fullname).partition("[")[0]
    return f"{case.group}.{function}/{case.extra_info.version}"


def _family_of(case: Identity) -> str:
    return f"{case.group}.{case.function}/{case.version}"


def _beside_device(parameters: dict[str, Scalar]) -> dict[str, Scalar]:
    return {name: value for name, value in parameters.items() if name != "device"}


def _seconds(case: Case) -> float:
    return case.stats.median
