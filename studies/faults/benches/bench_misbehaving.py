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

BODIES: dict[str, Callable[[], object]] = {}
"""By what they do."""
ALWAYS = {"returns_nan", "returns_a_generator"}
"""Those that do it again and again."""


def body(function: Callable[[], object]) -> Callable[[], object]:
    """Add a body by its name."""
    BODIES[function.__name__] = function
    return function


class Unspeakable(Exception):
    """An error whose message cannot be had."""

    def __str__(self) -> str:
        """Raise."""
        raise RuntimeError("no message")


class Beyond(BaseException):
    """What is no Exception."""


@body
def nothing() -> None: ...


@body
def exits_0() -> None:
    os._exit(0)


@body
def exits_5() -> None:
    os._exit(5)


@body
def exits_71() -> None:
    os._exit(71)


@body
def segfaults() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


@body
def reads_address_0() -> None:
    ctypes.string_at(0)


@body
def aborts() -> None:
    os.abort()


@body
def is_terminated() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@body
def raises_in_depth() -> None:
    raises_in_depth()


@body
def limits_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
    bytearray(2**31)


@body
def replaces_clocks() -> None:
    time.monotonic = time.perf_counter = lambda: 0.0


@body
def closes_files() -> None:
    os.closerange(0, 10)


@body
def changes_folder() -> None:
    os.chdir("/")


@body
def removes_its_folder() -> None:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    shutil.rmtree(folder)


@body
def limits_size_of_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@body
def limits_open_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))


@body
def ignores_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


@body
def ignores_signals_and_hangs() -> None:
    ignores_signals()
    time.sleep(1000)


@body
def leaves_a_child() -> None:
    subprocess.Popen(["sleep", "1000"])


@body
def leaves_a_session() -> None:
    subprocess.Popen(["sleep", "1000"], start_new_session=True)


@body
def leaves_a_fork() -> None:
    if os.fork() == 0:
        time.sleep(1000)


@body
def returns_from_a_fork() -> None:
    os.fork()


@body
def leaves_a_daemon() -> None:
    if os.fork() == 0:  # who leads a group cannot begin a session
        os.setsid()
        time.sleep(1000)


@body
def leaves_a_thread() -> None:
    threading.Thread(target=time.sleep, args=(1000,)).start()


@body
def leaves_a_busy_thread() -> None:
    def spin() -> None:
        while True:
            pass

    threading.Thread(target=spin, daemon=True).start()


@body
def hangs_at_exit() -> None:
    atexit.register(time.sleep, 1000)


@body
def prints_much() -> None:
    sys.stdout.write("x" * 10**8)


@body
def prints_escapes() -> None:
    os.write(1, b"\x1b[2J\x1b]0;title\x07\xff\x00" * 100)


@body
def writes_to_open_files() -> None:
    for number in range(3, 64):
        try:
            os.write(number, b"\n\xff{]\n")
        except OSError:
            pass


@body
def changes_surroundings() -> None:
    os.umask(0o777)
    os.environ.clear()
    locale.setlocale(locale.LC_ALL, "C")


@body
def replaces_json() -> None:
    json.dumps = json.loads = lambda *_, **__: "{}"  # type: ignore[assignment]


@body
def replaces_writing() -> None:
    def refuse(*_: object) -> int:
        raise OSError("no")

    os.write = os.fsync = refuse  # type: ignore[assignment]


@body
def replaces_open() -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no")

    builtins.open = refuse  # type: ignore[assignment]


@body
def raises_a_long_message() -> None:
    raise ValueError("a.b" * 10**6)


@body
def raises_without_a_message() -> None:
    raise Unspeakable


@body
def raises_beyond_exceptions() -> None:
    raise Beyond


@body
def raises_keyboard_interrupt() -> None:
    raise KeyboardInterrupt


@body
def raises_system_exit() -> None:
    raise SystemExit(0)


@body
def ends_the_session() -> None:
    pytest.exit("no more")


@body
def raises_a_group() -> None:
    raise BaseExceptionGroup("several", [KeyboardInterrupt(), ValueError("one")])


@body
def raises_stop_iteration() -> None:
    raise StopIteration


@body
def returns_a_generator() -> object:
    return (1 / 0 for _ in range(3))


@body
def holds_the_interpreter() -> None:
    ctypes.PyDLL(None).sleep(1000)


@body
def hangs() -> None:
    time.sleep(1000)


@body
def spins() -> None:
    while True:
        pass


@body
def changes_torch() -> None:
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)


@body
def disables_garbage_collection() -> None:
    gc.disable()
    gc.set_threshold(0)


@body
def returns_nan() -> torch.Tensor:
    return torch.full((10,), float("nan"))


@body
def makes_warnings_errors() -> None:
    warnings.simplefilter("error")
    sys.setrecursionlimit(60)


@body
def stops_itself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


@body
def kills_its_group() -> None:
    os.killpg(0, signal.SIGKILL)


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
