# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - Python imports it by its name, from a folder on its search path
"""Accounts of a machine that nobody else uses, for commands that tests start beside each other.

What others use the processor for decides whether a comparison says anything. Tests run several at
once, so without this their own load would decide.
"""

from collections import namedtuple

import psutil

IDLE = namedtuple("IDLE", ["user", "system", "idle"])(0.0, 0.0, 0.0)  # noqa: PYI024 - as psutil's

psutil.cpu_times = lambda percpu=False: [IDLE] * (psutil.cpu_count() or 1) if percpu else IDLE
