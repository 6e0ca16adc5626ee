# SPDX-License-Identifier: MIT
"""Plays scenes of `tests/instruments/simulated` in processes that have simulated devices."""

import json
import os
from typing import Any

from tests.instruments.processes import warm
from tests.instruments.processes.command import ROOT, simulated


<<<<<<< HEAD
def play_warm(module: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Play a module in a process forked from one that has imported torch.
=======
def variables(spec: dict[str, Any] | None) -> dict[str, str]:
    """Return the variables that give a process the devices that `spec` describes."""
    paths = os.pathsep.join(map(str, (ROOT, FOLDER)))
    return {"PYTHONPATH": paths, "SIM_SPEC": json.dumps(spec or {})}


def play_warm(
    module: str, *scenes: str, spec: dict[str, Any] | None = None, **environment: str
) -> dict[str, Any]:
    """Play scenes of a module in a process forked from one that has imported torch.
>>>>>>> cut-c

    spec : describes the devices
    """
    done = warm.program(module, (), ROOT, os.environ | simulated(spec))
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))
