# SPDX-License-Identifier: MIT
"""A file that contradicts itself is refused by name."""

import json
from collections.abc import Callable, Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, cast

import pytest

from frobench.suite import checks
from frobench.suite.checks import structure
from frobench.suite.stored import store
from frobench.suite.stored.types import Check, Energy, Outcome, Run, Telemetry
from tests.instruments.faults.judging import codes, made, validate, validate_file


def test_a_file_that_cannot_be_read_has_one_fault_with_its_place(tmp_path: Path) -> None:
    content = json.loads(store.encode(made()))
    del content["benchmarks"][3]["stats"]["q3"]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(content))
    (found,) = validate_file(path)
    assert (found.code, found.severity) == ("unreadable", "error")
    assert found.message == "Object missing required field `q3` - at `$.benchmarks[3].stats`"


def test_a_changed_sample_breaks_the_digest_and_the_statistics(tmp_path: Path) -> None:
    run = made()
    path = tmp_path / "run.json"
    text = store.encode(run).decode()
    sample = f"{run.benchmarks[0].stats.data[0]:.6g}".replace("e-0", "e-")
    assert f'"data": [{sample},' in text
    path.write_text(text.replace(f'"data": [{sample},', '"data": [0.5,', 1))
    assert codes(validate_file(path)) == {"digest-differs", "statistics-differ"}


def test_what_a_driver_does_not_count_or_says_to_be_0_is_no_fault_of_the_run(
    tmp_path: Path,
) -> None:
    run = made(accelerators=1)
    first, second, *_ = run.benchmarks
    for case, joules in ((first, 0.0), (second, 0.01)):
        seconds = [case.stats.median] * len(run.frobench.launches)
        case.extra_info.energy = Energy(joules=[joules] * len(seconds), seconds=[*seconds])
    run.frobench.telemetry = Telemetry(
        begun=0.0,
        step=1.0,
        series={},
        held_back={},
        launches=[],
        unknown={},
        cost=0.0,
        idle_watts={"cuda:0": -500e3},
    )
    (card,) = run.frobench.environment.accelerators
    card.power_limit_watts = card.power_limit_default_watts = card.max_clock_hz = 0.0
    assert not validate(run, tmp_path)
    notes = [one.message for one in checks.conclude(run) if one.code == "energy-unknown"]
    assert notes == [
        "the counter of cuda:0 was reset at rest",
        "the counter did not move in 1 case",
    ]


