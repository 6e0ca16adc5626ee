# SPDX-License-Identifier: MIT
"""What lanes of a case truly shared of their time, where its control strictly in turn proves it.

Files that are older than this control hold an overlap of first and last events, which proves
nothing and is not shown.
"""

from reports.findings.select import Cases, Curve, NotMeasuredError
from suite.stored.run import Scalar


def concurrency(cases: Cases, over: str, **where: Scalar) -> Curve:
    """Return the part of the shareable time that was shared; see `suite.concurrency`."""
    return _part(cases, over, "concurrency", where)


def at_once_and_in_turn(cases: Cases, over: str, **where: Scalar) -> tuple[Curve, Curve]:
    """Return the seconds of the body as it is, and of its control."""
    return _part(cases, over, "at_once", where), _part(cases, over, "in_turn", where)


def busy(cases: Cases, over: str, **where: Scalar) -> Curve:
    """Return the seconds of work of all lanes together, without launch gaps."""
    return _part(cases, over, "busy", where, "the devices' busy time was not measured")


def _part(
    cases: Cases,
    over: str,
    name: str,
    where: dict[str, Scalar],
    reason: str = "no control strictly in turn",
) -> Curve:
    try:
        return cases.curve(over, f"part_{name}", **where)
    except NotMeasuredError:
        if cases.names(**where):
            raise NotMeasuredError(reason) from None
        raise
