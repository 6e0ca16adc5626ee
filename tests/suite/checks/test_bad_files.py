# SPDX-License-Identifier: MIT
"""Every way in which a result can be impossible, altered or meaningless is named, by its rule."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from frobench.suite import checks
from frobench.suite.checks import bounds, rule, timing
from frobench.suite.stored import store
from tests.instruments.faults import bad_files
from tests.instruments.faults.judging import add_up, codes, validate, validate_file
from tests.instruments.faults.spoiling import good, last, product

LEAST_FILES = 50


def errors(path: Path) -> set[str]:
    return {one.code for one in validate_file(path) if one.severity == "error"}


def test_the_good_file_is_good(tmp_path: Path) -> None:
    assert validate(good(), tmp_path) == []


def test_each_bad_file_is_refused_by_its_code(tmp_path: Path) -> None:
    made = bad_files.write(tmp_path)
    assert len(made) >= LEAST_FILES
    found = {path.stem: errors(path) for path in made}
    missed = {
        path.stem: found[path.stem] for path, code in made.items() if code not in found[path.stem]
    }
    assert missed == {}


@pytest.mark.parametrize("name", bad_files.DOUBTED)
def test_each_doubtful_run_is_named_and_not_refused(name: str, tmp_path: Path) -> None:
    code, spoil = bad_files.DOUBTED[name]
    run = good()
    spoil(run)
    add_up(run)
    found = validate(run, tmp_path)
    assert code in {one.code for one in found if one.severity == "warning"}
    assert {one.code for one in found if one.severity == "error"} == set()


@pytest.mark.parametrize(("hours", "found"), [(23, set()), (25, {"impossible-date"})])
def test_a_clock_that_measured_may_be_a_day_ahead_of_the_one_that_reads(
    hours: int, found: set[str], tmp_path: Path
) -> None:
    run = good()
    bad_files.dated(run, (datetime.now(UTC) + timedelta(hours=hours)).isoformat())
    assert codes(validate(run, tmp_path)) == found


def test_the_calendars_first_date_is_impossible(tmp_path: Path) -> None:
    run = good()
    run.datetime = "0001-01-01T00:00:00+00:00"
    assert codes(validate(run, tmp_path)) == {"impossible-date"}


def test_every_rule_about_a_file_has_a_file_that_it_names() -> None:
    refusing = {code for code, _ in [*bad_files.OF_RUNS.values(), *bad_files.OF_TEXTS.values()]}
    doubting = {code for code, _ in bad_files.DOUBTED.values()}
    modules = {*checks.OF_FILES, *checks.OF_BELIEF, bounds, timing}
    by_severity = {
        severity: {
            code for module in modules if severity == module.SEVERITY for code in rule.rules(module)
        }
        for severity in ("error", "warning")
    }
    of_clocks = {"plain-inputs", "coarse-clock", "costly-harness"}
    assert refusing == by_severity["error"] | {"unreadable", "digest-differs"}
    assert doubting >= by_severity["warning"] | of_clocks


def test_a_run_says_of_itself_what_would_refuse_its_file(tmp_path: Path) -> None:
    run = good()
    last(run, 8e-6, product(run, 4096))
    said = codes(checks.conclude(run))
    assert codes(validate(run, tmp_path)) <= said
    assert "above-peak" in said


@pytest.mark.parametrize("kept", ["events-miss-work", "unsynchronised"])
def test_what_a_run_says_of_itself_is_honest_but_not_that_it_did_not_wait(
    kept: str, tmp_path: Path
) -> None:
    [spoil] = [spoil for code, spoil in bad_files.OF_RUNS.values() if code == kept]
    run = good()
    spoil(run)
    said_nothing = validate(run, tmp_path)
    run.frobench.conclusions = checks.conclude(run)
    said = validate(run, tmp_path)
    assert [(one.code, one.severity) for one in said_nothing] == [(kept, "error")]
    honest = "warning" if kept == "events-miss-work" else "error"
    assert [(one.code, one.severity) for one in said] == [(kept, honest)]


def test_damage_is_told_without_what_cannot_be_believed(tmp_path: Path) -> None:
    run = good()
    last(run, 8e-6, product(run, 4096))
    path = tmp_path / "run.json"
    path.write_bytes(store.encode(run))
    assert checks.opened(path)[1] == []
    assert errors(path) == {"above-peak"}


def test_numbers_that_mean_nothing_end_no_rule(tmp_path: Path) -> None:
    run = good()
    for one in run.benchmarks:
        one.extra_info.iterations[0] = 0
    run.frobench.environment.accelerators[0].max_clock_hz = -1e29
    assert codes(validate(run, tmp_path)) == {"sample-count"}
    assert {"sample-count", "out-of-bounds"} == codes(checks.conclude(run)) - {"failed-case"}
