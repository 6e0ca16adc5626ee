# SPDX-License-Identifier: MIT
"""Programs in processes forked from one that has imported torch, so that they begin at once.

A test that gives variables which libraries read when they are imported, that looks at sensors, or
that hides or replaces modules, needs `command.py` beside this file, which starts a new Python.
"""

import atexit
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

from tests.instruments.processes import command, warm_client
from tests.instruments.processes.warm_client import Asked, Program

CAN_FORK = sys.platform == "linux"
"""Elsewhere, what libraries hold may not survive a fork: every command starts a new Python."""
_WORDS = ("-S", "-E", warm_client.__file__) if CAN_FORK else ("-m", "frobench")
PROGRAM = (sys.executable, *_WORDS)
"""Stands for `frobench` in a script that has `for_scripts`."""


def frobench(
    *arguments: object, folder: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `frobench` in `folder` to its end, as `command.frobench` does."""
    return program("frobench", arguments, folder, command.variables(folder, environment))


def program(
    module: str, arguments: Sequence[object], folder: Path, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `python -m` with a module and its arguments in a folder to its end.

    variables : all that it has
    """
    words = [*map(str, arguments)]
    if not CAN_FORK:
        return command.program(module, words, folder, variables)
    asked = Program(module, words, str(folder), dict(variables))
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        code = Asked(_server(), asked, out.fileno(), err.fileno()).end(command.PATIENCE)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
    return subprocess.CompletedProcess(words, code, *texts)


def for_scripts() -> tuple[list[int], dict[str, str]]:
    """Return the descriptors to pass to a script, and its variables, for its calls of `PROGRAM`."""
    if not CAN_FORK:
        return [], {}
    descriptor = _server().fileno()
    return [descriptor], {warm_client.VARIABLE: str(descriptor)}


@cache
def _server() -> socket.socket:
    """Start the process that is forked, unless it is there; return what takes requests.

    It ends with this one.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.instruments.processes.warm_server"],
            cwd=command.ROOT,
            stdin=theirs.fileno(),
        )
    atexit.register(_end, process, ours)
    return ours


def _end(process: subprocess.Popen[bytes], requests: socket.socket) -> None:
    requests.close()
    process.wait()
