# SPDX-License-Identifier: MIT
"""Asks a warm server to run a program; as one itself, it asks for `frobench` in its own place.

It imports nothing that takes long, since it stands for `frobench` where a script calls it.
"""

import json
import os
import signal
import socket
import sys
from typing import NamedTuple

VARIABLE = "WARM_SERVER"
"""Names the descriptor of the server's socket for a program."""
MOST_BYTES = 2**17
"""Of a request, at most."""


class Program(NamedTuple):
    """What the server is asked to run: a module and its arguments, in a folder, with variables."""

    module: str
    arguments: list[str]
    folder: str
    variables: dict[str, str]


class Asked:
    """A program that the server was asked to run.

    out, err : descriptors of its output
    pid : the number of its process
    """

    def __init__(self, server: socket.socket, program: Program, out: int, err: int) -> None:
        self._news, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            descriptors = [out, err, theirs.fileno()]
            socket.send_fds(server, [json.dumps(program).encode()], descriptors)
        self.pid = int(self._news.recv(16))

    def end(self, seconds: float | None = None) -> int:
        """Wait for its end, kill it if it takes longer than so many seconds; return its exit code.

        That is minus the signal that ended it, if one did.
        """
        with self._news:
            self._news.settimeout(seconds)
            try:
                return int(self._news.recv(16))
            except TimeoutError:
                os.kill(self.pid, signal.SIGKILL)
            self._news.settimeout(None)
            return int(self._news.recv(16))


def main() -> None:
    """Run `frobench` with the arguments, the folder, the variables and the output of this one."""
    with socket.socket(fileno=int(os.environ[VARIABLE])) as server:
        folder = os.getcwd()  # noqa: PTH109 - pathlib takes long to import
        program = Program("frobench", sys.argv[1:], folder, dict(os.environ))
        asked = Asked(server, program, 1, 2)
    sys.exit(asked.end())


if __name__ == "__main__":
    main()
