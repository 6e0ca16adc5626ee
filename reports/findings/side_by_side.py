# SPDX-License-Identifier: MIT
"""What lanes of a case truly shared of their time, where its control strictly in turn proves it.

Files that are older than this control hold an overlap of first and last events, which proves
nothing and is not shown.
"""

from frobench.reports.findings.select import Cases, Curve, NotMeasuredError
from frobench.suite.stored.types import Scalar

PROOF = ("concurrency", "at_once", "in_turn")
"""The part of the shareable time that was shared; seconds of the body, and of its control."""
BUSY = "busy"
"""Seconds of work of all lanes together, without launch gaps."""


def lanes(cases: Cases, over: str, *names: str, **where: Scalar) -> list[Curve]:
    """Return what is stored of the lanes of a body, by its names; see `suite.concurrency`."""
    try:
        return [cases.curve(over, f"part_{name}", **where) for name in names]
    except NotMeasuredError:
        if not cases.names(**where):
            raise
        if BUSY in names:
            raise NotMeasuredError("the devices' busy time was not measured") from None
        raise NotMeasuredError("no control strictly in turn") from None
