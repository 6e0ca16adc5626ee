# SPDX-License-Identifier: MIT
"""What the tests need that is no test."""

import signal

import pytest

from suite import checks

collect_ignore = [
    "browser",  # tests that need a browser; `nox -s browser` runs them
    "calibration",  # benchmarks for studies that take half an hour; test_calibration.py tries them
    "mishaps",  # benchmarks that end on a GPU; gpu/test_mishaps.py runs them
    "sabotage",  # benchmarks with planted faults; test_sabotage.py runs them
    "tricky",  # benchmarks that go wrong on purpose; test_runner.py runs them
    "truth",  # benchmarks on a device whose truth is known; test_truth.py runs them
]


def pytest_configure() -> None:
    """Give every child process the default SIGINT.

    A child inherits an ignored signal, and what a script starts in the background ignores SIGINT.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long, so that files tested at once end together."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show runs as they are whose numbers are made up for a test of something else."""
    monkeypatch.setattr(checks, "conclude", lambda _: [])
