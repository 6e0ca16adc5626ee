# SPDX-License-Identifier: MIT
"""A stored run measured again through the command: the same cases, and whether they agree."""

import signal
import subprocess
import time
from copy import deepcopy
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import add_up, keep, samples, set_samples
from tests.instruments.processes.command import QUICK, TRICKY, outcomes, start, stored
from tests.instruments.processes.warm import frobench
from tests.instruments.runs import factory

pytestmark = pytest.mark.long

TRICKS = ("--benchmarks", TRICKY)
WAIT, GONE = "bench_wait[cpu-0.001]", "bench_wait[cpu-0.007]"
LAUNCHES = 6


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Measure a wait and two small products in a single launch."""
    folder = tmp_path_factory.mktemp("once")
    made = frobench(*QUICK, "-k", "wait or fine", "--launches", 1, "--seed", 7, folder=folder)
    return stored(made, folder)


def _only(run: Run, *names: str) -> Run:
    """Return the run as if it had selected these cases alone."""
    run = deepcopy(run)
    keep(run, lambda case: case.name in names)
    return run


def _in_launches(run: Run, count: int, factor: float) -> Run:
    """Return the run as if it had made so many launches, in `factor` times the time."""
    (launch,) = run.frobench.launches
    began, apart = datetime.fromisoformat(launch.started), launch.seconds + 1
    launches = [
        replace(
            launch,
            started=(began + timedelta(seconds=apart * at)).isoformat(),
            begun=launch.begun + apart * at if isinstance(launch.begun, float) else UNSET,
            gauge={},  # the tests beside this one would disturb it
        )
        for at in range(count)
    ]
    longer = replace(
        deepcopy(run),
        frobench=replace(
            run.frobench, launches=launches, seconds=run.frobench.seconds + apart * count
        ),
    )
    for case in longer.benchmarks:
        info, chance = case.extra_info, Random(case.fullname)  # noqa: S311 - no secret
        (sampled,) = samples(case)  # a launch is never as another one
        drawn = [[factor * chance.lognormvariate(0, 0.01) * s for s in sampled] for _ in launches]
        set_samples(case, drawn)
        for field in ("iterations", "warmup", "order"):
            setattr(info, field, getattr(info, field) * count)
        info.parts = {name: values * count for name, values in info.parts.items()}
    add_up(longer)
    return longer


def _with_another(run: Run, name: str) -> Run:
    """Return the run as if it had measured one more case, under a name that is not here."""
    case, outcome = run.benchmarks[0], run.frobench.outcomes[0]
    fullname = f"{case.fullname.partition('::')[0]}::{name}"
    outcomes = [*run.frobench.outcomes, replace(outcome, fullname=fullname)]
    param = name.partition("[")[2].rstrip("]")
    params = dict(zip(case.params, param.split("-"), strict=False))
    behind = [place + len(run.benchmarks) for place in case.extra_info.order]
    info = replace(case.extra_info, order=behind)
    other = replace(case, name=name, fullname=fullname, param=param, params=params, extra_info=info)
    set_samples(other, [[1.1 * sample for sample in launch] for launch in samples(case)])
    with_both = replace(
        run, benchmarks=[*run.benchmarks, other], frobench=replace(run.frobench, outcomes=outcomes)
    )
    add_up(with_both)
    return with_both


@pytest.fixture(scope="module")
def again(
    once: Run, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, subprocess.CompletedProcess[str], Path]:
    """Repeat a run that says to have waited a fifth as long, and of a case that is not here."""
    folder = tmp_path_factory.mktemp("again")
    claimed = _with_another(_in_launches(_only(once, WAIT), LAUNCHES, 0.2), GONE)
    file = store.write(claimed, folder / "claimed")
    return claimed, frobench("reproduce", file, *TRICKS, folder=folder), folder


Again = tuple[Run, subprocess.CompletedProcess[str], Path]


def test_the_same_cases_are_measured_with_the_same_settings_and_another_seed(again: Again) -> None:
    claimed, made, folder = again
    run = stored(made, folder)
    assert [case.name for case in run.benchmarks] == [WAIT]
    assert len(run.frobench.launches) == LAUNCHES
    assert run.frobench.settings == replace(claimed.frobench.settings, launches=LAUNCHES)
    assert run.frobench.seed != claimed.frobench.seed
    assert run.frobench.complete
    assert (folder / "results").is_dir()


def test_a_case_that_is_not_here_is_left_out_with_the_reason(again: Again) -> None:
    _, made, folder = again
    outcome = outcomes(stored(made, folder))[GONE]
    assert outcome.status == "skipped"
    assert outcome.reason == "not found: it needs its benchmark and cpu"
    assert "only in base: wait[cpu-0.007]: skipped there: not found" in made.stdout


def test_a_result_that_is_not_reproduced_ends_with_4_and_the_path_comes_last(again: Again) -> None:
    _, made, _ = again
    assert made.returncode == 4, made.stdout
    *told, path = made.stdout.splitlines()
    assert "does not agree: 1 of 2 cases measured again, 1 different" in told
    assert any(line.startswith("  slower: tricky wait[cpu-0.001]: ") for line in told)
    assert path.endswith(".json")


def test_where_too_few_launches_were_made_nobody_can_say(once: Run, tmp_path: Path) -> None:
    file = store.write(_only(once, WAIT), tmp_path / "once")
    process = start("reproduce", file, *TRICKS, folder=tmp_path)
    while not list(tmp_path.glob("results/.runs/*/pilot-000.json")):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)  # before the plan: it is asked for again
    _, err = process.communicate()
    assert process.returncode == 130
    assert "--resume" in err

    resumed = frobench("run", "--resume", "last", folder=tmp_path)
    assert [case.name for case in stored(resumed, tmp_path).benchmarks] == [WAIT]
    assert len(stored(resumed, tmp_path).frobench.launches) == 1
    by_hand = frobench("compare", file, resumed.stdout.strip(), folder=tmp_path)
    assert by_hand.returncode == 3
    assert "1 case in both runs: 1 unresolved" in by_hand.stdout


def test_a_case_that_fails_here_ends_with_1(once: Run, tmp_path: Path) -> None:
    broken = "bench_broken[cpu-wrong]"
    file = store.write(_only(_with_another(once, broken), broken), tmp_path / "once")
    made = frobench("reproduce", file, *TRICKS, folder=tmp_path)
    assert made.returncode == 1
    assert "nothing was measured, so nothing is stored: 1 case failed, 0 skipped" in made.stderr
    assert "failed: bench_broken[cpu-wrong]: wrong result" in made.stderr


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
