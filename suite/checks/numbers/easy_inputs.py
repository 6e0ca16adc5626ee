# SPDX-License-Identifier: MIT
"""Rules about what a case worked on: the numbers may be true, and yet be those of easy work."""

from collections.abc import Iterator

from frobench.suite.stored.run import Case, Severity

SEVERITY: Severity = "warning"

PLAINEST = 0.9
"""The part of an input that may be one value; half of one is, after a rectifier."""


def plain_inputs(case: Case) -> Iterator[str]:
    """An input is all zeros, all ones, an identity, or nearly so.

    Such numbers cost less power than others, so that a device whose power is limited works
    faster on them. Draw inputs at random, as `device.uniform` does.
    """
    part = case.extra_info.commonest
    if part is not None and part > PLAINEST:
        yield f"{part:.0%} of an input is one and the same value"
