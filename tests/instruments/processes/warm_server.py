# SPDX-License-Identifier: MIT
"""A process that has imported all that a run needs, and forks itself for each program.

`python -m tests.instruments.processes.warm_server` takes requests from the socket that is its
input until the other end is closed; see `warm.py`.
"""

import gc
import json
import os
import runpy
import signal
import socket
import sys
from contextlib import suppress
from functools import partial

from frobench.suite.run.runner import ENDING
from tests.instruments.processes import forking
from tests.instruments.processes.warm_client import MOST_BYTES, Program


def main() -> None:
    """Fork a process for each request."""
    forking.import_shared()
    gc.freeze()  # so that the forks share it
    with socket.socket(fileno=os.dup(0)) as requests:
        while True:
            message, descriptors, _, _ = socket.recv_fds(requests, MOST_BYTES, 3)
            if not message:
                return
            with suppress(ChildProcessError):  # there are none
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if forking.fork() == 0:
                _serve(Program(*json.loads(message)), *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)


def _serve(program: Program, out: int, err: int, news: int) -> None:
    """Run the program in a process of its own; tell its number, and its exit code at its end."""
    pid = forking.fork()
    if pid == 0:
        os.chdir(program.folder)
        forking.set_environment(program.variables)
        forking.become(partial(_run, program), out, err)
    with socket.socket(fileno=news) as answers:
        answers.send(str(pid).encode())
        answers.send(str(forking.exit_code(pid)).encode())
    os._exit(0)


def _run(program: Program) -> None:
    if program.module == "frobench":
        forking.run_command(program.arguments)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    forking.load_backends()
    sys.argv = ["", *program.arguments]
    runpy.run_module(program.module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
