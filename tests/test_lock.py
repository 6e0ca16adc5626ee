# SPDX-License-Identifier: MIT
"""Two runs never measure one machine at the same time."""

import os
from pathlib import Path

import pytest

from suite.errors import CannotRunError
from suite.running.lock import machine_lock


def test_the_second_run_is_told_who_holds_the_machine(tmp_path: Path) -> None:
    with (
        machine_lock(tmp_path),
        pytest.raises(CannotRunError, match=f"process {os.getpid()}, since"),
        machine_lock(tmp_path),
    ):
        pass


def test_the_machine_is_free_again_when_a_run_ends(tmp_path: Path) -> None:
    for _ in range(2):
        with machine_lock(tmp_path):
            pass


def test_the_machine_is_free_again_when_a_run_dies(tmp_path: Path) -> None:
    if os.fork() == 0:
        machine_lock(tmp_path).__enter__()
        os._exit(9)
    os.wait()
    with machine_lock(tmp_path):
        pass
