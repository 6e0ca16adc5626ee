# SPDX-License-Identifier: MIT
"""Runs picked in the index: of each two these two alone say which is faster, or that none is."""

import math
import re
from collections.abc import Callable, Iterator
from itertools import permutations
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Locator, Page

from frobench.reports.index import index
from frobench.reports.summary.model import Summary
from tests.browser.chromium import LOOKS, shown
from tests.instruments.site_checker.printed import estimates
from tests.reports.index.test_index import on_day

Change = Callable[[int, float], float | None]
"""Gives a case of a number, with the logarithm of its seconds, another time or none."""
FASTER, SLOWER = 1.5, 0.98


def _like(name: str, change: Change) -> Summary:
    """Return a run of another machine whose times are those of the first, changed."""
    base = on_day(1, "base")
    times = {
        exercise: {
            case: log
            for number, (case, before) in enumerate(each.items())
            if (log := change(number, before)) is not None
        }
        for exercise, each in base.times.items()
    }
    return on_day(1, name, times=times)


RUNS = [
    on_day(1, "base"),
    on_day(1, "same", seed=2),
    _like("fast", lambda _, log: log - math.log(FASTER)),
    _like("slow", lambda _, log: log - math.log(SLOWER)),
    _like("half", lambda number, log: log if number % 2 else None),
]
NAMES = [f"{run.machine_id}/1" for run in RUNS]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("picked") / "index.html"
    file.write_text(index.page(RUNS), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with shown(browser, address, LOOKS[1]) as one:
        yield one.page
        assert one.said == one.refused() == []


def _pick(page: Page, reference: str, *runs: str) -> Locator:
    """Lay runs beside a reference, and return where the page compares them."""
    fragment = urlencode(
        [("view", "compare"), ("reference", reference)]
        + [("run", run) for run in (reference, *runs)]
    )
    page.evaluate(
        "fragment => { history.replaceState(null, '', `#${fragment}`);"
        " document.querySelectorAll('#comparison details').forEach((one) => { one.open = true; });"
        " dispatchEvent(new HashChangeEvent('hashchange')); }",
        fragment,
    )
    return page.locator("#comparison")


def _cells(shown_now: Locator, run: str) -> list[str]:
    """Return what the table of speeds says of a run: its place, its ratio and so on."""
    link = shown_now.page.locator(f'a[href="{run}.html"]')
    row = shown_now.locator('[data-part="speed"] tbody tr').filter(has=link)
    return [" ".join(text.split()) for text in row.locator("td").all_text_contents()]


def _verdict(page: Page, run: str, reference: str) -> int:
    """Return 1 if a run is surely faster than another, -1 if surely slower, else 0."""
    _, ratio, *_ = _cells(_pick(page, reference, run), run)
    (found,) = estimates(ratio)
    assert found.low is not None
    assert found.high is not None
    return (found.low > 1) - (found.high < 1)


def test_two_runs_say_by_themselves_which_is_faster(page: Page) -> None:
    said = _pick(page, "base/1", "fast/1").locator('[data-part="summary"]').inner_text()
    assert _cells(page.locator("#comparison"), "fast/1")[0] == "1"
    found = re.search(r"is (\d\.\d+) \[", said)
    assert found
    assert float(found[1]) == pytest.approx(FASTER, rel=1e-3)  # times stand in steps of 0.1%
    assert "times as fast as NVIDIA H200 (A)" in said
    said = _pick(page, "base/1", "same/1").locator('[data-part="summary"]').inner_text()
    assert "not conclusively faster or slower than" in said
    assert {_cells(page.locator("#comparison"), run)[0] for run in ("base/1", "same/1")} == {
        "1 to 2"
    }
    for one, other in permutations(NAMES, 2):
        assert _verdict(page, one, other) == -_verdict(page, other, one), (one, other)


def test_places_among_many_follow_from_each_two_whatever_the_reference(page: Page) -> None:
    first = {
        run: 1 + sum(_verdict(page, other, run) == 1 for other in NAMES if other != run)
        for run in NAMES
    }
    assert first == {"fast/1": 1, "base/1": 2, "same/1": 2, "half/1": 2, "slow/1": 5}
    tied = dict.fromkeys(("base/1", "same/1", "half/1"), "2 to 4")
    for reference in NAMES:
        among = _pick(page, reference, *(run for run in NAMES if run != reference))
        places = {run: _cells(among, run)[0] for run in NAMES}
        assert places == {"fast/1": "1", **tied, "slow/1": "5"}, reference


def test_a_run_that_is_left_out_changes_nothing_of_the_others(page: Page) -> None:
    every = _pick(page, "base/1", *NAMES[1:])
    before = {run: _cells(every, run)[1:] for run in NAMES}
    few = _pick(page, "base/1", "same/1", "half/1")
    for run in ("base/1", "same/1", "half/1"):
        assert _cells(few, run)[1:] == before[run]
    assert few.locator('[data-part="speed"] tbody tr').count() == 3
