# SPDX-License-Identifier: MIT
"""The site of all stored runs passes the site checker; other cases keep their numbers."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

from frobench.reports.making.workers import Workers
from frobench.reports.purchase import prices, purchase
from frobench.reports.site import build
from frobench.reports.summary import model
from frobench.suite.stored import store
from tests.instruments.check_site import check
from tests.instruments.faults import spoiling
from tests.instruments.faults.judging import validate_file
from tests.instruments.faults.spoiling import last, product
from tests.instruments.processes.command import ROOT
from tests.instruments.processes.project_files import EXAMPLE_RUN

PRICES = """torch_name,memory_bytes,price,currency,date,kind,source,per
Xeon,,7000,EUR,2026-11-02,offer,our reseller,
EPYC,,9000,EUR,2026-11-02,offer,our reseller,
"""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site of all stored runs, the newest of another machine beside the example.

    Most cases of these two are noisy: as if they were not, since a doubtful run has no verdict.
    """
    folder = tmp_path_factory.mktemp("checked")
    paths = sorted((ROOT / "results").rglob("*.json"), key=lambda path: path.name)
    (folder / "prices.csv").write_text(PRICES, encoding="utf-8")
    known = prices.read(folder / "prices.csv")
    pair = [[path for path in paths if path.parent != EXAMPLE_RUN.parent][-1], EXAMPLE_RUN]
    maker = purchase.Maker(pair, pair[0], known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_noise", lambda *_: "")
        build.build(paths, folder / "site", workers=Workers(1), beside=[maker], known=known)
    return folder / "site"


def test_the_site_of_all_stored_runs_passes(good: Path) -> None:
    command = [sys.executable, "-m", "tests.instruments.check_site", str(good)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.findall(r"(\d[\d,]*) (?:links|cells|numbers on pages)", done.stdout)
    links, cells, numbers = (int(count.replace(",", "")) for count in counts)
    assert min(links, cells, numbers) > 1000
    assert len([*good.glob("*/2*.html")]) == len([*(ROOT / "results").rglob("*.json")])


def test_a_case_that_counts_for_nothing_leaves_the_others_their_numbers(tmp_path: Path) -> None:
    run = spoiling.good()
    whole = [case.fullname for case in run.benchmarks]
    impossible = product(run, 4096)
    last(run, 8e-6, impossible)
    path = store.write(run, tmp_path / "results")
    assert "above-peak" in {one.code for one in validate_file(path)}
    build.build([path], tmp_path / "site", workers=Workers(1))
    about_it = ("number is", "has not the samples", "runs.csv")
    assert [one for one in check(tmp_path / "site").faults if any(f in one for f in about_it)] == []
    (cases,) = (tmp_path / "site").glob("*/*.cases.csv")
    with cases.open(encoding="utf-8", newline="") as file:
        numbers = {row["case"]: int(row["number"]) for row in csv.DictReader(file)}
    assert impossible.fullname not in numbers
    assert numbers == {name: whole.index(name) + 1 for name in numbers}
    page = cases.with_name(cases.name.replace(".cases.csv", ".html")).read_text(encoding="utf-8")
    assert f'id="case-{whole.index(impossible.fullname) + 2}"' in page
    assert f'id="case-{whole.index(impossible.fullname) + 1}"' not in page
