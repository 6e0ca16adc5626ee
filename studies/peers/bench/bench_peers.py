# SPDX-License-Identifier: MIT
# ruff: noqa: INP001, D400 - a script that pytest collects, whose docstring asks its question
"""How long do the bodies take that other tools time too?"""

from collections.abc import Callable
from typing import Any

import torch

from frobench import Check, Device, Measure, Work, cases
from studies.peers.bodies import EMPTY, MAIN, MORE, QUEUED, WAITS, subject


@cases(body=[*WAITS, EMPTY, *MAIN, *MORE])
def bench_body(measure: Measure, device: Device, body: str) -> None:  # noqa: ARG001 - the CPU
    """Call a body of the CPU's."""
    time(measure, body)


@cases(body=[QUEUED])
def bench_on_device(measure: Measure, accelerator: Device, body: str) -> None:  # noqa: ARG001 - made known by the environment
    """Call a body of an accelerator's."""
    time(measure, body)


def time(measure: Measure, name: str) -> None:
    """Time a body by its name; it must return the same each time."""
    with subject(name) as body:
        measure(body, work=Work(items=1), check=same_as(body()))


def same_as(expected: object) -> Callable[[Any], Check]:
    """Return the check that a result is the expected one."""

    def check(result: object) -> Check:
        if isinstance(result, torch.Tensor) and isinstance(expected, torch.Tensor):
            same = torch.equal(result.cpu(), expected.cpu())
        else:
            same = result == expected
        return Check("the result with that of another call", 0.0 if same else 1.0, 0.0)

    return check
