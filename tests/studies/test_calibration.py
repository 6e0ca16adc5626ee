# SPDX-License-Identifier: MIT
"""The studies of the harness's errors: small ones, and the figures of the last full ones."""

import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import psutil
import pytest
from msgspec.structs import replace

from frobench.suite.compare.between_runs import BetweenRunSpread
from frobench.suite.compare.family import Judged, Sides, compare, compare_family
from frobench.suite.compare.rank_tests import Comparison
from frobench.suite.kit.device import Device
from frobench.suite.measure.sampler import Body
from frobench.suite.stored.differences import short_name
from frobench.suite.stored.types import Case, Run, Telemetry
from studies.calibration import (
    changes,
    clean,
    drift,
    groups,
    intervals,
    power,
    real,
    separate_runs,
    shifts,
    spinners,
    telemetry,
    verdicts,
)
from studies.calibration.__main__ import PLANS, made, made_of
from studies.calibration.document import DOCUMENT, FIGURES, read, rendered
from studies.calibration.figures import Figure, Goal, Study, Table, bounded, errors
from studies.calibration.groups import Recorded
from studies.calibration.regimes import REGIMES
from studies.calibration.render import markdown, terminal
from studies.calibration.work import every_core
from tests.instruments.devices.measured import measured
from tests.instruments.processes.alone import load
from tests.instruments.processes.command import ROOT
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import case

LAUNCHES = 40
CPU = Device("cpu")


def nobody(done: float, what: str) -> None:
    """Hear how far a study is."""


def named(table: Table, row: str, column: str) -> Figure:
    [found] = [one for one in table.figures if (one.row, one.column) == (row, column)]
    return found


def test_the_document_shows_the_figures_that_are_kept() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert rendered(text, read()) == text


def test_every_study_has_its_place_in_the_document() -> None:
    places = re.findall(r"<!-- calibration: (\S+) -->", DOCUMENT.read_text(encoding="utf-8"))
    assert sorted(places) == sorted(PLANS)


def test_a_missed_goal_is_shown_in_terminal_document_and_file() -> None:
    goal = Goal(most=0.05)
    figures = [Figure.of("noisy", "share", 0.07, "1", goal), Figure.of("quiet", "share", 0.04, "1")]
    table = Table(title="Alarms", rows="machine", figures=figures)
    study = made([table], 61.0)
    assert study.missed == figures[:1]
    assert re.search(r"noisy +7% \(missed\) +at most 5%", terminal(table))
    assert "| noisy | 7% (missed) | at most 5% |\n| quiet | 4% |  |" in markdown(study)
    stored = msgspec.json.decode(msgspec.json.encode(study))
    assert stored["tables"][0]["figures"][0]["goal"] == {"most": 0.05}
    assert [one.get("met") for one in stored["tables"][0]["figures"]] == [False, None]


def test_a_table_without_goals_has_no_column_for_them() -> None:
    assert "goal" not in terminal(Table(title="", rows="", figures=[Figure.of("a", "b", 1)]))


@pytest.mark.parametrize(
    ("hits", "trials", "most", "met"),
    [
        (52, 1000, 0.05, True),  # a true 5% is often seen as 5.2%
        (80, 1000, 0.05, False),
        (5200, 100_000, 0.05, True),
        (5300, 100_000, 0.05, False),
        (0, 200, 0.0, True),
        (1, 200, 0.0, False),
    ],
)
def test_a_share_of_errors_misses_its_goal_where_luck_does_not_explain_it(
    hits: int, trials: int, most: float, *, met: bool
) -> None:
    assert errors("", "", hits, trials, most).met is met


@pytest.mark.parametrize(
    ("hits", "trials", "upper"), [(0, 200, 0.0149), (15, 300, 0.0759), (3, 3, 1.0)]
)
def test_the_upper_bound_is_clopper_and_pearsons(hits: int, trials: int, upper: float) -> None:
    share, of, bound = bounded("", hits, trials, bound=0.07)
    assert (share.value, of.value) == (hits / trials, trials)
    assert bound.value == pytest.approx(upper, abs=5e-5)
    assert bound.met is (upper <= 0.07)


def test_intervals_cover_in_every_regime_and_less_where_launches_are_alike() -> None:
    promised, alike = intervals.study(nobody, map, 300)
    assert {one.row for one in promised.figures} > {regime.name for regime in REGIMES}
    assert all(one.goal for one in promised.figures)
    assert named(promised, "independent", "8").value > 0.93
    assert named(alike, "correlation of 0.5", "8").value < 0.93


