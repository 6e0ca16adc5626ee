# SPDX-License-Identifier: MIT
"""A machine in a comparison of which nothing is known, for tests to say what they need."""

from reports.purchase.comparison import Machine

UNKNOWN = Machine(
    run="a",
    title="A",
    href="a.html",
    device="GPU",
    count=1,
    watts=None,
    watts_source=None,
    memory_bytes=None,
    price=None,
    currency=None,
    price_date=None,
    price_kind=None,
    price_source=None,
    logs={},
    covariance=None,
    quantile=None,
    counts={},
    beyond={},
    best={},
    worst={},
    energy=None,
    rates=[],
    differs=[],
    missing=[],
)
