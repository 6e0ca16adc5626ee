# SPDX-License-Identifier: MIT
"""A launch is stored with how busy other programs kept the processor meanwhile."""

from typing import NamedTuple

import psutil
import pytest

from suite.running import others


class Times(NamedTuple):
    """Seconds of a core, as psutil tells them."""

    user: float
    system: float
    idle: float
    iowait: float
    steal: float
    guest: float


def test_only_the_time_of_others_on_the_usable_cores_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = iter([0.0, 10.0])
    own = iter([1.0, 4.0])
    cores = [
        [Times(0, 0, 0, 0, 0, 0), Times(0, 0, 0, 0, 0, 0), Times(0, 0, 0, 0, 0, 0)],
        [Times(5, 1, 4, 0, 0, 1), Times(0, 0, 7, 1, 2, 0), Times(10, 0, 0, 0, 0, 0)],
    ]
    told = iter(cores)
    monkeypatch.setattr(others, "monotonic", lambda: next(moments))
    monkeypatch.setattr(others, "_own_seconds", lambda: next(own))
    monkeypatch.setattr(others, "affinity", lambda: [0, 1])
    monkeypatch.setattr(psutil, "cpu_times", lambda **_: next(told))
    # 6 s of core 0 and 2 s stolen from core 1, of which 3 s were this run's own, in 10 s
    assert others.Others().cores() == pytest.approx(0.5)
