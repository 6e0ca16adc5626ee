# SPDX-License-Identifier: MIT
"""Whatever is made wrong on purpose is named, by its code, where a user reads; nothing else is.

Every fault is planted into a real run: by the benchmarks of `tests/instruments/sabotage` into
themselves, by their `conftest.py` into a process, by variables, or by what the simulated devices
are told to be like. The simulation keeps the time, so that the machine has no part in what is
found.
"""

import ast
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from frobench.suite import checks
from frobench.suite.checks import failures, noise, plausibility, rule, timing
from frobench.suite.machine.host import affinity
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.instruments.faults.planted import BENCHMARKS, JITTER, simulated
from tests.instruments.processes import command, warm
from tests.instruments.processes.command import ROOT

pytestmark = pytest.mark.long

CALIBRATION = ROOT / "docs" / "calibration.md"
RUN = ""
"""In the place of a case: the run itself."""
FEW = {"Make one launch": "few-launches"}

PRODUCTS = "honest and not either and not cold"
"""An even number of cases, all of which take longer when the devices do."""


@dataclass(frozen=True)
class Spoilt:
    """A run in which several things are wrong.

    options : of the command
    of_run, of_each_case : what is planted, and the codes that name it
    planted : what the benchmarks' `conftest.py` is to do
    faults : of the simulated devices
    variables : of the environment
    """

    options: tuple[object, ...]
    of_run: dict[str, str] = field(default_factory=dict)
    of_each_case: dict[str, str] = field(default_factory=dict)
    planted: str = ""
    faults: dict[str, float] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)


CASES = Spoilt(
    options=("--devices", "cpu,sim:0,sim:1", "--launches", 1, "--deadline", 5),
    of_run=FEW | {"Compute with one thread": "few-threads"},
    planted="costly clock",
    variables={"OMP_NUM_THREADS": "1"},
)
SPOILT = {
    "interrupted": Spoilt(
        # By this seed the CPU's case comes first, and is measured.
        options=("--devices", "cpu,sim:0", "-k", "either", "--launches", 6, "--seed", 8),
        of_run=FEW
        | {
            "Interrupt the run": "incomplete-run",
            "Compute with four threads on each core": "many-threads",
            "Have no better clock than one of tenths of a millisecond": "coarse-clock",
        },
        planted="coarse clock, interruption",
        variables={  # without the second, there are no more threads than cores
            "OMP_NUM_THREADS": str(4 * len(affinity())),
            "MKL_DYNAMIC": "FALSE",
        },
    ),
    "launches that differ too much or too little": Spoilt(
        options=("--devices", "sim:0", "-k", "honest", "--launches", 6),
        of_run={
            "Begin one launch with another number of threads": "changed-settings",
            "Begin one launch with a variable that libraries read": "changed-environment",
        },
        of_each_case={"Let a neighbour slow whole launches down": "noisy-case"},
        planted="changed settings, changed environment",
        faults={"noise": 0.5},  # six launches agree to 10% once in 100,000 runs
    ),
    "heat": Spoilt(
        options=("--devices", "sim:0,sim:1", "-k", PRODUCTS, "--launches", 6),
        of_run={"Let the machine become slower from launch to launch": "drift"},
        of_each_case={"Let cases be slower in some launches than in others": "noisy-case"},
        planted="heat",
        faults={"ageing": 0.05},
    ),
    "lazy work": Spoilt(
        options=("--devices", "sim:0", "-k", "honest and product", "--launches", 3),
        of_run=FEW,
        of_each_case={
            "Begin to compute when a result is read, on a device without events whose wait was "
            "proved": "result-not-ready"
        },
        planted="lazy work",
    ),
}
REASONS = {
    "memory": "OutOfMemoryError: out of memory",
    "settings": "left changed settings behind: threads",
    "nothing": "measured nothing",
    "clock_stopped": "ClockError: the clock stands still",
    "no_synchronisation": "RuntimeError (",
    "hang": "did not end within its deadline of 5 s",
}
"""What is told of the cases that fail otherwise than by their results."""
NOT_OF_A_BENCHMARK = {"busy-machine", "busy-runner", "missing-launch"}
"""Codes of what no benchmark causes: other programs, a fault of the runner, and an edited file."""
BY_CHANCE = {"launches that differ too much or too little": {"drift"}}
"""What may be named too: six random numbers are in order once in 360 runs."""
BY_OTHERS = {"busy-machine"}
"""Named where other programs compute meanwhile."""


