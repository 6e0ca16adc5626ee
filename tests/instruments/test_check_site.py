# SPDX-License-Identifier: MIT
"""The site of all stored runs passes the site checker, and planted faults are each named."""

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

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


class Fault(NamedTuple):
    """A fault to plant: the first match of a pattern is replaced.

    where : the file; of the example run, where it has no name of its own
    named : what the checker must say
    """

    where: str
    pattern: str
    new: str
    named: str


FAULTS = {
    "a time on a page": Fault(".html", r'(id="case-1".*?"value">)[\d.]+', r"\g<1>90001", "'90001"),
    "an interval on a page": Fault(
        ".html", r'(id="case-3".*?\[)[\d.]+', r"\g<1>90002", r"\[90002,.*should be Row"
    ),
    "the median of a launch": Fault(".html", r"(of the launches: )[\d.]+", r"\g<1>90003", "90003"),
    "a number in a chart's table": Fault(
        ".html", r'(<figure id.*?<td>.*?"value">)[\d.]+', r"\g<1>90004", "'90004"
    ),
    "an answer": Fault(
        ".html", r'(<p class="answer">[^<]*?<b>)\d[\d.]*', r"\g<1>90005", "90005.* is no answer"
    ),
    "an answer in a row": Fault(
        ".html", r'(<span class="a">.*?interval">\[)[\d.]+', r"\g<1>90006", r"\[90006"
    ),
    "an axis": Fault(".html", r'(class="big"><a[^>]*>)[\d.]+', r"\g<1>90007", "'90007"),
    "the first sentence": Fault(".html", r'("lead"><b>)[\d.]+', r"\g<1>90008", "'90008"),
    "a broken link": Fault(".html", 'href="#case-5"', 'href="#case-905"', "#case-905' leads"),
    "a link that leaves": Fault(
        ".html", r'href="\.\./index\.html"', 'href="https://a.example/"', "a.example/' leads away"
    ),
    "a sample": Fault(".samples.csv", r"(\n1,0,0,)", r"\g<1>9", "case 1 has not the samples"),
    "a launch": Fault(".csv", r"(true|false)(,0,)", r"\1\g<2>9", r"csv, row 1: seconds is 9"),
    "an interval": Fault(
        ".cases.csv", r'("time",[\d.]+,)', r"\g<1>9", r"cases.csv, row 1: time is Row\(.*low=9"
    ),
    "a point": Fault(
        ".figures.csv", r'(\n[^\n]*?",)(\d[\d.]+,)', r"\g<1>9\2", "figures.csv, row 1"
    ),
    "an axis in its table": Fault(".axes.csv", r'("in bursts",)', r"\g<1>9", "axes.csv, row 1"),
    "another Parquet": Fault(".axes.parquet", "PAR1", "ABCD", "axes.parquet: is not the same"),
    "a speed of a device": Fault(
        "index.html", r"(<strong>)[\d.]+", r"\g<1>90009", "the speed is '90009"
    ),
    "a number of cases": Fault(
        "index.html", r"(<td>standard<td>\d+<td>)", r"\g<1>9", "cases, and should be"
    ),
    "an estimate": Fault("estimates.csv", r"((?:true|false),)", r"\g<1>9", "value=9"),
    "a count": Fault("runs.csv", r"(true|false),7", r"\1,9007", "launches is 9007"),
    "a price": Fault(
        "purchase.html", r'(data-l="Price[^>]*><[^>]*>)[\d,]+', r"\g<1>90011", "'90011"
    ),
    "the best value": Fault(
        "purchase.html", r'(Best value[^<]*</h2><p class="who">)[^<]+', r"\1Nothing", "price: Noth"
    ),
    "a margin": Fault(
        "purchase.html", r'("who">[^<]+</p><p>)[\d.]+', r"\g<1>90012", "'Fastest.*90012"
    ),
    "a rank": Fault("purchase.html", r", rank \d", ", rank 9", "rank 9.*should be rank"),
    "a coverage": Fault("purchase.html", r"covers \d+%", "covers 93%", "covers 93%.*should be"),
    "a ratio": Fault(
        "purchase.csv", r'(intel[^\n]*training","",[\d.]+,-?)', r"\g<1>9", "log_ratio is"
    ),
}


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


@pytest.fixture(scope="module")
def spoilt(good: Path) -> str:
    """Return what the checker says of a copy into which all faults are planted."""
    folder = good.with_name("spoilt")
    shutil.copytree(good, folder)
    (example,) = folder.glob(f"*/{EXAMPLE_RUN.name}")
    for fault in FAULTS.values():
        path = example.with_suffix(fault.where) if fault.where[0] == "." else folder / fault.where
        text = path.read_bytes().decode("latin-1")  # Parquet too
        changed = re.sub(fault.pattern, fault.new, text, count=1, flags=re.DOTALL)
        assert changed != text, fault
        path.write_bytes(changed.encode("latin-1"))
    return "\n".join(check(folder).faults)


def test_the_site_of_all_stored_runs_passes(good: Path) -> None:
    command = [sys.executable, "-m", "tests.instruments.check_site", str(good)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.findall(r"(\d[\d,]*) (?:links|cells|numbers on pages)", done.stdout)
    links, cells, numbers = (int(count.replace(",", "")) for count in counts)
    assert min(links, cells, numbers) > 1000
    assert len([*good.glob("*/2*.html")]) == len([*(ROOT / "results").rglob("*.json")])


@pytest.mark.parametrize("what", FAULTS)
def test_a_planted_fault_is_named(spoilt: str, what: str) -> None:
    assert re.search(FAULTS[what].named, spoilt)


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
