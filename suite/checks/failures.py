# SPDX-License-Identifier: MIT
"""Rules about cases that were to be measured and were not, or came out wrong."""

from collections.abc import Iterator
from sys import float_info

from frobench.suite.checks.rule import Fault
from frobench.suite.stored.types import Check, Run, Severity

SEVERITY: Severity = "error"

ROUNDING = {"tfloat32": 0.005, "bfloat16": 0.02}
"""Largest errors, relative to a row of the result, of float32 numbers rounded to these: four times
the rounding itself, and what the sums add. An element that is missing or wrong is off by more."""


def wrong_result(run: Run) -> Iterator[Fault]:
    """A case was timed, and its result is not the right one.

    Its speed is worth nothing: a wrong result can be had in no time. Look at what the body
    computes, whether something writes over it, and whether the device is sound. A result in TF32
    and its like has the speed of the narrower type: ask for it by name, or leave it off by
    `torch.set_float32_matmul_precision("highest")` and no `NVIDIA_TF32_OVERRIDE`.
    """
    for outcome in run.frobench.outcomes:
        check = outcome.check
        if outcome.status == "failed" and isinstance(check, Check):
            explained = check.error <= ROUNDING.get(check.precision or "", 0.0)
            narrower = explained and outcome.params.get("dtype", "float32") == "float32"
            reached = f"computed in {check.precision} where float32 was asked: " * narrower
            off = f"by {check.error:.2g}" if check.error < float_info.max else "beyond any number"
            compared = f"{check.compared} is off {off}, over the bound of {check.bound:.2g}"
            yield Fault(f"{reached}{compared}", outcome.fullname)


def failed_case(run: Run) -> Iterator[Fault]:
    """A case failed: it raised, hung, or took its process with it.

    Its speed is worth nothing. Run it alone with `-k` and its name to see the traceback.
    """
    for outcome in run.frobench.outcomes:
        if outcome.status == "failed" and not isinstance(outcome.check, Check):
            yield Fault(outcome.reason or "no reason was given", outcome.fullname)
