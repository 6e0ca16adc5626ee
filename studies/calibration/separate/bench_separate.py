# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - a folder of scripts that pytest collects, not a package
"""Is the same code called different in separate runs, and slower code called slower?"""  # noqa: D400 - a question

import os
from functools import partial

from frobench import Device, Measure, Work, cases, close_to
from studies.calibration.pieces import PIECES, repeat


@cases("quick", piece=[*PIECES])
def bench_separate(measure: Measure, device: Device, piece: str) -> None:
    """Repeat a piece of work; the variable REPEATS says how many times."""
    work, size = PIECES[piece]
    numbers = device.uniform(size)
    measure(
        partial(repeat, work, numbers, int(os.environ["REPEATS"])),
        work=Work(items=1),
        check=close_to(work(numbers.double()), 1e-4, "the last piece"),
    )
