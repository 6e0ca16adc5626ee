# SPDX-License-Identifier: MIT
"""A sound run is left in peace; a file that is altered or impossible is refused by name."""

import json
import math
import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from frobench.suite import checks
from frobench.suite.checks import __main__, bounds, plausibility, rule, structure, timing
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion, Energy, Run, Sensed, Work, WorkPath
from tests.instruments.faults import bad_files, judging, published_figures
from tests.instruments.faults.judging import codes, made, validate, validate_file
from tests.instruments.faults.spoiling import good
from tests.instruments.processes.command import ROOT
from tests.instruments.processes.project_files import stored_runs

UNQUIET = {"noisy-case", "drift", "few-launches"}
"""What may rightly be said of a machine that is shared, or not given the time."""
FAILED = {"failed-case"}
"""The factory lets a case fail."""


def errors(found: list[Conclusion]) -> set[str]:
    return codes([one for one in found if one.severity == "error"])


# What a run says of itself


def test_the_runs_that_are_published_are_whole_and_at_worst_noisy() -> None:
    assert stored_runs()
    for path in stored_runs():
        run, damage = checks.opened(path)
        assert run is not None
        assert codes([*damage, *checks.conclude(run)]) <= FAILED | UNQUIET, path


def test_a_run_without_cases_and_launches_can_be_judged() -> None:
    run = made()
    run.benchmarks, run.frobench.outcomes = [], []
    assert checks.conclude(run) == []
    run.frobench.launches = []
    (only,) = checks.conclude(run)
    assert only.message == "0 launches, where an interval needs 6"


def test_a_case_with_impossible_samples_is_not_judged_further() -> None:
    run = made()
    broken, whole = run.benchmarks[:2]
    for one in (broken, whole):
        one.extra_info.idle_devices = ["cpu"]
    judging.set_samples(broken, [[0.0] * 3] * 8)
    found = [c for c in checks.conclude(run) if c.case in {broken.fullname, whole.fullname}]
    assert [(c.code, c.case) for c in found] == [
        ("out-of-bounds", broken.fullname),
        ("idle-device", whole.fullname),
    ]


# Whether a stored file can be believed


@pytest.mark.parametrize("accelerators", [0, 1, 2])
@pytest.mark.parametrize("partial", [False, True])
def test_a_sound_file_has_no_fault(tmp_path: Path, accelerators: int, partial: bool) -> None:  # noqa: FBT001 - a parameter
    run = made(seed=1, launches=7, accelerators=accelerators, partial=partial)
    found, doubts = (
        validate_file(store.write(run, tmp_path)),
        {"incomplete-run"} if partial else set(),
    )
    assert (codes(found), codes(checks.conclude(run))) == (doubts, doubts | FAILED)


# What a rule is


@pytest.mark.golden
def test_the_page_of_codes_is_that_of_the_rules() -> None:
    committed = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
    assert committed == __main__.page(), (
        "`python -m frobench.suite.checks > docs/checks.md` writes it anew"
    )


def test_the_page_explains_every_code_that_there_is() -> None:
    page = __main__.page()
    for code in [*(code for module in checks.ALL for code in rule.rules(module)), "unreadable"]:
        assert page.count(f"\n### `{code}`\n") == 1


def test_what_a_driver_does_not_count_or_says_to_be_0_is_no_fault_of_a_run(tmp_path: Path) -> None:
    run = made(accelerators=1)
    first, second, *_ = run.benchmarks
    for one, joules in ((first, 0.0), (second, 0.01)):
        seconds = [one.stats.median] * len(run.frobench.launches)
        one.extra_info.energy = Energy(joules=[joules] * len(seconds), seconds=[*seconds])
    bad_files.resting(-500e3)(run)
    (card,) = run.frobench.environment.accelerators
    card.power_limit_watts = card.power_limit_default_watts = card.max_clock_hz = 0.0
    assert not validate(run, tmp_path)
    notes = [one.message for one in checks.conclude(run) if one.code == "energy-unknown"]
    at_rest = "the counter of cuda:0 was reset at rest"
    assert notes == [at_rest, "the counter did not move in 1 case"]


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
        faults = errors(checks.review(path))
        assert checks.broken.__name__ not in faults, where
        refused += [key] * bool(faults)
    per_launch = {*structure.PER_LAUNCH, "enqueue", "data", "devices"}
    assert per_launch <= {*refused}


