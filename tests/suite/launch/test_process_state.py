# SPDX-License-Identifier: MIT
"""What a case has changed for its whole process is named, so that no other case suffers from it."""

import resource
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from frobench.suite.launch.process_state import ProcessState
from tests.instruments.processes.alone import copied, run_pytest

ALARMED = """import signal

def bench_first(measure):
    signal.signal(signal.SIGUSR1, lambda *_: None)
    measure(lambda: signal.setitimer(signal.ITIMER_REAL, 1000))

def bench_second(measure):
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL
    measure(lambda: sum(range(1000)))
"""

FILES = resource.RLIMIT_NOFILE


@pytest.fixture
def limit() -> Iterator[int]:
    """Return how many files may be open, and restore that."""
    soft, hard = resource.getrlimit(FILES)
    yield soft
    resource.setrlimit(FILES, (soft, hard))


def test_what_is_left_alone_is_not_named() -> None:
    assert ProcessState().changes() == []


def test_an_alarm_and_a_handler_that_a_case_leaves_are_gone_before_the_next(tmp_path: Path) -> None:
    (tmp_path / "bench_alarm.py").write_text(ALARMED)
    ended = run_pytest(copied(tmp_path), "--frobench-profile", "quick")
    assert "2 passed" in ended.stdout


def test_clocks_that_are_replaced_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ProcessState()
    monkeypatch.setattr(time, "monotonic", time.time)
    monkeypatch.setattr(time, "perf_counter", time.time)
    assert before.changes() == ["time.monotonic", "time.perf_counter"]


def test_a_limit_that_is_lowered_is_named(limit: int) -> None:
    _, hard = resource.getrlimit(FILES)
    before = ProcessState()
    resource.setrlimit(FILES, (limit - 1, hard))
    assert before.changes() == ["RLIMIT_NOFILE"]


@pytest.mark.parametrize(("pause", "named"), [(0.0, ["a thread still at work"]), (60.0, [])])
def test_a_thread_that_goes_on_working_is_named_and_one_that_waits_is_not(
    pause: float, named: list[str]
) -> None:
    before, over = ProcessState(), threading.Event()

    def work() -> None:
        while not over.wait(pause):
            sum(range(1000))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert before.changes() == named
    finally:
        over.set()
        thread.join()