def test_drift_costs_coverage_and_is_named_where_it_is_large() -> None:
    covered, alarms, found = drift.study(nobody, map, 320)
    assert named(covered, "independent", "8").value > 0.93
    assert named(covered, "step in mid-run, the level before", "8").value < 0.93
    assert {one.trials for one in alarms.figures} == {320 // drift.PART}
    assert all(one.met for one in alarms.figures)
    assert named(found, "step in mid-run of 6 SD, all cases", "12").value > 0.9
    assert named(found, "step in mid-run of 6 SD, all cases", "6").value < 0.2


def test_false_alarms_are_counted_by_case_and_by_suite() -> None:
    runs, versions = verdicts.study(nobody, map, 8)
    assert len(runs.figures) == len(versions.figures) == 2 * 3 * len(REGIMES)
    assert {one.trials for one in runs.figures} == {8, 160}
    assert all(one.met for one in (*runs.figures, *versions.figures))


def test_slowed_cases_are_found_where_ranks_and_holm_find_none() -> None:
    cell = power.Cell("two runs", REGIMES[2], size=3, moved=4, launches=6)
    found = power.shares(cell, 80)
    assert found[power.BEFORE] == 0  # 40 times the least p-value of 6 and 6 launches is over 5%
    assert found[power.ALONE] > 0.4
    assert found[power.ALONE] > found[power.ALLOWED] > 0.1
    aside = power.shares(cell._replace(way="side by side", size=6, moved=40, launches=8), 40)
    assert aside[power.ALONE] > 0.9 > aside[power.BEFORE] == 0


def test_finding_less_than_before_misses_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = {power.BEFORE: 0.5, power.ALONE: 0.44, power.ALLOWED: 0.3}
    monkeypatch.setattr(power, "shares", lambda *_args, **_options: lost)
    two_runs, beside = power.study(nobody, map, 1)
    row = "heavy tails (Cauchy): 4 of 40 by 3 SD"
    assert [named(table, row, "8, gain").met for table in (two_runs, beside)] == [False, False]
    assert named(two_runs, row, "8, with allowance").goal is None
    assert not any(one.goal for one in two_runs.figures if one.row.startswith("bimodal"))


def test_holms_method_multiplies_the_smallest_by_all() -> None:
    assert power.holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])


def test_runs_that_are_shifted_as_a_whole_need_an_allowance() -> None:
    cell = shifts.Cell(REGIMES[0], 2.0, common=False, launches=6, cases=6)
    found = shifts.alarms(cell, 20)
    assert found[shifts.WITHOUT] >= 18
    assert found[shifts.WITH] <= 4
    unmoved = shifts.alarms(cell._replace(size=0.0), 20)
    assert max(unmoved.values()) <= 5


def planned(cases: dict[str, tuple[float, float]], *, said: bool, part: float) -> spinners.Piloted:
    return spinners.Piloted(frozenset(cases), cases, 0.2, said, part)


def test_real_pilots_should_differ_only_near_a_limit() -> None:
    alike = {f"case {n}": (1e-3, 2e-3) for n in range(98)}
    quiet = planned(alike | {"near": (0.15, 0.15)}, said=False, part=0.9)
    loaded = planned(alike | {"slow": (0.1, 0.5)}, said=True, part=1.2)
    kept = spinners.table("standard", [(quiet, loaded)])
    assert named(kept, "pair 1", "not near a limit").value == 0
    assert named(kept, "pair 1", "all").value == 2 / 100
    assert all(figure.met is not False for figure in kept.figures)
    lost = planned(dict([*alike.items()][20:]), said=False, part=1.6)
    figures = spinners.table("standard", [(quiet, lost)]).figures
    missed = [figure.column for figure in figures if figure.met is False]
    assert missed == ["not near a limit", "all", "loaded run / limit", "says so"]


def test_programs_spin_only_meanwhile() -> None:
    before = psutil.Process().children()
    with spinners.spinning():
        running = [child for child in psutil.Process().children() if child not in before]
        assert len(running) == spinners.SPINNERS
    assert not any(program.is_running() for program in running)


def separate(seed: int, slower: float, load: float = 0.0) -> Run:
    run = factory.run(seed=seed, slower=slower)
    del run.benchmarks[6:]
    run.frobench.troubles = []
    for launch in run.frobench.launches:
        launch.others = load
    return run


