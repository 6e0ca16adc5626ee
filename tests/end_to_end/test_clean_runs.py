# SPDX-License-Identifier: MIT
"""Where nothing is wrong, nothing is said: a whole run end to end, on devices with a jitter of 1%.

Its medians of 30 samples differ by 0.2%, far from the limits of every rule: a false alarm
would be a fault of the harness, not chance. Every run has a jitter, inputs and orders of its
own; the calibration makes such runs by the hundred.
"""

from pathlib import Path

import pytest

from tests.instruments.faults.planted import BENCHMARKS, simulated
from tests.instruments.processes.command import stored
from tests.instruments.processes.warm import frobench

pytestmark = pytest.mark.long


def test_a_clean_run_raises_no_alarm(tmp_path: Path) -> None:
    made = frobench(
        *("run", "--profile", "quick", "--benchmarks", BENCHMARKS, "-k", "honest"),
        *("--launches", 6, "--devices", "cpu,sim:0,sim:1", "--budget", 600),
        folder=tmp_path,
        environment=simulated(),
    )
    assert made.returncode == 0, made.stderr
    run = stored(made, tmp_path)
    assert run.frobench.complete
    assert run.frobench.conclusions == []
    assert {outcome.status for outcome in run.frobench.outcomes} == {"passed"}
    judged = frobench("validate", "results", folder=tmp_path)
    assert (judged.returncode, judged.stdout.endswith(": valid\n")) == (0, True)
