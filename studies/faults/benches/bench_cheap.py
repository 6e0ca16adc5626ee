# SPDX-License-Identifier: MIT
"""Is everything kept of a run that takes a second?"""

import time
from functools import partial

from frobench import Check, Device, Measure, Work, cases


@cases("quick", microseconds=[200, 300, 400])
def bench_cheap(measure: Measure, device: Device, microseconds: int) -> None:
    """Wait for some microseconds"""
    measure(
        partial(time.sleep, microseconds / 1e6),
        work=Work(items=1),
        check=lambda _: Check("nothing", 0.0, 1.0),
    )
