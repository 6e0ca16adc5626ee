# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - Python imports it by its name, from a folder on its search path
"""Accounts of a machine that nobody else uses, for commands that tests start beside each other.

What others use the processor for decides whether a comparison says anything. Tests run several at
once, so without this their own load would decide.
"""

from typing import NamedTuple

import psutil


class Idle(NamedTuple):
    """Seconds of a core that never works."""

    user: float = 0.0
    system: float = 0.0
    idle: float = 0.0


def cpu_times(*, percpu: bool = False) -> list[Idle] | Idle:
    """Return the accounts of idle cores, as psutil does."""
    return [Idle()] * (psutil.cpu_count() or 1) if percpu else Idle()


setattr(psutil, "cpu_times", cpu_times)  # noqa: B010 - an assignment would need psutil's own type
