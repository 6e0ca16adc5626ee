# SPDX-License-Identifier: MIT
"""What the tests need that is no test."""

import os
import signal
from pathlib import Path

import pytest

from frobench.suite import checks

QUIET = str(Path(__file__).parent / "instruments" / "quiet")
"""Folder of a module that Python imports at its start: no other program uses the processor."""

collect_ignore = [
    "browser",  # tests that need a browser; `nox -s browser` runs them
    "cluster",  # tests of several nodes; `nox -s cluster` runs them
    "notebook",  # executes the notebook; `nox -s notebook` does
    "instruments/mishaps",  # benchmarks that end on a GPU; gpu/test_mishaps.py runs them
    "instruments/sabotage",  # benchmarks with planted faults; test_sabotage.py runs them
    "instruments/tricky",  # benchmarks that go wrong on purpose; test_runner.py runs them
    "instruments/truth",  # benchmarks on a device whose truth is known; test_truth.py runs them
]


def pytest_configure() -> None:
    """Give every child process the default SIGINT, and accounts of a machine that is its own.

    A child inherits an ignored signal, and what a script starts in the background ignores SIGINT.
    Tests run several at once, so a comparison would else be disturbed by the tests beside it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    paths = [QUIET, *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long, so that files tested at once end together."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show runs as they are whose numbers are made up for a test of something else."""
    monkeypatch.setattr(checks, "conclude", lambda *_, **__: [])
