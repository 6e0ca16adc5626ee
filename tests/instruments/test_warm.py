# SPDX-License-Identifier: MIT
"""A command that is forked from a warm process is as one that a new Python runs."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from frobench.suite.run.lock import VARIABLE, machine_lock
from tests.instruments.processes import command, warm
from tests.instruments.processes.command import TRICKY

pytestmark = pytest.mark.skipif(not warm.CAN_FORK, reason="every command starts a new Python here")

WORDS = [("--help",), ("show", "nowhere.json"), ("measure",), ("doctor", "--\udcff")]


@pytest.mark.parametrize("words", WORDS, ids=ascii)
def test_output_messages_and_exit_code_are_those_of_a_new_python(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    forked, new = (
        frobench(*words, folder=tmp_path, environment={"COLUMNS": "70"})
        for frobench in (warm.frobench, command.frobench)
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        new.returncode,
        new.stdout,
        new.stderr,
    )
    assert forked.stdout or forked.stderr


def test_a_command_that_takes_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "PATIENCE", 0.1)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "frobench.lock"))
    with machine_lock():
        ended = warm.frobench("run", "--wait", "--benchmarks", TRICKY, folder=tmp_path)
    assert ended.returncode == -signal.SIGKILL


def test_a_script_calls_the_command_with_its_folder_its_variables_and_its_output(
    tmp_path: Path,
) -> None:
    descriptors, variables = warm.for_scripts()
    done = subprocess.run(
        ["/bin/sh", "-c", 'COLUMNS=40 "$@" report; echo "code $?"', "sh", *warm.PROGRAM],
        cwd=tmp_path,
        env=os.environ | command.variables(tmp_path) | variables,
        pass_fds=descriptors,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "code 2\n"
    assert "no stored run in results" in done.stderr
