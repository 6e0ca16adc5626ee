# SPDX-License-Identifier: MIT
"""Stored runs: read them, write them, find them, and tell whether they are intact."""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from suite.model import CaseStats, Run


def digest(run: Run) -> str:
    """Return the sha256 of the run's canonical JSON (sorted keys) without its digest field."""
    plain = msgspec.to_builtins(run)
    del plain["frobench"]["digest"]
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()


def case_stats(samples: Sequence[float], iterations: int) -> CaseStats:
    """Describe host samples, in seconds, by the statistics that pytest-benchmark stores.

    ``iterations`` is the number of calls inside one sample; the samples are already
    divided by it.
    """
    from pytest_benchmark.stats import Stats  # noqa: PLC0415 - costs 15 ms, readers do without

    stats: Any = Stats()  # type: ignore[no-untyped-call]  # pytest-benchmark has no types
    stats.data = list(samples)
    return CaseStats(**stats.as_dict(), data=stats.data, iterations=iterations)
