# SPDX-License-Identifier: MIT
"""Which cases of two machines do the same work on devices of the same kind."""

from typing import NamedTuple

from suite.compare.alike import absence, failures, faults, kind, other_thing
from suite.compare.model import Side, Unmatched
from suite.stored.run import Case, Run, Scalar

Key = tuple[str, tuple[tuple[str, Scalar], ...]]


class Pair(NamedTuple):
    """The same work on two machines, or the reason why the two are not of the same thing."""

    base: Case
    new: Case
    reason: str | None


class Matched(NamedTuple):
    """The cases of two machines.

    pairs : in the order of the base run
    unmatched : cases that only one of them measured
    faults : errors of a whole run; with any, each pair has a reason
    """

    pairs: list[Pair]
    unmatched: list[Unmatched]
    faults: list[str]


def match(base: Run, new: Run) -> Matched:
    """Pair each case with the one that does the same work, whatever its device's name."""
    before, after = by_key(base), by_key(new)
    failed_before, failed_after = failures(base, " in base"), failures(new, " in new")
    errors = [*faults(base, " in base"), *faults(new, " in new")]
    whole = next(iter(errors), None)
    pairs = [
        Pair(old, late, whole or failed_before.get(old.fullname) or failed_after.get(late.fullname))
        for old, late in ((case, after[key]) for key, case in before.items() if key in after)
    ]
    return Matched(
        [pair._replace(reason=pair.reason or other_thing(*pair[:2], names=kind)) for pair in pairs],
        [*_unmatched(before, after, new, "base"), *_unmatched(after, before, base, "new")],
        errors,
    )


def by_key(run: Run) -> dict[Key, Case]:
    """Return the cases by what they do, the first where a machine has two kinds of accelerator."""
    cases: dict[Key, Case] = {}
    for case in run.benchmarks:
        params = case.params | {"device": device_kind(case)}
        cases.setdefault((case.fullname.partition("[")[0], tuple(sorted(params.items()))), case)
    return cases


def device_kind(case: Case) -> str:
    """Return the kinds of the devices that take part, such as ``accelerator``."""
    return kind(str(case.params.get("device", case.extra_info.device)))


def _unmatched(
    mine: dict[Key, Case], others: dict[Key, Case], other: Run, side: Side
) -> list[Unmatched]:
    """Name the cases that only one machine measured, with what the other says of them."""
    return [
        Unmatched(case.fullname, side, absence(case, other, kind), case.extra_info.headline)
        for key, case in mine.items()
        if key not in others
    ]
