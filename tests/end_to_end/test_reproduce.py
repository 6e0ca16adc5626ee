# SPDX-License-Identifier: MIT
"""A stored run measured again through the command: the same cases, and whether they agree."""

import signal
import subprocess
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import add_up, name_again, put
from tests.instruments.faults.spoiling import take
from tests.instruments.processes.command import QUICK, TRICKY, outcomes, start, stored
from tests.instruments.processes.warm import frobench
from tests.instruments.runs import factory

pytestmark = pytest.mark.long

TRICKS = ("--benchmarks", TRICKY)
WAIT, GONE = "bench_wait[cpu-0.001]", "bench_fine[cpu-9]"
LAUNCHES = 6
Again = tuple[Run, subprocess.CompletedProcess[str], Path]


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Again:
    """Repeat a run that says to have waited a fifth as long, and of a case that is not here."""
    folder, there = tmp_path_factory.mktemp("again"), tmp_path_factory.mktemp("there")
    select = ("-k", "wait or (fine and 8)", "--launches", LAUNCHES)
    claimed = stored(frobench(*QUICK, *select, folder=there), there)
    fine, wait = sorted(claimed.benchmarks, key=lambda case: case.name)
    take(wait, 0.2)
    name_again(claimed, fine, n=9)
    add_up(claimed)
    put(claimed, "frobench.launches.*.gauge", {})  # the tests beside this one would disturb it
    file = store.write(claimed, there / "claimed")
    return claimed, frobench("reproduce", file, *TRICKS, folder=folder), folder


def test_the_same_cases_are_measured_with_the_same_settings_and_another_seed(again: Again) -> None:
    claimed, made, folder = again
    run = stored(made, folder)
    assert [case.name for case in run.benchmarks] == [WAIT]
    assert len(run.frobench.launches) == LAUNCHES
    assert run.frobench.settings == replace(claimed.frobench.settings, launches=LAUNCHES)
    assert run.frobench.seed != claimed.frobench.seed
    assert run.frobench.complete


def test_a_case_that_is_not_here_is_left_out_with_the_reason(again: Again) -> None:
    _, made, folder = again
    outcome = outcomes(stored(made, folder))[GONE]
    assert outcome.status == "skipped"
    assert outcome.reason == "not found: it needs its benchmark and cpu"
    assert "only in base: fine[cpu-9]: skipped there: not found" in made.stdout


def test_a_result_that_is_not_reproduced_ends_with_4_and_the_path_comes_last(again: Again) -> None:
    _, made, _ = again
    assert made.returncode == 4, made.stdout
    *told, path = made.stdout.splitlines()
    assert "does not agree: 1 of 2 cases measured again, 1 different" in told
    assert any(line.startswith("  slower: tricky wait[cpu-0.001]: ") for line in told)
    assert path.endswith(".json")


def test_where_too_few_launches_were_made_nobody_can_say(tmp_path: Path) -> None:
    once = frobench(*QUICK, "-k", "wait", "--launches", 1, folder=tmp_path).stdout.strip()
    process = start("reproduce", once, *TRICKS, folder=tmp_path)
    while not list(tmp_path.glob("results/.runs/*/pilot-000.json")):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)  # before the plan: it is asked for again
    _, err = process.communicate()
    assert process.returncode == 130
    assert "--resume" in err

    resumed = frobench("run", "--resume", "last", folder=tmp_path)
    assert [case.name for case in stored(resumed, tmp_path).benchmarks] == [WAIT]
    assert len(stored(resumed, tmp_path).frobench.launches) == 1
    by_hand = frobench("compare", once, resumed.stdout.strip(), folder=tmp_path)
    assert by_hand.returncode == 3
    assert "1 case in both runs: 1 unresolved" in by_hand.stdout


@pytest.mark.parametrize(
    ("accelerators", "options", "told"),
    [
        (1, (), "no device 'cuda:0' here; there is cpu"),
        (0, TRICKS, "none of that run's cases exists here"),
    ],
)
def test_what_this_machine_cannot_repeat_is_told(
    tmp_path: Path, accelerators: int, options: tuple[object, ...], told: str
) -> None:
    file = store.write(factory.run(accelerators=accelerators), tmp_path)
    made = frobench("reproduce", file, *options, folder=tmp_path)
    assert made.returncode == 3
    assert told in made.stderr
    assert "--devices" in made.stderr
    assert not made.stdout
