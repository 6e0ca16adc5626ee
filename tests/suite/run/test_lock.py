# SPDX-License-Identifier: MIT
"""Two runs never measure one machine at the same time."""

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from frobench.suite.run.lock import VARIABLE, machine_lock
from tests.instruments.processes.command import TRICKY, start

IMPORTS = """
import os
from frobench.suite.errors import CannotRunError
from frobench.suite.run.lock import machine_lock
"""


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "frobench.lock"
    monkeypatch.setenv(VARIABLE, str(path))
    return path


def test_the_machine_is_free_again_when_a_run_dies() -> None:
    dies = [sys.executable, "-c", IMPORTS + "with machine_lock(): os._exit(9)"]
    assert subprocess.run(dies, check=False).returncode == 9
    with machine_lock():
        pass


def test_who_waits_is_told_for_whom_and_goes_on_when_the_machine_is_free() -> None:
    code = "with machine_lock(waiting=lambda it: print(it, flush=True)): pass"
    command = [sys.executable, "-c", IMPORTS + code]
    with ExitStack() as held:
        held.enter_context(machine_lock())
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as waiting:
            assert waiting.stdout is not None
            assert f"process {os.getpid()}" in waiting.stdout.readline()
            assert waiting.poll() is None
            held.close()
            assert waiting.wait() == 0


def test_an_interrupted_wait_ends_with_the_exit_code_of_an_interruption(tmp_path: Path) -> None:
    options = ("run", "--wait", "--benchmarks", TRICKY)
    with machine_lock(), start(*options, folder=tmp_path) as process:
        assert process.stderr is not None
        assert "waiting until it ends" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert "nothing was measured" in process.stderr.read()
        assert process.wait() == 130
    assert not (tmp_path / "results").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user, whom only root can become")
@pytest.mark.parametrize("mode", [0o666, 0o644])
def test_a_second_user_takes_turns_with_the_first_in_a_sticky_folder(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    folder = tmp_path_factory.mktemp("shared")
    for above in (folder, *folder.parents[:3]):
        above.chmod(above.stat().st_mode | 0o055)
    folder.chmod(0o1777)
    path = folder / "frobench.lock"
    monkeypatch.setenv(VARIABLE, str(path))
    with machine_lock():
        path.chmod(mode)
        assert "another run is measuring" in locked_by_another_user()
    assert locked_by_another_user() == "held"


def locked_by_another_user() -> str:
    """Return what a user without rights makes of the lock."""
    code = IMPORTS + (
        "os.setuid(65534)\n"
        "try:\n"
        "    with machine_lock(): print('held')\n"
        "except CannotRunError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()
