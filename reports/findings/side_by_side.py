# SPDX-License-Identifier: MIT
"""What lanes of a case truly shared of their time, where its control strictly in turn proves it.

Files that are older than this control hold an overlap of first and last events, which proves
nothing and is not shown.
"""

from reports.findings.select import Cases, Curve, NotMeasuredError
from suite.stored.run import Scalar

NO_CONTROL = "no control strictly in turn"
NOT_BUSY = "the devices' busy time was not measured"


def concurrency(cases: Cases, over: str, **where: Scalar) -> Curve:
    """Return the part of the shareable time that was shared; see `suite.concurrency`."""
    return _part(cases, over, "concurrency", NO_CONTROL, where)


def at_once_and_in_turn(cases: Cases, over: str, **where: Scalar) -> tuple[Curve, Curve]:
    """Return the seconds of the body as it is, and of its control."""
    at_once, in_turn = (
        _part(cases, over, name, NO_CONTROL, where) for name in ("at_once", "in_turn")
    )
    return at_once, in_turn


def busy(cases: Cases, over: str, **where: Scalar) -> Curve:
    """Return the seconds of work of all lanes together, without launch gaps."""
    return _part(cases, over, "busy", NOT_BUSY, where)


def _part(cases: Cases, over: str, name: str, reason: str, where: dict[str, Scalar]) -> Curve:
    try:
        return cases.curve(over, f"part_{name}", **where)
    except NotMeasuredError:
        if cases.names(**where):
            raise NotMeasuredError(reason) from None
        raise
