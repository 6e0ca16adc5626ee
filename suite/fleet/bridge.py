# SPDX-License-Identifier: MIT
"""The scheduler's end of the process that is connected to the cluster."""

import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import Self

import msgspec

from frobench.suite.errors import CannotRunError
from frobench.suite.fleet.messages import Command, Event, Gone

DISAPPEARED = "the Ray cluster disappeared"


class Bridge:
    """A cluster behind a process of its own, which may end at any time."""

    def __init__(self, address: str) -> None:
        if find_spec("ray") is None:
            raise CannotRunError(
                f"`frobench fleet` needs Ray, which {sys.executable} does not have: "
                "`pip install --editable '.[fleet]'` in a clone of Frobench installs it"
            )
        self._address = address
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(  # noqa: S603 - this Python and this project
            [sys.executable, "-m", "frobench.suite.fleet.ray_cluster", address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is for the scheduler, which ends this one
        )
        assert self._process.stdin is not None  # noqa: S101 - it was asked for
        self._input = self._process.stdin
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, and with it every task that goes on."""
        self._input.close()
        try:
            self._process.wait(10)  # it ends the tasks that it started
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def send(self, command: Command) -> None:
        """Ask for something; nothing happens once the process has ended."""
        with suppress(OSError, ValueError):  # its end is an event
            self._input.write(msgspec.json.encode(command) + b"\n")
            self._input.flush()

    def events(self, seconds: float) -> list[Event]:
        """Return what happened, after so many seconds at most."""
        events: list[Event] = []
        with suppress(Empty):
            events.append(self._events.get(timeout=seconds))
            while True:
                events.append(self._events.get_nowait())
        return events

    def _read(self) -> None:
        decoder = msgspec.json.Decoder(Event)
        reason = f"no Ray cluster at {self._address!r}: start one, or name it with --address"
        assert self._process.stdout is not None  # noqa: S101 - it was asked for
        for line in self._process.stdout:
            try:
                self._events.put(decoder.decode(line))
            except msgspec.DecodeError:  # a line that was cut off
                break
            reason = DISAPPEARED
        self._process.wait()
        self._events.put(Gone(reason=reason))
