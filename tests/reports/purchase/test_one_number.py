# SPDX-License-Identifier: MIT
"""One question has one number: of the stored runs, in the terminal, on the page, in the index."""

import json
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from frobench.command import main
from frobench.options import WORKLOADS
from frobench.reports.index import index
from frobench.reports.purchase import purchase, script
from frobench.reports.summary.model import summarise
from frobench.reports.table.estimates import estimates
from frobench.suite import checks
from frobench.suite.stored.types import Run, Search
from tests.instruments.processes.project_files import stored_runs
from tests.instruments.runs import made_up_cards
from tests.instruments.runs.exact_runs import LAUNCHES
from tests.instruments.runs.made_up_cards import CARD, faster

PAIRS = [*pairwise(stored_runs())]
ROUNDED = 1e-8
"""How far the index may be off: logarithms on the page have nine decimals."""
INDEX = """(data, base, run, workload) => {
    const { log, count } = ratios.reader(data).against(base).mean(run, workload);
    return { value: count ? Math.exp(log) : null, count };
}"""


def block(page: str, name: str) -> Any:  # noqa: ANN401 - as JSON has it
    pattern = rf'<script type="application/json" id="{name}">(.*?)</script>'
    found = re.search(pattern, page)
    assert found
    return json.loads(found[1])


class Shown(NamedTuple):
    """What the purchase page and the index hold of two runs, the base's page first in `hrefs`."""

    comparison: Any
    index: Any
    hrefs: tuple[str, str]
    order: list[str]

    def on_page(self, workload: str) -> Any:  # noqa: ANN401 - as JSON has it
        """Return the score of the second run beside the first, as the purchase page computes it."""
        run = self.hrefs[1].removesuffix(".html")
        return script.call("purchaseBuilt.score", self.comparison, run, workload)

    def in_index(self, workload: str) -> Any:  # noqa: ANN401 - as JSON has it
        """Return the same as the index computes it."""
        places = [self.order.index(href) for href in self.hrefs]
        return script.call(INDEX, self.index, *places, workload)


def shown(base: Run, new: Run) -> Shown:
    """Make the purchase page and the index of two runs."""
    hrefs = ("base.html", "new.html")
    runs = dict(zip(hrefs, (base, new), strict=True))
    made = purchase.files(runs, hrefs[0], [])
    known = [
        replace(summarise(run, "0" * 64, estimates(run)), machine_id=href, href=href)
        for href, run in runs.items()
    ]
    listed = index.page(known)
    runs_table = listed.partition('<table id="runs">')[2]
    order = re.findall(r'<tr[^>]*>.*?href="([^"]*)"', runs_table, re.DOTALL)
    held = block(made[purchase.PAGE].decode(), "comparisons")[0]
    return Shown(held, block(listed, "data"), hrefs, order)


@cache
def of_files(base: Path, new: Path) -> Shown:
    return shown(checks.read(base), checks.read(new))


def agree(about: Any, wanted: Any) -> None:  # noqa: ANN401 - as JSON has it
    """Hold the index's score against another's."""
    assert about["count"] == wanted["cases"]
    value = wanted["speed"] and wanted["speed"]["value"]
    assert about["value"] == (value and pytest.approx(value, rel=ROUNDED))


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize(("base", "new"), PAIRS)
def test_terminal_purchase_page_and_index_have_one_number(
    base: Path, new: Path, workload: str
) -> None:
    given = ["compare", str(base), str(new), "--purchase", "--workload", workload, "--json"]
    printed = json.loads(CliRunner().invoke(main, given).stdout)
    pages = of_files(base, new)
    on_page = pages.on_page(workload)
    assert (on_page["speed"], on_page["cases"]) == (printed["speed"], printed["cases"])
    agree(pages.in_index(workload), printed)


@cache
def unlike() -> Shown:
    """Show cards of which one has too few launches of a case, and another shape of one."""
    base, new = (made_up_cards.run(card) for card in (CARD, faster(CARD, 2, 3)))
    few = next(one for one in new.benchmarks if "bench_within[" in one.name and "1073" in one.name)
    few.stats.data[LAUNCHES - 3 :] = []
    few.extra_info.launches[LAUNCHES - 3 :] = [0] * 3
    for run, columns in ((base, 4096), (new, 8192)):
        case = next(one for one in run.benchmarks if one.name.endswith("8192-bfloat16]"))
        case.extra_info.search = Search(
            shape=[8192, 8192, columns], shapes=9, seconds=1.0, runner_up=0.9
        )
    return shown(base, new)


@pytest.mark.parametrize("workload", ["training", "decode"])
def test_index_and_page_leave_out_the_same_cases(workload: str) -> None:
    pages = unlike()
    on_page = pages.on_page(workload)
    assert on_page["cases"] < on_page["every"]
    agree(pages.in_index(workload), on_page)
