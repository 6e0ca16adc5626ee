# SPDX-License-Identifier: MIT
"""Files that once ended a command with a traceback: each is refused with its place, or read."""

from pathlib import Path

import pytest

from frobench.reports.compare.comparing import compare_findings
from frobench.reports.making.workers import Workers
from frobench.reports.site import build
from frobench.reports.summary import plain
from frobench.suite import checks
from frobench.suite.compare.between_run_spread import levels
from frobench.suite.compare.matching import match_machines
from frobench.suite.compare.runs import compare_runs
from frobench.suite.export import FORMATS
from frobench.suite.stored import store
from frobench.suite.stored.types import Work
from frobench.suite.terminal import answers
from tests.instruments.faults.judging import set_samples
from tests.instruments.faults.spoiling import Spoil, case, good, product, put
from tests.reports.site.test_site import small

HOSTILE: dict[str, Spoil] = {
    "a time before all times": lambda run: put(run, datetime="0001-01-01T00:00:00+23:59"),
    "a time after all times": lambda run: put(run, datetime="9999-12-31T23:59:59-23:59"),
    "a launch before all times": lambda run: put(
        run.frobench.launches[0], started="0001-01-01T00:00:00+23:59"
    ),
    "a run named for no time": lambda run: put(run.frobench, run="00010101T000000+2359-0a1b2c3"),
    "copies without work": lambda run: put(
        case(run, "bench_to_device", size=4**13).extra_info, work=Work()
    ),
    "products without work": lambda run: put(product(run).extra_info, work=Work()),
    "samples of no length": lambda run: set_samples(product(run), [[1e-20, 2e-20]] * 6),
    "parts of no length": lambda run: product(run).extra_info.parts.update(
        device=[5e-324] * 6, enqueue=[5e-324] * 6, sustained=[5e-324] * 6
    ),
    "as much work as can be told": lambda run: put(
        product(run).extra_info, work=Work(flops=1e30, bytes=1e30, items=1e30)
    ),
    "a size that is a word": lambda run: product(run).params.update(n="many"),
    "a size of nothing": lambda run: product(run).params.update(n=0),
    "a size beyond all sizes": lambda run: product(run).params.update(n=2**53, size=1e30),
    "no launches": lambda run: put(run.frobench, launches=[]),
    "no cases": lambda run: put(run, benchmarks=[]),
    "no devices": lambda run: put(run.frobench.environment, accelerators=[]),
}


def readable(path: Path) -> None:
    """Read a run in every way that needs no page."""
    judged = checks.read(path)
    run = plain.answers(checks.credible(judged))
    assert [*answers.lines(run, 80, every=True), *answers.case_lines(run.cases, 80)]
    for text in FORMATS.values():
        text(checks.credible(judged))
    whole = checks.judged(good())
    for base, new in ((whole, judged), (judged, whole)):
        compared = compare_runs(base, new, [levels(judged)])
        compare_findings(base, new, compared)
        match_machines(base, new)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_run_is_refused_with_a_reason_or_read(name: str, tmp_path: Path) -> None:
    run = good()
    HOSTILE[name](run)
    path = tmp_path / "run.json"
    path.write_bytes(store.encode(run))
    found = checks.review(path)
    assert "broken" not in {one.code for one in found}
    damaged = checks.opened(path)[1]
    if not damaged:
        readable(path)
    assert {one.code for one in damaged} <= {one.code for one in found}


@pytest.mark.parametrize("name", ["a time before all times", "a time after all times"])
def test_a_run_of_no_possible_time_has_its_page(name: str, tmp_path: Path) -> None:
    run = small(1)
    HOSTILE[name](run)
    path = tmp_path / "run.json"
    path.write_bytes(store.encode(run))
    _, page = build.build([path], tmp_path / "site", tell=lambda *_: None, workers=Workers(1))
    assert run.datetime in page.read_text(encoding="utf-8")
