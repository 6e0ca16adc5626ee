# SPDX-License-Identifier: MIT
"""A case that failed is named with what went wrong, under one code."""

import sys
from pathlib import Path

import pytest

from frobench.suite import checks
from frobench.suite.stored import store
from frobench.suite.stored.types import Check, Outcome, Run, Scalar
from tests.instruments.faults.judging import made, only

TF32 = Check("every entry", 1.1e-3, 2.8e-6, "tfloat32")
BFLOAT16 = Check("every entry", 7.5e-3, 2.8e-6, "bfloat16")
MISSING = Check("every entry", 0.98, 2.8e-6, "bfloat16")  # one of 256 x 256: a small mean error
CODES = {"failed-case", "wrong-result"}


def failed(check: Check | None, **params: Scalar) -> Run:
    """Return a run that has one failure, by a check unless it is of another kind."""
    run = made()
    run.frobench.outcomes = [one for one in run.frobench.outcomes if one.status != "failed"]
    outcome = Outcome(fullname="x", group="matmul", params=params, status="failed", reason="why")
    if check:
        outcome.check = check
    run.frobench.outcomes.append(outcome)
    return run


def found(run: Run) -> list[tuple[str, str]]:
    return [(one.code, one.message) for one in checks.conclude(run) if one.case == "x"]


def test_a_failed_case_is_named_with_its_reason() -> None:
    named = [c for c in checks.conclude(made()) if c.code == "failed-case"]
    assert [c.case for c in named] == [
        "benchmarks/bench_parameters.py::bench_write[cpu-1000000-rebuild]",
        "benchmarks/bench_parameters.py::bench_write[cpu-100000000-rebuild]",
    ]
    assert named[0].severity == "error"
    assert named[0].message == "RuntimeError: not enough memory to build the model twice"


def test_a_wrong_result_says_what_was_compared() -> None:
    run = failed(Check("the sum with float64", 0.25, 1e-6), dtype="float32")
    message = "the sum with float64 is off by 0.25, over the bound of 1e-06"
    assert found(run) == [("wrong-result", message)]
    assert only(checks.conclude(run), "wrong-result").severity == "error"


@pytest.mark.parametrize("check", [TF32, BFLOAT16])
@pytest.mark.parametrize("params", [{"dtype": "float32"}, {}, {"n": 256}])
def test_a_float32_result_with_the_error_of_a_narrower_type_says_so(
    check: Check, params: dict[str, Scalar]
) -> None:
    ((code, message),) = found(failed(check, **params))
    assert code == "wrong-result"
    assert message.startswith(f"computed in {check.precision} where float32 was asked: every entry")


def test_a_type_that_was_asked_for_is_no_narrower_one() -> None:
    ((_, message),) = found(failed(BFLOAT16, dtype="bfloat16"))
    assert "computed in" not in message


def test_a_missing_element_is_wrong_however_small_the_mean_error() -> None:
    ((code, message),) = found(failed(MISSING, dtype="float32"))
    assert (code, message) == (
        "wrong-result",
        "every entry is off by 0.98, over the bound of 2.8e-06",
    )


def test_an_error_that_is_no_number_is_not_printed_as_one() -> None:
    check = Check("shape (3, 4) with (3, 3)", sys.float_info.max, 0.0)
    ((_, message),) = found(failed(check))
    assert message == "shape (3, 4) with (3, 3) is off beyond any number, over the bound of 0"


@pytest.mark.parametrize("check", [None, TF32, MISSING])
def test_one_failure_has_one_code(check: Check | None) -> None:
    run = failed(check, dtype="float32")
    assert sum(one.code in CODES for one in checks.conclude(run)) == 1


def test_a_check_of_a_failed_case_is_stored(tmp_path: Path) -> None:
    stored = store.read(store.write(failed(TF32, dtype="float32"), tmp_path))
    assert stored.frobench.outcomes[-1].check == TF32
    assert "wrong-result" in {one.code for one in checks.conclude(stored)}
