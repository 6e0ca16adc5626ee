# SPDX-License-Identifier: MIT
"""What is shown or compared is judged by the facts of a file, never by the conclusions in it."""

import csv
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from frobench.command import main
from frobench.suite import checks
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Run
from tests.instruments.faults.spoiling import good, last, product

RATE = 4.05e15
SHOWN = r"4\.\d+.PFLOP/s"


def impossible(run: Run) -> Case:
    return product(run, dtype="bfloat16")


def edited() -> Run:
    """Return a run with one case made 4.05 PFLOP/s by hand, and every conclusion taken out."""
    run = good()
    last(run, 2 * 16384**3 / RATE, impossible(run))
    run.frobench.conclusions = []
    return run


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    """Store the honest run and the edited one, its digest made anew."""
    honest, dishonest = good(), edited()
    dishonest.frobench.run = dishonest.frobench.run.replace("0a1b2c3", "0a1b2c4")
    return store.write(honest, tmp_path / "results"), store.write(dishonest, tmp_path / "results")


def said(*arguments: object) -> tuple[int, str]:
    shown = CliRunner().invoke(main, [*map(str, arguments)])
    return shown.exit_code, shown.output


def test_every_command_names_the_impossible_case(paths: tuple[Path, Path], tmp_path: Path) -> None:
    honest, dishonest = paths
    assert "above-peak" not in said("validate", honest)[1]
    for command in (["validate", dishonest], ["share", dishonest, "-o", tmp_path / "shared"]):
        code, text = said(*command)
        assert (code, "above-peak" in text) == (1, True)
    for option in ([], ["--purchase"]):
        assert re.search(rf"above-peak(?: in new)?: {SHOWN}", said("compare", *paths, *option)[1])


def test_no_page_shows_an_impossible_figure(paths: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "site"
    code, _ = said("report", *paths, "-o", out)
    assert code == 0
    page = next(out.rglob("*0a1b2c4.html")).read_text(encoding="utf-8")
    assert "Above peak: 1 case" in page
    assert len(re.findall(SHOWN, page)) == len(re.findall(f"{SHOWN}, where ", page)) == 1
    name = impossible(good()).fullname
    for table in out.rglob("*.csv"):
        rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
        assert not any(row.get("case") == name and "0a1b2c4" in str(row) for row in rows), table
    for other in [*out.glob("*.html"), *out.rglob("*0a1b2c4*.svg")]:
        text = other.read_text(encoding="utf-8")
        assert not re.search(f"{SHOWN}(?!, where )", text), other


def test_stored_conclusions_that_the_facts_do_not_support_are_not_believed(tmp_path: Path) -> None:
    run = good()
    run.frobench.conclusions = checks.conclude(edited())
    assert run.frobench.conclusions
    assert checks.read(store.write(run, tmp_path)).frobench.conclusions == []