def test_separate_runs_are_compared_two_by_two() -> None:
    equal = [separate(seed, 1.0, load=1.0 * (seed == 0)) for seed in range(6)]
    slower = [separate(seed, 1.2) for seed in range(6, 9)]
    alarms, found = separate_runs.tables(equal, slower)
    assert named(alarms, "all pairs", "of").value == 15 + 3
    assert named(alarms, "pairs that were judged", "of").value == 10 + 3
    assert named(alarms, "pairs that were judged", "any case called different").met
    assert named(found, "all", "pairs").value == 5 * 3
    assert named(found, "all", "of these slower").value == 1


def test_a_rule_that_is_too_eager_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def eager(family: Sequence[Sides], spread: Sequence[BetweenRunSpread | None]) -> list[Judged]:
        judged = compare_family(family, spread)
        return [each._replace(p_value=each.p_value / 20) for each in judged]

    def narrow(one: Sides) -> Comparison:
        compared = compare(one)
        middle = replace(compared.ratio, low=compared.ratio.value, high=compared.ratio.value)
        return replace(compared, ratio=middle, same=0.0)

    monkeypatch.setattr(verdicts, "compare_family", eager)
    monkeypatch.setattr(verdicts, "compare", narrow)
    monkeypatch.setattr(verdicts, "WAYS", ("two runs",))
    monkeypatch.setattr(verdicts, "REGIMES", REGIMES[:1])
    [table] = verdicts.study(nobody, map, 60)
    assert not any(one.met for one in table.figures)


def test_a_slow_down_of_the_printed_size_is_mostly_found() -> None:
    with every_core() as spread:
        tables = changes.study(nobody, spread, 60)
    for table in tables:
        assert named(table, "independent", "two runs, 8").value > 0.75
        assert named(table, "independent", "side by side, 6").value > 0.75
        assert {one.row for one in table.figures if one.goal} == {"independent"}


@pytest.mark.parametrize("change", [0.001, None])
def test_what_is_called_the_same_or_cannot_be_tested_is_not_found(
    monkeypatch: pytest.MonkeyPatch, change: float | None
) -> None:
    monkeypatch.setattr(
        changes, "compare", lambda one: replace(compare(one), smallest_change=change)
    )
    narrow, _ = changes.study(nobody, map, 20)
    assert named(narrow, "independent", "two runs, 8").value == 0
    assert named(narrow, "independent", "two runs, 8").met is False


def launches(
    seed: int, factor: float, noise: float = 0.01, steps: Sequence[float] = [1.0] * LAUNCHES
) -> Recorded:
    """Draw a case whose launches differ by 5%, and its versions in a launch by `noise`."""
    random = Random(seed)  # noqa: S311 - not for secrets
    old = [step * random.lognormvariate(0, 0.05) for step in steps]
    ratios = [factor * random.lognormvariate(0, noise) for _ in steps]
    new = [value * ratio for value, ratio in zip(old, ratios, strict=True)]
    return Recorded(str(seed), [*old], [*new], [*ratios])


def repeated(piece: str, repeats: int, factor: float) -> Case:
    """Make a case as it is stored, whose body takes `factor` times what the other version does."""
    old = [1e-3 * (1 + launch / LAUNCHES) for launch in range(LAUNCHES)]
    one = case("bench_repeats", [factor * value for value in old], piece=piece, repeats=repeats)
    info = replace(one.extra_info, launches=[1] * LAUNCHES, against=old)
    return replace(one, extra_info=info)


def test_what_is_found_side_by_side_is_lost_between_runs() -> None:
    same = [launches(seed, 1.0) for seed in range(4)]
    table = groups.table(same, [launches(seed, 1.02) for seed in range(4, 8)], draws=100)
    assert named(table, "2% slower, side by side: called slower", "share").met
    assert named(table, "2% slower, two runs: called slower", "share").value < 0.5
    assert named(table, "identical, side by side: a case called different", "share").met
    assert named(table, "identical, two runs: a case called different", "share").met
    disjoint = "identical, side by side, each launch once: a case called different"
    assert named(table, disjoint, "of").value == 4 * LAUNCHES // groups.LAUNCHES


def test_a_place_that_favours_one_version_is_found_out() -> None:
    table = groups.table([launches(0, 1.03, noise=0.005)], [launches(1, 1.02)], draws=50)
    row = "identical, side by side: a case called different"
    assert named(table, row, "share").met is False


def test_a_machine_that_changes_between_runs_shows_only_in_a_row() -> None:
    steps = [1.0 if launch < LAUNCHES / 2 else 1.5 for launch in range(LAUNCHES)]
    table = groups.table([launches(0, 1.0, steps=steps)], [launches(1, 1.02)], draws=200)
    assert named(table, "identical, two runs: a case called different", "share").met
    assert (
        named(table, "identical, two runs in a row: a case called different", "share").value > 0.2
    )


