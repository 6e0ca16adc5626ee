# SPDX-License-Identifier: MIT
"""Plays scenes of `tests/instruments/simulated` in processes that have simulated devices."""

import json
import os
from typing import Any

from tests.instruments.processes import warm
from tests.instruments.processes.command import ROOT, simulated


def play_warm(module: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Play a module in a process forked from one that has imported torch.

    spec : describes the devices
    """
    done = warm.program(module, (), ROOT, os.environ | simulated(spec))
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))
