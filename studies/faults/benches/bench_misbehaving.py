# SPDX-License-Identifier: MIT
"""Does a body that misbehaves spoil more than its own case?

The body that `MISBEHAVING` names is measured between two honest ones. It misbehaves in the call with
the number `AT_CALL`, or in all from that on.
"""

import atexit
import builtins
import ctypes
import gc
import json
import locale
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import count

import pytest
import torch

from frobench import Check, Device, Measure, Work, cases

ALWAYS = {"returns_nan", "returns_a_generator"}
"""Those that do it again and again."""


class Unspeakable(Exception):
    """An error whose message cannot be had."""

    def __str__(self) -> str:
        """Raise."""
        raise RuntimeError("no message")


class Beyond(BaseException):
    """What is no Exception."""


def throw(error: BaseException | type[BaseException]) -> None:
    raise error


def raises_in_depth() -> None:
    raises_in_depth()


def limits_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
    bytearray(2**31)


def replaces_clocks() -> None:
    time.monotonic = time.perf_counter = lambda: 0.0


def removes_its_folder() -> None:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    shutil.rmtree(folder)


def ignores_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def ignores_signals_and_hangs() -> None:
    ignores_signals()
    time.sleep(1000)


def leaves_a_fork() -> None:
    if os.fork() == 0:
        time.sleep(1000)


def leaves_a_daemon() -> None:
    if os.fork() == 0:  # who leads a group cannot begin a session
        os.setsid()
        time.sleep(1000)


def leaves_a_busy_thread() -> None:
    def spin() -> None:
        while True:
            pass

    threading.Thread(target=spin, daemon=True).start()


def writes_to_open_files() -> None:
    for number in range(3, 64):
        try:
            os.write(number, b"\n\xff{]\n")
        except OSError:
            pass


def changes_surroundings() -> None:
    os.umask(0o777)
    os.environ.clear()
    locale.setlocale(locale.LC_ALL, "C")


def replaces_json() -> None:
    json.dumps = json.loads = lambda *_, **__: "{}"  # type: ignore[assignment]


def replaces_writing() -> None:
    def refuse(*_: object) -> int:
        raise OSError("no")

    os.write = os.fsync = refuse  # type: ignore[assignment]


def replaces_open() -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no")

    builtins.open = refuse  # type: ignore[assignment]


def spins() -> None:
    while True:
        pass


def changes_torch() -> None:
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)


def disables_garbage_collection() -> None:
    gc.disable()
    gc.set_threshold(0)


def makes_warnings_errors() -> None:
    warnings.simplefilter("error")
    sys.setrecursionlimit(60)


_IN_A_LINE: dict[str, Callable[[], object]] = {
    "nothing": lambda: None,
    "exits_0": lambda: os._exit(0),
    "exits_5": lambda: os._exit(5),
    "exits_71": lambda: os._exit(71),
    "segfaults": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "reads_address_0": lambda: ctypes.string_at(0),
    "aborts": lambda: os.abort(),
    "is_terminated": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "closes_files": lambda: os.closerange(0, 10),
    "changes_folder": lambda: os.chdir("/"),
    "limits_size_of_files": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    "limits_open_files": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)),
    "leaves_a_child": lambda: subprocess.Popen(["sleep", "1000"]),
    "leaves_a_session": lambda: subprocess.Popen(["sleep", "1000"], start_new_session=True),
    "returns_from_a_fork": lambda: os.fork(),
    "leaves_a_thread": lambda: threading.Thread(target=time.sleep, args=(1000,)).start(),
    "hangs_at_exit": lambda: atexit.register(time.sleep, 1000),
    "prints_much": lambda: sys.stdout.write("x" * 10**8),
    "prints_escapes": lambda: os.write(1, b"\x1b[2J\x1b]0;title\x07\xff\x00" * 100),
    "raises_a_long_message": partial(throw, ValueError("a.b" * 10**6)),
    "raises_without_a_message": partial(throw, Unspeakable),
    "raises_beyond_exceptions": partial(throw, Beyond),
    "raises_keyboard_interrupt": partial(throw, KeyboardInterrupt),
    "raises_system_exit": partial(throw, SystemExit(0)),
    "ends_the_session": lambda: pytest.exit("no more"),
    "raises_a_group": partial(
        throw, BaseExceptionGroup("several", [KeyboardInterrupt(), ValueError("one")])
    ),
    "raises_stop_iteration": partial(throw, StopIteration),
    "returns_a_generator": lambda: (1 / 0 for _ in range(3)),
    "holds_the_interpreter": lambda: ctypes.PyDLL(None).sleep(1000),
    "hangs": lambda: time.sleep(1000),
    "returns_nan": lambda: torch.full((10,), float("nan")),
    "stops_itself": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "kills_its_group": lambda: os.killpg(0, signal.SIGKILL),
}
BODIES = _IN_A_LINE | {
    body.__name__: body
    for body in (
        *(raises_in_depth, limits_memory, replaces_clocks, removes_its_folder, ignores_signals),
        *(ignores_signals_and_hangs, leaves_a_fork, leaves_a_daemon, leaves_a_busy_thread),
        *(writes_to_open_files, changes_surroundings, replaces_json, replaces_writing),
        *(replaces_open, spins, changes_torch, disables_garbage_collection),
        makes_warnings_errors,
    )
}
"""By what they do."""


def takes_all_memory() -> None:
    """Take more and more memory; only the trial that limits it calls this."""
    blocks = []
    while True:
        blocks.append(bytes(b"x" * 2**24))


@cases("quick", microseconds=[100])
def bench_before(measure: Measure, device: Device, microseconds: int) -> None:
    """Wait"""
    honest(measure, microseconds)


@cases("quick", how=[os.environ.get("MISBEHAVING", "nothing")])
def bench_misbehaving(measure: Measure, device: Device, how: str) -> None:
    """Misbehave"""
    calls, first = count(1), int(os.environ.get("AT_CALL", "1"))

    def body() -> object:
        call = next(calls)
        if call == first or (call > first and how in ALWAYS):
            return BODIES.get(how, takes_all_memory)()
        time.sleep(1e-4)
        return None

    measure(body, work=Work(items=1), check=checked)


@cases("quick", microseconds=[150])
def bench_behind(measure: Measure, device: Device, microseconds: int) -> None:
    """Wait"""
    honest(measure, microseconds)


def honest(measure: Measure, microseconds: int) -> None:
    """Measure a wait."""
    wait = partial(time.sleep, microseconds / 1e6)
    measure(wait, work=Work(items=1), check=checked)


def checked(result: object) -> Check:
    """Return a check that only a NaN fails."""
    error = float(result.sum()) if isinstance(result, torch.Tensor) else 0.0
    return Check("the sum", error, 1.0)
