# SPDX-License-Identifier: MIT
"""A site passes its stand-alone checker, and each fault that is planted into a copy is named."""

import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from reports.making.workers import Workers
from reports.purchase import prices, purchase
from reports.site import build
from suite import checks
from suite.statistics import case_medians
from suite.stored import store
from suite.stored.run import Energy, Run
from tests.instruments.check_site import check
from tests.instruments.faults import spoiling
from tests.instruments.faults.judging import keep, validate_file
from tests.instruments.faults.spoiling import last, product
from tests.instruments.processes.command import ROOT
from tests.instruments.runs import factory
from tests.reports.charts.test_courses import telemetry

CHECKER = ROOT / "tests" / "instruments" / "check_site.py"
PRICES = """torch_name,memory_bytes,price,currency,date,kind,source,per
H200,,31500,EUR,2026-11-02,offer,our reseller,
EPYC,,9000,EUR,2026-11-02,offer,our reseller,
H200,,3.5,EUR,2026-11-02,rent,our host,hour
"""
SIZES = {"matmul": {64, 1024}, "copies": {67108864}}


class Fault(NamedTuple):
    """A fault to plant: the first match of a pattern is replaced.

    where : the end of the file's path
    named : what the checker must say
    """

    where: str
    pattern: str
    new: str
    named: str