def caught(folder: Path, spoilt: Spoilt) -> tuple[Run, dict[str, set[str]]]:
    """Make a run in which something is wrong; return it, and the codes of what it found by case.

    They stand in the stored file, and in the terminal just as often.
    """
    # What libraries read when they are imported needs a new Python.
    frobench = command.frobench if spoilt.variables else warm.frobench
    made = frobench(
        *("run", "--profile", "quick", "--benchmarks", BENCHMARKS, "--seed", 5),
        *("--budget", 600, *spoilt.options),  # plenty: the same time for a case anywhere
        folder=folder,
        environment=simulated({**JITTER, "ageing_since": time.time(), **spoilt.faults})
        | {"SABOTAGE": spoilt.planted, **spoilt.variables},
    )
    [path] = (folder / "results").glob("*/*.json")
    assert checks.opened(path)[1] == []
    run = store.read(path)
    told = re.findall(r"(?m)^[a-z]+: ([a-z-]+)(?:, (\d+) times)?\. ", made.stderr)
    stored = Counter(one.code for one in run.frobench.conclusions)
    assert {code: int(count or 1) for code, count in told} == stored
    codes: dict[str, set[str]] = {RUN: set()}
    for case in run.benchmarks:
        codes[case.name] = set()
    for one in run.frobench.conclusions:
        codes.setdefault((one.case or RUN).rpartition("::")[2], set()).add(one.code)
    return run, codes


def test_every_fault_of_a_case_is_named_and_those_without_have_none(tmp_path: Path) -> None:
    run, found = caught(tmp_path, CASES)
    wanted = {
        one.fullname.rpartition("::")[2]: {str(one.params["caught"])} - {"nothing"}
        for one in run.frobench.outcomes
        if one.status != "skipped"
    }
    of_run = set(CASES.of_run.values())
    if len(affinity()) == 1:
        of_run -= {"few-threads"}  # one thread is all that one core can use
    assert found.pop(RUN) - BY_OTHERS == of_run
    assert found == wanted
    reasons = {one.fullname: one.reason or "" for one in run.frobench.outcomes}
    failed = [name for name in reasons if found.get(name.rpartition("::")[2]) == {"failed-case"}]
    assert len(failed) == len(REASONS)
    for case, reason in REASONS.items():
        [told] = [reasons[name] for name in failed if f"::bench_{case}[" in name]
        assert reason in told


@pytest.mark.parametrize("name", SPOILT)
def test_every_fault_of_a_run_is_named_and_nothing_else(name: str, tmp_path: Path) -> None:
    spoilt = SPOILT[name]
    _, found = caught(tmp_path, spoilt)
    assert found.pop(RUN) - BY_CHANCE.get(name, set()) - BY_OTHERS == set(spoilt.of_run.values())
    assert found
    assert all(codes == set(spoilt.of_each_case.values()) for codes in found.values())


def of_cases() -> Iterator[tuple[str, str]]:
    """Return what the benchmarks plant into themselves, and the codes that name it."""
    for path in sorted(BENCHMARKS.glob("bench_*.py")):
        for function in ast.parse(path.read_text("utf-8")).body:
            if isinstance(function, ast.FunctionDef) and function.name.startswith("bench_"):
                [decorator] = function.decorator_list
                assert isinstance(decorator, ast.Call)
                axes = {axis.arg: axis.value for axis in decorator.keywords}
                [code] = ast.literal_eval(axes["caught"])
                if code != "nothing":
                    yield (ast.get_docstring(function) or "").removesuffix("."), code


def of_runs() -> dict[str, str]:
    """Return what is planted into whole runs, and the codes that name it."""
    return {
        what: code
        for spoilt in [CASES, *SPOILT.values()]
        for what, code in [*spoilt.of_run.items(), *spoilt.of_each_case.items()]
    }


def test_every_check_of_a_measurement_finds_something_planted() -> None:
    sensors, nodes = {"throttled-case", "fixed-clock-case"}, {"rank-lost", "unlike-nodes"}
    codes = {code for module in (failures, timing, noise) for code in rule.rules(module)}
    codes -= sensors | nodes  # there are none here
    planted = {code for _, code in of_cases()} | set(of_runs().values())
    assert codes - NOT_OF_A_BENCHMARK == planted - rule.rules(plausibility).keys()


def test_all_that_is_planted_stands_in_the_documentation() -> None:
    planted = [*of_cases(), *of_runs().items()]
    text = CALIBRATION.read_text("utf-8")
    assert re.findall(r"(?m)^\| ([A-Z][^|]+) \| `([a-z-]+)` \|$", text) == planted
    assert f"plant {len(planted)} faults" in text
