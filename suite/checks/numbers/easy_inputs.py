# SPDX-License-Identifier: MIT
"""Rules about what a case worked on: the numbers may be true, and yet be those of easy work."""

from collections.abc import Iterator

from suite.checks.rule import Fault
from suite.stored.run import Run, Severity

SEVERITY: Severity = "warning"

PLAINEST = 0.9
"""The part of an input that may be one value; half of one is, after a rectifier."""


def plain_inputs(run: Run) -> Iterator[Fault]:
    """An input is all zeros, all ones, an identity, or nearly so.

    Such numbers cost less power than others, so that a device whose power is limited works
    faster on them. Draw inputs at random, as `device.uniform` does.
    """
    for case in run.benchmarks:
        part = case.extra_info.commonest
        if part is not None and part > PLAINEST:
            yield Fault(f"{part:.0%} of an input is one and the same value", case.fullname)
