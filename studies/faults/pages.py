# SPDX-License-Identifier: MIT
"""Pages of hostile runs in Chromium, by the tests that `nox -s browser` runs."""

import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from studies.faults.trials import Extent, Trial
from tests.instruments.processes.command import ROOT

PROMISE = (
    "Hostile text in a run, wherever it stands, executes nothing in a browser, asks no other host "
    "and writes nothing outside the site."
)
KIND = "every text hostile, in Chromium"
TESTS = "tests/browser/test_pages.py", "tests/browser/test_quiet.py"


def left_out() -> dict[str, str]:
    """Return the kinds that cannot be tried here, each with the reason."""
    if find_spec("playwright") is None:
        return {KIND: "playwright is not installed"}
    from tests.browser import chromium  # noqa: PLC0415 - where playwright is installed

    return {} if chromium.there() else {KIND: chromium.MISSING}


def trials(_extent: Extent) -> list[Trial]:
    """Return the tests of hostile pages, where there is a browser."""
    return [] if left_out() else [Trial(__name__, KIND)]


def attempt(_trial: Trial, _folder: Path) -> Iterable[str]:
    """Run the tests."""
    command = [sys.executable, "-m", "pytest", "-q", "-k", "hostile or nothing_outside", *TESTS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        yield (done.stdout + done.stderr)[-3000:]
