# SPDX-License-Identifier: MIT
"""One question has one number: of the stored runs, in the terminal, on the page, in the index."""

import json
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from frobench.command import main
from frobench.options import WORKLOADS
from reports.index import index
from reports.purchase import purchase, script
from reports.summary.model import summarise
from reports.table.estimates import estimates
from suite import checks
from tests.instruments.project_files import stored_runs

PAIRS = [*pairwise(stored_runs())]
APPROXIMATION = 0.05
"""How far the index may be off: it has means of logarithms, and the page pseudomedians."""
INDEX = """(data, base, run, workload) => {
    const { log, count } = ratios.reader(data).against(base).mean(run, workload);
    return { value: count ? Math.exp(log) : null, count };
}"""


def block(page: str, name: str) -> Any:  # noqa: ANN401 - as JSON has it
    pattern = rf'<script type="application/json" id="{name}">(.*?)</script>'
    found = re.search(pattern, page)
    assert found
    return json.loads(found[1])


@cache
def pages(base: Path, new: Path) -> tuple[str, str]:
    """Return the purchase page and the index of two runs, the base first."""
    runs = {f"{path.stem}.html": checks.read(path) for path in (base, new)}
    made = purchase.files(runs, f"{base.stem}.html", [])
    known = [
        replace(summarise(run, "0" * 64, estimates(run)), machine_id=href, href=href)
        for href, run in runs.items()
    ]
    return made[purchase.PAGE].decode(), index.page(known)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize(("base", "new"), PAIRS)
def test_terminal_purchase_page_and_index_have_one_number(
    base: Path, new: Path, workload: str
) -> None:
    given = ["compare", str(base), str(new), "--purchase", "--workload", workload, "--json"]
    told = json.loads(CliRunner().invoke(main, given).stdout)
    page, listed = pages(base, new)
    held = block(page, "comparisons")[0]
    shown: Any = script.call("purchaseBuilt.score", held, new.stem, workload)
    assert (shown["speed"], shown["cases"]) == (told["speed"], told["cases"])
    order = re.findall(r'<tr[^>]*>.*?href="([^"]*)"', listed.partition("<tbody>")[2], re.DOTALL)
    places = [order.index(f"{path.stem}.html") for path in (base, new)]
    about: Any = script.call(INDEX, block(listed, "data"), *places, workload)
    assert about["count"] == told["cases"]
    if told["speed"] is None:
        assert about["value"] is None
    else:
        assert about["value"] == pytest.approx(told["speed"]["value"], rel=APPROXIMATION)
