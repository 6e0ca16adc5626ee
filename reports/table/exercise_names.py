# SPDX-License-Identifier: MIT
"""The exercises of comparisons: what the CPU alone does of an exercise is one of its own."""

from suite.stored.names import is_cpu
from suite.stored.run import Case

ON_CPU = ".cpu"
"""Behind the name of an exercise as far as the CPU alone does it."""


def exercise_of(group: str, device: str) -> str:
    """Return the exercise of a comparison that a case belongs to, from its own and its device."""
    return f"{group}{ON_CPU}" if is_cpu(device) else group


def exercise(case: Case) -> str:
    """Return the exercise of a comparison that a case belongs to."""
    return exercise_of(case.group, str(case.params.get("device", case.extra_info.device)))
