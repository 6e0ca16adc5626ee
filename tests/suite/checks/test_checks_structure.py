# SPDX-License-Identifier: MIT
"""A file that contradicts itself is refused by name."""

import json
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, cast

import pytest

from frobench.suite import checks
from frobench.suite.checks import structure
from frobench.suite.stored import store
from frobench.suite.stored.types import Energy, Telemetry
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


def test_samples_beyond_all_numbers_are_refused_and_end_nothing() -> None:
    run = made()
    run.benchmarks[0].stats.data[:] = [1.7e308] * len(run.benchmarks[0].stats.data)
    with pytest.raises(store.InvalidResult, match=r"data\[0\]"):
        store.encode(run)
