# SPDX-License-Identifier: MIT
"""Runs picked in the index: of each two these two alone say which is faster, or that none is."""

import math
import re
from collections.abc import Callable, Iterator
from itertools import permutations
from urllib.parse import urlencode

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Locator, Page

from frobench.reports.index import index
from frobench.reports.summary.model import Summary
from tests.browser.chromium import LOOKS, shown
from tests.instruments.site_checker.printed import estimates
from tests.reports.index.test_index import on_day

Change = Callable[[str, float], float | None]
"""Gives a case, by its part and the logarithm of its seconds, another time or none."""
FASTER, SLOWER = 1.5, 0.7


def _like(name: str, change: Change) -> Summary:
    """Return a run of another machine whose times are those of the first, changed."""
    base = on_day(1, "base")
    seconds = base.scored.seconds
    centres = {
        part: {
            kind: {
                case: log for case, old in cases.items() if (log := change(part, old)) is not None
            }
            for kind, cases in kinds.items()
        }
        for part, kinds in seconds.centres.items()
    }
    scored = replace(base.scored, seconds=replace(seconds, centres=centres))
    return on_day(1, name, device_id=name, scored=scored)


RUNS = [
    on_day(1, "base"),
    _like("same", lambda _, log: log + 0.01),
    _like("fast", lambda _, log: log - math.log(FASTER)),
    _like("slow", lambda _, log: log - math.log(SLOWER)),
    _like("half", lambda part, log: None if part == "prefill" else log),
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


def _speed(shown_now: Locator, run: str) -> tuple[str, str]:
    """Return what the cards say of the speed of a run: the number, and what is below it."""
    link = shown_now.page.locator(f'a[href="{run}.html"]')
    row = shown_now.locator('[data-part="cards"] tbody tr').filter(has=link)
    cell = row.locator('td[data-l^="Speed"]')
    return cell.locator(".num").inner_text(), cell.locator(".note").inner_text()


def _rank(shown_now: Locator, run: str) -> str:
    found = re.search(r"rank ([\d to]+),", _speed(shown_now, run)[1])
    assert found
    return found[1]


def _verdict(page: Page, run: str, reference: str) -> int:
    """Return 1 if a run is surely faster than another, -1 if surely slower, else 0."""
    number, note = _speed(_pick(page, reference, run), run)
    (found,) = estimates(f"{number} {note}")
    assert found.low is not None
    assert found.high is not None
    return (found.low > 1) - (found.high < 1)


def test_two_runs_say_by_themselves_which_is_faster(page: Page) -> None:
    both = _pick(page, "base/1", "fast/1")
    assert _rank(both, "fast/1") == "1"
    assert float(_speed(both, "fast/1")[0][:-1]) == pytest.approx(FASTER, rel=1e-2)
    verdict = both.locator(".verdict").first.inner_text()
    assert "the speed of NVIDIA H200" in verdict
    both = _pick(page, "base/1", "same/1")
    assert "not conclusive" in both.locator(".verdict").first.inner_text()
    assert {_rank(both, run) for run in ("base/1", "same/1")} == {"1 to 2"}
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
        places = {run: _rank(among, run) for run in NAMES}
        assert places == {"fast/1": "1", **tied, "slow/1": "5"}, reference


def test_a_run_that_is_left_out_changes_nothing_of_the_others(page: Page) -> None:
    every = _pick(page, "base/1", *NAMES[1:])
    before = {run: _speed(every, run)[0] for run in NAMES}
    few = _pick(page, "base/1", "same/1", "half/1")
    for run in ("base/1", "same/1", "half/1"):
        assert _speed(few, run)[0] == before[run]
    assert few.locator('[data-part="cards"] tbody tr').count() == 3
