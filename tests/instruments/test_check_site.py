# SPDX-License-Identifier: MIT
"""The site of all stored runs passes the site checker, which notices what is changed in it."""

import re
import shutil
from pathlib import Path

import pytest

from frobench.reports.making.workers import Workers
from frobench.reports.purchase import prices, purchase
from frobench.reports.site import build
from frobench.reports.summary import model
from tests.instruments.check_site import check
from tests.instruments.processes.command import ROOT, python
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
    done = python("-m", "tests.instruments.check_site", good)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.findall(r"(\d[\d,]*) (?:links|cells|numbers on pages)", done.stdout)
    links, cells, numbers = (int(count.replace(",", "")) for count in counts)
    assert min(links, cells, numbers) > 1000
    assert len([*good.glob("*/2*.html")]) == len([*(ROOT / "results").rglob("*.json")])


CHANGES = {
    "intel*/2*.html": (r"(\d\d\d) GFLOP/s", r"9\1 GFLOP/s"),
    "intel*/2*.cases.csv": (r"0\.0", "0.1"),
    "estimates.csv": (r"(?m)^(.*),(\d)", r"\1,9\2"),
    "index.html": ('href="intel', 'href="in'),
}


def test_a_changed_number_or_link_is_named(good: Path, tmp_path: Path) -> None:
    site = Path(shutil.copytree(good, tmp_path / "site"))
    changed = [next(site.glob(name)) for name in CHANGES]
    for path, change in zip(changed, CHANGES.values(), strict=True):
        path.write_text(re.sub(*change, path.read_text("utf-8")), "utf-8")
    faulty = {fault.split(":")[0].split(",")[0] for fault in check(site).faults}
    assert faulty == {path.name for path in changed}