def lists(value: object, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of all lists in plain JSON, of lists and tables inside lists the first's."""
    if isinstance(value, list):
        yield where
    inner = value.items() if isinstance(value, dict) else enumerate(cast("list[Any]", value)[:1])
    for key, part in inner:
        if isinstance(part, dict | list):
            yield from lists(part, (*where, key))


def test_a_list_that_lacks_its_last_entry_never_makes_a_reader_fail(tmp_path: Path) -> None:
    content = store.encode(made())
    path = tmp_path / "run.json"
    refused = []
    for where in lists(json.loads(content)):
        plain = json.loads(content)
        *holders, key = where
        holder = reduce(getitem, holders, plain)
        holder[key] = holder[key][:-1]
        plain["frobench"]["digest"] = store.digest_of(plain)
        path.write_text(json.dumps(plain))
        faults = {fault.code for fault in checks.review(path) if fault.severity == "error"}
        assert checks.broken.__name__ not in faults, where
        refused += [key] * bool(faults)
    per_launch = {*structure.PER_LAUNCH, "enqueue", "data", "devices"}
    assert per_launch <= {*refused}


def add_sample(run: Run) -> None:
    run.benchmarks[0].stats.data.append(run.benchmarks[0].stats.median)


def add_other_version(run: Run) -> None:
    run.benchmarks[0].extra_info.against = [1.0]


def stop_other_clock(run: Run) -> None:
    case = run.benchmarks[0]
    case.extra_info.against = [-1.0, *case.stats.data[1:]]


def drop_warmup(run: Run) -> None:
    run.benchmarks[0].extra_info.warmup.pop()


def drop_part(run: Run) -> None:
    run.benchmarks[0].extra_info.parts["enqueue"].pop()


def speed_up(run: Run) -> None:
    run.benchmarks[0].stats.median /= 2


def stop_clock(run: Run) -> None:
    case = run.benchmarks[0]
    case.stats = store.case_stats([0.0, *case.stats.data[1:]], case.stats.iterations)


def repeat_case(run: Run) -> None:
    run.benchmarks.append(run.benchmarks[0])


def repeat_outcome(run: Run) -> None:
    run.frobench.outcomes.append(run.frobench.outcomes[0])


def drop_outcome(run: Run) -> None:
    del run.frobench.outcomes[0]


def drop_case(run: Run) -> None:
    del run.benchmarks[0]


def skip_measured(run: Run) -> None:
    run.frobench.outcomes[0].status = "skipped"
    run.frobench.outcomes[0].reason = "too long"


def fail_in_silence(run: Run) -> None:
    outcome = Outcome(fullname="x", group="matmul", params={}, status="failed", reason="")
    run.frobench.outcomes.append(outcome)


def be_wrong(run: Run) -> None:
    run.benchmarks[0].extra_info.check = Check("the product", error=0.5, bound=0.1)


def forget_question(run: Run) -> None:
    del run.frobench.exercises["parameters"]


def name_host(run: Run) -> None:
    run.machine_info["node"] = "johns-laptop"


@pytest.mark.parametrize(
    ("damage", "code", "message"),
    [
        (add_sample, "sample-count", "97 samples, 96 rounds, 96 in the launches"),
        (add_other_version, "sample-count", "96 samples, 1 of the other version beside them"),
        (drop_warmup, "launch-count", "warmup has 7 entries for 8 launches"),
        (drop_part, "launch-count", "parts.enqueue has 7 entries for 8 launches"),
        (speed_up, "statistics-differ", "median is 1.27541e-06, its samples say 2.55082e-06"),
        (stop_clock, "out-of-bounds", "stats.data is 0 s, not 1e-12 to 1e+09"),
        (stop_other_clock, "out-of-bounds", "extra_info.against is -1 s, not 1e-12 to 1e+09"),
        (repeat_case, "repeated-name", "2 cases have this name"),
        (repeat_outcome, "repeated-name", "2 outcomes have this name"),
        (drop_outcome, "outcome-missing", "has samples but no outcome"),
        (drop_case, "outcome-missing", "passed, but has no samples"),
        (skip_measured, "outcome-missing", "was skipped, but has samples"),
        (fail_in_silence, "reason-missing", "failed without a reason"),
        (be_wrong, "unchecked-pass", "error 0.5, bound 0.1"),
        (forget_question, "exercise-missing", "there is no exercise 'parameters'"),
        (name_host, "host-name", "machine_info.node is not the kind of machine"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused_by_name(
    tmp_path: Path, damage: Callable[[Run], None], code: str, message: str
) -> None:
    run = made()
    damage(run)
    first, *_ = [found for found in validate(run, tmp_path) if found.code == code]
    assert (first.severity, first.message) == ("error", message)


@pytest.mark.parametrize("damage", [name_host, be_wrong, stop_clock, drop_warmup])
def test_a_run_is_told_before_it_is_stored(damage: Callable[[Run], None], tmp_path: Path) -> None:
    run = made()
    damage(run)
    found = {(one.code, one.case, one.message) for one in validate(run, tmp_path)}
    assert found
    assert found <= {(one.code, one.case, one.message) for one in checks.conclude(run)}


def test_samples_beyond_all_numbers_are_refused_and_end_nothing() -> None:
    run = made()
    run.benchmarks[0].stats.data[:] = [1.7e308] * len(run.benchmarks[0].stats.data)
    with pytest.raises(store.InvalidResult, match=r"data\[0\]"):
        store.encode(run)