@pytest.mark.parametrize("devices", [1, 8])
@pytest.mark.parametrize(("path", "ways"), [("host", 1), ("both-ways", 2)])
def test_each_device_may_copy_as_fast_as_its_link(path: WorkPath, ways: int, devices: int) -> None:
    card = published_figures.device_of("NVIDIA H200")  # in a slot that carries 63.015 GB/s
    run, (one,) = published_figures.of_kind("host", card, devices)
    judging.name_again(run, one, device="+".join(f"cuda:{index}" for index in range(devices)))
    one.extra_info.work = Work(bytes=1e9, path=path)
    for rate, found in ((1.05 * 63.01e9, []), (1.05 * 63.02e9, ["above-link"])):
        judging.set_samples(one, [[1e9 / (devices * ways * rate)] * 3] * 6)
        judging.add_up(run)
        assert [each.code for each in rule.conclusions(run, plausibility)] == found


def test_no_sound_figure_is_refused() -> None:
    figures = [*published_figures.sound()]
    assert len(figures) > 1_800
    assert not [one for one in figures if published_figures.codes(one, "error")]


def test_impossible_figures_are_named_as_often_as_the_document_says() -> None:
    table = published_figures.table()
    [named] = re.findall(r"\| all \| [\d,]+ \| ([\d.]+)%", table)
    assert float(named) >= 95
    assert table in (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")


def test_each_bad_file_is_refused_by_its_code(tmp_path: Path) -> None:
    for path, code in bad_files.write(tmp_path).items():
        assert code in errors(validate_file(path)), path.stem


@pytest.mark.parametrize("name", bad_files.DOUBTED)
def test_each_doubtful_run_is_named_and_not_refused(name: str, tmp_path: Path) -> None:
    code, spoil = bad_files.DOUBTED[name]
    run = good()
    spoil(run)
    judging.add_up(run)
    found = validate(run, tmp_path)
    assert code in {one.code for one in found if one.severity == "warning"}
    assert errors(found) == set()


@pytest.mark.parametrize(("hours", "found"), [(23, set()), (25, {"impossible-date"})])
def test_a_clock_may_be_a_day_ahead(hours: int, found: set[str], tmp_path: Path) -> None:
    run = good()
    ahead = datetime.now(timezone(timedelta(hours=9))) + timedelta(hours=hours)
    bad_files.dated(run, ahead.isoformat())
    assert codes(validate(run, tmp_path)) == found


def test_every_rule_about_a_file_has_a_file_that_it_names() -> None:
    tables = (bad_files.OF_RUNS, bad_files.OF_TEXTS, bad_files.DOUBTED)
    named = {code for table in tables for code, _ in table.values()}
    modules = (*checks.OF_FILES, *checks.OF_BELIEF, bounds, timing)
    codes_of_rules = {code for one in modules for code in rule.rules(one)}
    assert named == codes_of_rules | {"unreadable", "digest-differs"}


@pytest.mark.parametrize("kept", ["events-miss-work", "unsynchronised"])
def test_a_run_may_admit_faults_but_not_that_it_did_not_wait(kept: str, tmp_path: Path) -> None:
    [spoil] = [spoil for code, spoil in bad_files.OF_RUNS.values() if code == kept]
    run = good()
    spoil(run)
    said_nothing = validate(run, tmp_path)
    run.frobench.conclusions = checks.conclude(run)
    said = validate(run, tmp_path)
    assert [(one.code, one.severity) for one in said_nothing] == [(kept, "error")]
    honest = "warning" if kept == "events-miss-work" else "error"
    assert [(one.code, one.severity) for one in said] == [(kept, honest)]


INFO, LAUNCH = "benchmarks.0.extra_info", "frobench.launches.0"
ENVIRONMENT, SENSOR = "frobench.environment", "benchmarks.0.extra_info.telemetry.cuda:0.values"


@pytest.mark.parametrize(
    ("place", "least", "most"),
    [
        ("benchmarks.0.stats.data.0", 1e-12, 1e9),
        (f"{INFO}.energy.joules.0", 0.0, 1e9),
        (f"{INFO}.parts.enqueue.0", 0.0, 1e9),
        (f"{INFO}.parts.sustained.0", 1e-12, None),
        (f"{INFO}.iterations.0", 0, 2**31),
        (f"{INFO}.work.flops", 1e-6, None),
        (f"{INFO}.check.error", 0.0, 1e300),
        (f"{INFO}.check.bound", 0.0, 100.0),
        (f"{INFO}.peak_bytes", 0, 2**47),
        (f"{INFO}.commonest", 0.0, 1.0),
        (f"{INFO}.parts.overlap.0", None, 1.001),
        (f"{SENSOR}.clock_hz.1", 0.0, 1e10),
        (f"{SENSOR}.memory_clock_hz.1", 0.0, 1e11),
        (f"{SENSOR}.power_watts.1", 0.0, 1e4),
        (f"{SENSOR}.temperature_celsius.1", -60.0, 150.0),
        (f"{SENSOR}.utilization.1", 0.0, 1.05),
        (f"{SENSOR}.fan.1", 0.0, 3.0),
        (f"{LAUNCH}.timer_step", 0.0, 0.1),
        (f"{LAUNCH}.empty_body.cpu", 0.0, 10.0),
        (f"{ENVIRONMENT}.cpu.usable_cores", 1, 2**31),
        (f"{ENVIRONMENT}.cpu.quota_cores", 1e-3, 2.0**31),
        (f"{ENVIRONMENT}.cpu.memory_bytes", 2**26, 2**47),
        (f"{ENVIRONMENT}.cpu.last_level_cache_bytes", 1, 2**34),
        (f"{ENVIRONMENT}.accelerators.0.max_clock_hz", 1e8, 1e10),
        (f"{ENVIRONMENT}.accelerators.0.power_limit_watts", 1.0, 1e4),
        (f"{ENVIRONMENT}.accelerators.0.pcie_width", None, 64),
        ("frobench.telemetry.idle_watts.cuda:0", None, 1e4),
    ],
)
def test_bounds_are_allowed_not_beyond(place: str, least: float | None, most: float | None) -> None:
    run = made(accelerators=1)
    bad_files.resting(1.0)(run)
    info = run.benchmarks[0].extra_info
    info.parts = {name: [0.5] for name in ("overlap", "enqueue", "sustained")}
    info.energy = Energy(joules=[0.5], seconds=[0.5])
    kinds = ("clock_hz", "memory_clock_hz", "power_watts", "temperature_celsius")
    values = dict.fromkeys((*kinds, "utilization", "fan"), (0.0, 0.5, 1e20))
    info.telemetry = {"cuda:0": Sensed(readings=9, values=values)}
    plain = json.loads(msgspec.json.encode(run))
    for end, away in ((least, -1), (most, 1)):
        if end is not None:
            beyond = end + away if isinstance(end, int) else math.nextafter(end, away * math.inf)
            for value, faults in ((end, 0), (beyond, 1)):
                judging.put(plain, place, value)
                read = msgspec.json.decode(msgspec.json.encode(plain), type=Run)
                assert len([*bounds.out_of_bounds(read)]) == faults, value


def test_a_file_that_breaks_rules_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store.write(made(), tmp_path)
    for home, name in ((checks, "conclude"), (store, "run_of")):
        monkeypatch.setattr(home, name, lambda *_, **__: dict[str, Any]()["x" * 400])
        (found,) = checks.review(path)
        assert (found.code, found.message[:26]) == ("broken", "KeyError in test_checks.py")
        assert len(found.message) == 300


def test_numbers_that_mean_nothing_end_no_rule(tmp_path: Path) -> None:
    run = good()
    for one in run.benchmarks:
        one.extra_info.iterations[0] = 0
    run.frobench.environment.accelerators[0].max_clock_hz = -1e29
    assert codes(validate(run, tmp_path)) == {"sample-count"}
    [message] = judging.said(run, "out-of-bounds")
    clock = "environment.accelerators[0].max_clock_hz"
    assert message == f"{clock} is -1e+29 Hz, not 1e+08 to 1e+10"