GPU = "one-gpu/20260102T120000Z-0a1b2c3"
PAGE = {
    "a time": Fault(".html", r'(id="case-1".*?class="value">)[\d.]+', r"\g<1>90001", "'90001"),
    "a unit": Fault(".html", r'(id="case-2".*?class="value">[\d.]+.)µs', r"\1PB", "PB"),
    "an interval turned round": Fault(
        ".html",
        r'(id="case-3".*?value">[\d.]+.µs.*?\[)([\d.]+), ([\d.]+)',
        r"\1\3, \2",
        r"'[\d.]+ µs \[([\d.]+), (?!\1)[\d.]+\]' should be",
    ),
    "a link to no place": Fault(".html", 'href="#case-5"', 'href="#case-905"', "#case-905' leads"),
    "a link that leaves": Fault(
        ".html", r'href="\.\./index\.html"', 'href="https://a.example/"', "a.example/' leads away"
    ),
    "an id that is gone": Fault(".html", 'id="case-6"', 'id="case-906"', "the number '906'"),
    "the range of samples": Fault(".html", r"(<p><span>)[\d.]+", r"\g<1>90007", "'90007"),
    "the median of a launch": Fault(
        ".html", r"(Medians of the launches: )[\d.]+", r"\g<1>90008", "'90008"
    ),
    "the words of a point": Fault(".html", r"(<title>[^<]*: )[\d.]+", r"\g<1>90009", "'90009"),
    "the words of a chart": Fault(
        ".html", r'(<svg xmlns[^>]*? aria-label="[^"]*?: )[\d.]+', r"\g<1>90010", "'90010"
    ),
    "the title of a chart": Fault(
        ".html", r"(<figure id[^>]*>\s*<figcaption>\s*<h3>[^<]*?)\d[\d.]*", r"\g<1>90016", "'90016"
    ),
    "the table of a chart": Fault(
        ".html", r'(<figure id.*?<td>.*?class="value">)[\d.]+', r"\g<1>90011", "'90011"
    ),
    "an answer": Fault(
        ".html",
        r'(<p class="answer">[^<]*?<b>)\d[\d.]*([^\d<]*</b> <span)',
        r"\g<1>90012\2",
        "90012.* is no answer",
    ),
    "a rule of thumb": Fault(
        ".html", r'(<p class="rule">)\w+', r"\g<1>Never", "Never.* is no rule of thumb"
    ),
    "an answer in a row": Fault(
        ".html", r'(<span class="a">.*?interval">\[)[\d.]+', r"\g<1>90013", r"\[90013"
    ),
    "an axis": Fault(".html", r'(class="big"><a[^>]*>)[\d.]+', r"\g<1>90014", "'90014"),
    "a part of the datasheet": Fault(
        ".html",
        r'(class="note">[^<]*?)[\d.]+% of the datasheet',
        r"\g<1>93% of the datasheet",
        "'93%",
    ),
    "the readings of a launch": Fault(
        ".html", r'(id="sensors-1-caption".*?>2</td><td>)[\d.]+', r"\g<1>90015", "90015"
    ),
}
TABLES = {
    "a sample": Fault(".samples.csv", r"(\n1,0,0,)", r"\g<1>9", "case 1 has not the samples"),
    "the median of a launch": Fault(
        "0a1b2c3.csv", r"(true|false)(,0,)", r"\g<1>\g<2>9", "0a1b2c3.csv, row 1: seconds is 9"
    ),
    "a case": Fault(
        ".cases.csv", r'("time",)', r"\g<1>9", r"cases.csv, row 1: time is Row\(value=9"
    ),
    "a crossover": Fault(
        ".findings.csv", r'("crossover size n",)(\d)', r"\g<1>9\2", r"findings.csv: crossover$"
    ),
    "a size that gets half": Fault(
        ".findings.csv", r'(half the best rate",)(\d)', r"\g<1>9\2", "findings.csv: half-rate"
    ),
    "a point": Fault(".figures.csv", r'(\n[^\n]*?",)(\d)', r"\g<1>9\2", "should be Row"),
    "an axis in its table": Fault(
        ".axes.csv", r'(\n"memory"[^\n]*?",)(\d)', r"\g<1>9\2", "axes.csv: memory"
    ),
    "a reading's launch": Fault(
        ".sensors.csv", r'("power_watts",\d+,)\d', r"\g<1>5", "sensors.csv, row 1: launch is 5"
    ),
    "a form that is no Parquet": Fault(".cases.parquet", "PAR1", "ABCD", "that is no Parquet"),
}
TOGETHER = {
    "a speed of a device": Fault(
        "index.html", r"(<strong>)[\d.]+", r"\g<1>90020", "the speed is '90020"
    ),
    "a rate of a device": Fault(
        "index.html", r'(data-l="Compute, [^"]*">)[\d.]+', r"\g<1>90021", "Compute is '90021"
    ),
    "a number of runs": Fault(
        "index.html",
        r'(<td class="pick"></td><th scope="row"><a [^>]*>[^<]*</a>)',
        r"\g<1><small>90022 runs</small>",
        "90022 run",
    ),
    "a packed time": Fault("index.html", r'("runs":\["[^"]*",")..', r"\1#!", "a packed time of"),
    "an estimate": Fault("estimates.csv", r"((?:true|false),)", r"\g<1>9", "seconds is 9"),
    "a count": Fault("runs.csv", r"(true|false),7", r"\1,9007", "launches are 9007"),
    "a ratio": Fault("purchase.html", r'(class="value">)[\d.]+', r"\g<1>90021", "'90021"),
    "a price by work": Fault(
        "purchase.html",
        r'(9,000 EUR</span></td><td><span class="value">)[\d,]+',
        r"\g<1>90022",
        "'90022 EUR",
    ),
    "a cost of ownership": Fault(
        "purchase.html", r"33,\d\d\d( EUR</span><)", r"90023\1", "'90023 EUR"
    ),
    "a sentence": Fault("purchase.html", r"[\d.]+( \[[\d., ]+\] times)", r"90024\1", "'90024"),
    "how many cases": Fault("purchase.html", r"<td>\d+ of (\d+)", r"<td>90025 of \1", "'90025 of"),
    "what launches leave open": Fault(
        "purchase.html", r'("covariance":\[\[)\d', r"\g<1>9", "the covariance of exercises 0 and 0"
    ),
    "how wide an interval is": Fault(
        "purchase.html", r'("quantile":)2', r"\g<1>3", "the quantile is 3"
    ),
    "work for a joule": Fault(
        "purchase.html", r'("energy":\{"log":-?)\d', r"\g<1>9", "work for a joule is .*9"
    ),
    "a verdict": Fault(
        "purchase.html",
        r'(Least energy per work<.*?class="who">)[^<]+',
        r"\g<1>Nothing",
        "'Nothing' should be",
    ),
    "a margin": Fault(
        "purchase.html", r'(class="who">[^<]+</p><p>)[\d.]+', r"\g<1>90026", "'90026"
    ),
    "under how many workloads": Fault(
        "purchase.html", r"(Fastest under )\d", r"\g<1>7", "Fastest under 7 of .* should"
    ),
    "a weight of the score": Fault(
        "purchase.html", r'(heat score".*?</th><td>)[\d.]+', r"\g<1>90030", "'90030%'"
    ),
    "a speed that the score is made of": Fault(
        "purchase.html", r'(heat score".*?<td[^>]*><span>)[\d.]+', r"\g<1>90031", "'90031"
    ),
    "a rank": Fault(
        "purchase.html", r"(table-speed.*?<td>)\d( to \d)?(</td>)", r"\g<1>9\3", "place '9' of"
    ),
    "a model that fits": Fault(
        "purchase.html", r'(<td class="fit">)fits', r"\g<1>tight", "'tight.* should be fits"
    ),
    "what is left": Fault(
        "purchase.html", r'(class="nofit">no<span class="note">)[\d.]+', r"\g<1>90027", "no90027"
    ),
    "hours of renting": Fault(
        "purchase.html", r"(table-rent.*?<td>)[\d,.]+", r"\g<1>90028", "'90028 h' should be"
    ),
    "an axis of a machine": Fault(
        "purchase.html", r'("axes":\[\{[^}]*"value":)', r"\g<1>9", "the axis .* should be Row"
    ),
    "a capacity": Fault("purchase.html", r'("memory_bytes":)(\d)', r"\g<1>9\2", "its memory is 9"),
    "a score beside another machine": Fault(
        "purchase.html",
        r'(\},\{"approximate".*?"counts":\{"to_device":)',
        r"\g<1>9",
        "beside .*the logarithm of 92 cases",
    ),
    "a cell": Fault("purchase.csv", r'(gpu/[^\n]*?cpu",-?)', r"\g<1>9", "purchase.csv: one-gpu"),
}


