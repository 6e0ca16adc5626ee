# SPDX-License-Identifier: MIT
"""Why a case has no samples is stored in Frobench's words; texts of others are for the terminal."""

from pathlib import Path

import pytest

from frobench.suite.checkout import BENCHMARKS
from frobench.suite.errors import LostRankError
from frobench.suite.kit.abilities import needed
from frobench.suite.kit.workers import WorkerError
from frobench.suite.launch.case import refusal
from tests.instruments.faults.secrets import PLACED, RAISED

MINE = Path(__file__)


def line_of(text: str) -> int:
    lines = MINE.read_text(encoding="utf-8").splitlines()
    return 1 + next(number for number, line in enumerate(lines) if line.strip() == text)


@pytest.mark.parametrize("kind", [RuntimeError, OSError, AssertionError, pytest.fail.Exception])
def test_no_text_that_a_benchmark_raises_is_stored(kind: type[BaseException]) -> None:
    for secret, text in {**RAISED, **PLACED}.items():
        refused = refusal(0, "case", "failed", kind(text), MINE)
        assert secret not in refused.reason
        assert secret in refused.details


def test_a_skip_of_a_foreign_benchmark_has_its_line_and_its_text_in_the_terminal_alone() -> None:
    with pytest.raises(pytest.skip.Exception) as skipped:
        pytest.skip("needs the blue card")
    refused = refusal(0, "case", "skipped", skipped.value, MINE)
    line = line_of('pytest.skip("needs the blue card")')
    assert refused.reason == f"pytest.skip (test_refusal.py:{line})"
    assert refused.details == "needs the blue card"


def test_a_mark_counts_by_the_file_that_it_is_in() -> None:
    marked = pytest.skip.Exception("needs the blue card")  # pytest raises it, from no line
    foreign = refusal(0, "case", "skipped", marked, MINE)
    assert (foreign.reason, foreign.details) == ("pytest.skip", "needs the blue card")
    own = refusal(0, "case", "skipped", marked, BENCHMARKS / "bench_matmul.py")
    assert (own.reason, own.details) == ("needs the blue card", "")


def test_what_a_machine_lacks_is_stored_without_the_text_of_a_library() -> None:
    with pytest.raises(pytest.skip.Exception) as skipped, needed("blue card"):
        raise RuntimeError("no card in jane's slot")
    refused = refusal(0, "case", "skipped", skipped.value, MINE)
    assert refused.reason == "no blue card here: RuntimeError"
    assert refused.details == "no card in jane's slot"


def test_a_worker_s_error_and_a_lost_rank_are_named_by_what_is_known_of_them() -> None:
    error = WorkerError("worker cpu/0: ValueError: jane's", "worker cpu/0: ValueError")
    refused = refusal(0, "case", "failed", error, MINE)
    assert (refused.reason, refused.lost) == ("worker cpu/0: ValueError", False)
    assert "jane's" in refused.details
    lost = LostRankError(error.brief)
    lost.__cause__ = error
    refused = refusal(0, "case", "failed", lost, MINE)
    assert (refused.reason, refused.lost) == ("worker cpu/0: ValueError", True)
    assert refused.details == "worker cpu/0: ValueError: jane's"
