# SPDX-License-Identifier: MIT
"""Stored runs for dashboards: the estimate of each case with its interval, in others' formats.

A dashboard that reads the stored file itself finds pytest-benchmark's statistics there, which pool
the samples of all launches. These formats carry the median over launches instead.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from suite.export import bencher, github_action, openmetrics
from suite.stored.run import Run

FORMATS: Mapping[str, Callable[[Run], str]] = MappingProxyType(
    {
        "github-action-benchmark": github_action.text,
        "bencher": bencher.text,
        "openmetrics": openmetrics.text,
    }
)
"""What writes a run, by the name of the format."""
