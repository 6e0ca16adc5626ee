# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - a folder of scripts that pytest collects, not a package
"""Are 100 repeats of a piece of work told from another 100, and from 102?"""  # noqa: D400 - a question

from functools import partial

from frobench import Device, Measure, Work, cases, close_to
from studies.calibration.pieces import PIECES, repeat

REPEATS = 100


@cases("quick", piece=[*PIECES][:4], repeats=[REPEATS, REPEATS + 2])
def bench_repeats(measure: Measure, device: Device, piece: str, repeats: int) -> None:
    """Do a piece of work so often, beside 100 times."""
    work, size = PIECES[piece]
    numbers = device.uniform(size)
    measure(
        partial(repeat, work, numbers, repeats),
        against=partial(repeat, work, numbers, REPEATS),
        work=Work(items=repeats),
        check=close_to(work(numbers.double()), 1e-5, "the last piece"),
    )
