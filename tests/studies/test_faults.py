# SPDX-License-Identifier: MIT
"""A little of the campaign: what it promises holds for a few trials of each part."""

import signal
import time
from pathlib import Path

import msgspec
import pytest

from studies.faults.__main__ import FIGURES, PAGE, PARTS
from studies.faults.document import Figures, page
from studies.faults.forked import Command
from tests.instruments.processes.command import python


def test_the_page_shows_the_figures_of_a_whole_campaign() -> None:
    figures = msgspec.json.decode(FIGURES.read_bytes(), type=Figures)
    assert page(figures, PARTS) == PAGE.read_text("utf-8")
    tried = {kind.part for kind in figures.tried}
    assert tried == {name.rpartition(".")[2] for name in PARTS}


def test_a_command_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    command = Command((), tmp_path, lambda: time.sleep(30))
    assert command.end(seconds=0.5).code == -signal.SIGKILL


@pytest.mark.long
def test_a_short_campaign_finds_no_fault() -> None:
    words = ("-m", "studies.faults", "--short", "--seed", 4, "--mutants", 30)
    done = python(*words, patience=1200)
    told = done.stdout.splitlines() + done.stderr.splitlines()
    assert done.returncode == 0, "\n".join(line for line in told if "0 faults" not in line)