def small(seed: int, machine: str, accelerators: int) -> Run:
    """Return a run of few cases on all its devices."""
    run = factory.run(seed=seed, machine=machine, accelerators=accelerators, launches=7)
    keep(
        run,
        lambda case: (
            bool(SIZES.get(case.group, set()) & {*case.params.values()})
            and case.params.get("dtype", "float32") == "float32"
        ),
    )
    run.frobench.exercises = {name: run.frobench.exercises[name] for name in SIZES}
    for case in run.benchmarks:
        medians = [one for one in case_medians(case) if one]
        joules = [seconds * (300 + 10 * at * seed) for at, seconds in enumerate(medians)]
        case.extra_info.energy = Energy(joules=[*joules], seconds=[*medians])
    run.frobench.conclusions = []
    if accelerators:
        power: list[float | None] = [80.0, 410.0, None, 450.0, 430.0]
        run.frobench.telemetry = telemetry({"cuda:0": {"power_watts": power}})
    return run


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checked")
    runs = [small(1, "one-gpu", 1), small(2, "cpu", 0)]
    paths = [store.write(run, folder / "results") for run in runs]
    (folder / "prices.csv").write_text(PRICES, encoding="utf-8")
    known = prices.read(folder / "prices.csv")
    maker = purchase.Maker(paths, paths[1], known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "conclude", lambda _: [])  # no machine has these names
        build.build(paths, folder / "site", workers=Workers(1), beside=[maker], known=known)
    return folder / "site"


@pytest.fixture(scope="module")
def said(good: Path) -> dict[str, str]:
    """Return what the checker says of copies into each of which faults of a kind are planted.

    What it could only compare, it lists too.
    """
    return {
        name: spoilt(good, good.with_name(name), faults.values())
        for name, faults in (("page", PAGE), ("tables", TABLES), ("together", TOGETHER))
    }


def spoilt(good: Path, folder: Path, faults: Iterable[Fault]) -> str:
    shutil.copytree(good, folder)
    for fault in faults:
        names = [GPU + fault.where, "one-gpu/20260102T120000Z-" + fault.where, fault.where]
        path = next(folder / name for name in names if (folder / name).is_file())
        text = path.read_bytes().decode("latin-1")  # Parquet too
        pattern, new = (one.encode().decode("latin-1") for one in (fault.pattern, fault.new))
        changed = re.sub(pattern, new, text, count=1, flags=re.DOTALL)
        assert changed != text, fault
        path.write_bytes(changed.encode("latin-1"))
    found = check(folder)
    return "\n".join([*found.faults, *found.compared])


def test_a_site_passes_in_an_interpreter_that_has_nothing_installed(good: Path) -> None:
    command = [sys.executable, "-I", "-S", str(CHECKER), str(good)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("0 faults, 0 not checked\n")
    assert "only compared" not in done.stdout
    last = done.stdout.replace(",", "").splitlines()[-1]
    links, cells, numbers = map(int, re.findall(r"\d+(?= links| cells| numbers)", last))
    assert links > 100
    assert cells > 1000
    assert numbers > 300


@pytest.mark.parametrize("what", PAGE)
def test_a_fault_in_the_page_of_a_run_is_named(said: dict[str, str], what: str) -> None:
    assert re.search(PAGE[what].named, said["page"])


@pytest.mark.parametrize("what", TABLES)
def test_a_fault_in_a_download_is_named(said: dict[str, str], what: str) -> None:
    assert re.search(TABLES[what].named, said["tables"], re.MULTILINE)


@pytest.mark.parametrize("what", TOGETHER)
def test_a_fault_in_what_shows_several_runs_is_named(said: dict[str, str], what: str) -> None:
    assert re.search(TOGETHER[what].named, said["together"])


def test_a_case_that_counts_for_nothing_leaves_the_others_their_numbers(tmp_path: Path) -> None:
    run = spoiling.good()
    whole = [case.fullname for case in run.benchmarks]
    impossible = product(run, 4096)
    last(run, 8e-6, impossible)
    path = store.write(run, tmp_path / "results")
    assert "above-peak" in {one.code for one in validate_file(path)}
    build.build([path], tmp_path / "site", workers=Workers(1))
    about_it = ("number is", "has not the samples", "counts for nothing", "runs.csv")
    assert [one for one in check(tmp_path / "site").faults if any(f in one for f in about_it)] == []
    (cases,) = (tmp_path / "site").glob("*/*.cases.csv")
    with cases.open(encoding="utf-8", newline="") as file:
        numbers = {row["case"]: int(row["number"]) for row in csv.DictReader(file)}
    assert impossible.fullname not in numbers
    assert numbers == {name: whole.index(name) + 1 for name in numbers}
    page = cases.with_name(cases.name.replace(".cases.csv", ".html")).read_text(encoding="utf-8")
    after = whole[whole.index(impossible.fullname) + 1]
    assert f'id="case-{numbers[after]}"' in page
    assert f'id="case-{whole.index(impossible.fullname) + 1}"' not in page
