# SPDX-License-Identifier: MIT
"""A little of the campaign: what it promises holds for a few trials of each part."""

import subprocess
import sys

import pytest

from tests.instruments.command import ROOT

pytestmark = pytest.mark.long


def test_a_short_campaign_finds_no_fault() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.studies.faults", "--short"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    told = done.stdout.splitlines() + done.stderr.splitlines()
    assert done.returncode == 0, "\n".join(line for line in told if "0 faults" not in line)