def test_a_recorded_run_is_told_by_its_bodies() -> None:
    cases = [repeated("add", 100, 1.0), repeated("add", 102, 1.02), repeated("sort", 102, 1.0)]
    seen, _ = real.tables(replace(factory.run(), benchmarks=cases), draws=20)
    assert named(seen, "add, 100 repeats", "new / old").goal is None
    assert named(seen, "add, 102 repeats", "new / old").met is True
    assert named(seen, "sort, 102 repeats", "new / old").met is False


def test_a_body_repeats_its_piece_and_is_right() -> None:
    module = load(real.BODIES / "bench_repeats.py")
    calls, told = count(), dict[str, Any]()

    def measure(body: Body, **rest: object) -> None:
        told.update(rest, body=body)

    module.PIECES["counted"] = (lambda numbers: (next(calls), numbers)[1], 4)
    for piece in module.PIECES:
        module.bench_repeats(measure, CPU, piece, 102)
        assert told["check"](told["body"]()).passed, piece
    before = next(calls)
    told["body"]()
    between = next(calls)
    told["against"]()
    assert (between - before - 1, next(calls) - between - 1) == (102, 100)


@pytest.mark.parametrize(("slower", "met"), [(1.0, True), (1.008, False), (0.99, False)])
def test_what_sampling_does_to_times_is_found_whatever_a_launch_does_to_all(
    slower: float, *, met: bool
) -> None:
    switch = telemetry.Switch(lambda *_: None, 16)
    cases = [case(f"bench_{name}", [1.0] * 16) for name in "ab"]
    for launch in range(16):
        for number, one in enumerate(cases):
            switch.at(0.0, 0.0, short_name(one.fullname))
            assert switch.on.is_set() is ((launch + number) % 2 == 0)
            one.stats.data[launch] = (1 + 0.3 * (launch % 3)) * (
                slower if switch.on.is_set() else 1.0
            )
            one.extra_info.launches = [1] * 16
        switch.say(f"launch {launch + 1} of about 16 done")
    run = replace(factory.run(), benchmarks=cases)
    run.frobench.telemetry = Telemetry(
        begun=0.0, step=1.0, series={}, held_back={}, launches=[], unknown={}, cost=0.002
    )
    table = telemetry.table(run, switch.was_on)
    found = named(table, "all cases together", "with / without")
    assert found.value == pytest.approx(slower)
    assert found.met is met


def test_a_clean_run_finds_the_true_times_and_raises_no_alarm(tmp_path: Path) -> None:
    options = ("--benchmarks", clean.KNOWN, "--devices", clean.DEVICES, "--profile", "quick")
    seen = measured(tmp_path, clean.FIELDS, "bench", *options)
    for one in seen.run.benchmarks:
        truth = clean.true_seconds(one, seen.spec)
        assert one.stats.median == pytest.approx(truth, rel=0.02)  # eight standard errors
    assert {one.code for one in seen.run.frobench.conclusions} == {"few-launches"}


@pytest.mark.parametrize(("off", "covers"), [(1.0, True), (1.4, False), (0.6, False)])
def test_an_interval_covers_the_true_time_or_not(off: float, *, covers: bool) -> None:
    truth = clean.true_seconds(case("bench_product", 1.0, n=64), clean.SPEC)
    one = case("bench_product", truth * off, "sim:0", n=64)
    run = replace(factory.run(), benchmarks=[one])
    assert clean.covered(run, clean.SPEC) == [covers]


def test_only_what_a_commit_has_not_made_is_made_again() -> None:
    of_one, changed = (
        Study(date="", commit=commit, machine="", seconds=1.0, tables=[])
        for commit in ("0a1b2c3", "0a1b2c3 (changed)")
    )
    studies = {"drift": of_one, "ratios": changed}
    assert made_of("0a1b2c3", studies) == {"drift"}
    assert made_of("0a1b2c3 (changed)", studies) == set()
    assert made_of("4d5e6f7", studies) == set()


def test_a_quick_calibration_prints_its_table_and_keeps_nothing() -> None:
    before = FIGURES.stat().st_mtime_ns
    done = subprocess.run(
        [sys.executable, "-m", "studies.calibration", "--quick", "intervals"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "autocorrelated in a launch" in done.stdout
    assert FIGURES.stat().st_mtime_ns == before
