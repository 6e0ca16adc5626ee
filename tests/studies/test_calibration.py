# SPDX-License-Identifier: MIT
"""The studies of the harness's errors: small ones, and the figures of the last full ones."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.suite.compare.between_run_spread import BetweenRunSpread
from frobench.suite.compare.multiple_testing import Judged, Sides, compare, compare_family
from frobench.suite.compare.verdicts import Comparison
from studies.calibration import changes, clean, pilot, verdicts
from studies.calibration.__main__ import PLANS
from studies.calibration.document import DOCUMENT, FIGURES, read, rendered
from studies.calibration.figures import Figure, Table
from studies.calibration.regimes import REGIMES
from studies.calibration.work import every_core
from tests.instruments.devices.measured import measured
from tests.instruments.processes.command import python


def silent(done: float, what: str) -> None:
    """Hear how far a study is."""


def named(table: Table, row: str, column: str) -> Figure:
    [found] = [one for one in table.figures if (one.row, one.column) == (row, column)]
    return found


def test_the_document_shows_the_figures_of_every_study_that_are_kept() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert rendered(text, read()) == text
    assert sorted(re.findall(r"<!-- (?!end)(\S+) -->", text)) == sorted(PLANS)


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
    [table] = verdicts.study(silent, map, 60)
    assert not any(one.met for one in table.figures)


@pytest.mark.parametrize(("study", "runs"), [(verdicts.study, 10), (pilot.study, 1)])
def test_short_studies_meet_every_goal(study: Callable[..., list[Table]], runs: int) -> None:
    figures = [figure for table in study(silent, map, runs) for figure in table.figures]
    goals = [figure.met for figure in figures if figure.goal]
    assert goals.count(True) == len(goals) > 20


def test_a_slow_down_of_the_printed_size_is_mostly_found() -> None:
    with every_core() as spread:
        tables = changes.study(silent, spread, 60)
    for table in tables:
        assert named(table, "independent", "two runs, 8").value > 0.75
        assert named(table, "independent", "side by side, 6").value > 0.75
        assert {one.row for one in table.figures if one.goal} == {"independent"}


def test_a_clean_run_finds_the_true_times_and_raises_no_alarm(tmp_path: Path) -> None:
    options = ("--benchmarks", clean.KNOWN, "--devices", clean.DEVICES, "--profile", "quick")
    seen = measured(tmp_path, clean.FIELDS, "bench", *options)
    for one in seen.run.benchmarks:
        truth = clean.true_seconds(one, seen.spec)
        assert one.stats.median == pytest.approx(truth, rel=0.02)  # eight standard errors
    assert {one.code for one in seen.run.frobench.conclusions} == {"few-launches"}


def test_a_quick_calibration_prints_its_table_and_keeps_nothing() -> None:
    before = FIGURES.stat().st_mtime_ns
    done = python("-m", "studies.calibration", "--quick", "intervals")
    assert done.returncode == 0, done.stderr
    assert "autocorrelated in a launch" in done.stdout
    assert FIGURES.stat().st_mtime_ns == before
