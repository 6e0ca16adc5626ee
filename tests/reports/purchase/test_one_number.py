# SPDX-License-Identifier: MIT
"""One question has one number: of the stored runs, in the terminal, on the page, in the index."""

import json
from functools import cache
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from frobench.command import main
from frobench.options import WORKLOADS
from frobench.reports.compare.workload import sides
from frobench.reports.index import index
from frobench.reports.purchase import purchase, script
from frobench.suite import checks
from tests.instruments.processes.project_files import stored_runs
from tests.reports.pages import block, parsed

SCORE = """(data, hrefs, workload) => {
    const machines = data.runs.map((_, i) => model.machine(data, i));
    const [base, one] = hrefs.map((href) => machines.find((each) => each.href === href));
    const { speed, coverage } = model.score(one, base, model.workload(data, workload));
    return { speed: speed && model.ratio(speed), coverage };
}"""
"""What a page's script finds of two machines, by what the page holds."""
HREFS = ("base.html", "new.html")


@cache
def pages(base: Path, new: Path) -> tuple[Any, Any]:
    """Return what the purchase page and the index hold of two runs."""
    known = [
        replace(one, machine_id=href, href=href)
        for one, href in zip(sides(checks.read(base), checks.read(new)), HREFS, strict=True)
    ]
    made = parsed(purchase.files(known, HREFS[0], [])[purchase.PAGE])
    listed = parsed(index.page(known))
    named = [(one["href"], one.get_text()) for one in listed.select("#runs th > a")]
    packed = script.call("index.unpacked", block(listed, "#data"), named)
    return block(made, "#machines"), packed


@pytest.mark.parametrize(
    ("workload", "base", "new"),
    [(name, *both) for name, both in zip(WORKLOADS, cycle(pairwise(stored_runs())), strict=False)],
)
def test_one_question_has_one_number(workload: str, base: Path, new: Path) -> None:
    given = ["compare", str(base), str(new), "--purchase", "--workload", workload, "--json"]
    printed = json.loads(CliRunner().invoke(main, given).stdout)
    wanted = {name: printed[name] for name in ("speed", "coverage")}
    for held in pages(base, new):
        assert script.call(SCORE, held, HREFS, workload) == wanted
