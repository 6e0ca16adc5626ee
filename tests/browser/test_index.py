# SPDX-License-Identifier: MIT
"""The index finds, orders and compares runs as it is asked, and the address says what was asked."""

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect

from reports.index import index
from reports.summary.model import Summary
from tests.browser.chromium import Look, shown
from tests.reports.index.test_index import by_exercise, changed, on_day

DESK = Look("light", 1280)
FASTER = 1.5


def _scaled(run: Summary, times: float) -> Summary:
    """Return a run whose figures are all so many times as large."""
    return replace(
        run,
        figures=tuple(
            dataclasses.replace(one, value=replace(one.value, value=one.value.value * times))
            for one in run.figures
        ),
    )


MACHINES = [
    on_day(20, "old", complete=False),
    *(
        _scaled(on_day(10 + number, f"m{number}", seed=number % 3), 1 + number % 4)
        for number in range(6)
    ),
    on_day(25, "cpu", accelerators=0, change=changed(slower=("matmul.square[16]",))),
]


def _runs() -> list[Summary]:
    fast = {
        exercise: {case: log - math.log(FASTER) for case, log in each.items()}
        for exercise, each in MACHINES[1].times.items()
    }
    earlier = [on_day(day, "old") for day in (3, 2)]
    return [*MACHINES, *earlier, on_day(1, "fast", times=fast)]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("index") / "index.html"
    file.write_text(index.page(_runs()), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with shown(browser, address, DESK) as one:
        yield one.page
        assert one.said == one.refused() == []


def _names(page: Page) -> list[str]:
    links = page.locator("#runs tbody a").all()
    return [(link.get_attribute("href") or "").removesuffix(".html") for link in links]


def _cells(page: Page, run: str, kind: str) -> list[str]:
    row = page.locator("#runs tbody tr", has=page.locator(f'a[href="{run}.html"]'))
    return row.locator(kind).all_inner_texts()


def test_the_newest_run_of_each_machine_is_shown_and_its_earlier_ones_on_demand(page: Page) -> None:
    newest = ["cpu/25", "old/20", *(f"m{number}/{10 + number}" for number in range(5, -1, -1))]
    assert _names(page) == [*newest, "fast/1"]
    page.get_by_role("button", name="and 2 earlier").press("Enter")
    assert _names(page)[:5] == ["cpu/25", "old/20", "old/3", "old/2", "m5/15"]
    page.get_by_role("button", name="and 2 earlier").press("Enter")
    assert len(_names(page)) == len(newest) + 1


def test_search_and_filters_leave_what_was_asked_for_and_say_how_much(page: Page) -> None:
    page.get_by_label("Search").fill("M3 h200")
    assert _names(page) == ["m3/13"]
    expect(page.get_by_role("status").first).to_have_text("1 machine.")
    page.get_by_label("Search").fill("")
    page.get_by_label("Kind").select_option("CPU")
    assert _names(page) == ["cpu/25"]
    page.get_by_label("Kind").select_option("all")
    page.get_by_label("complete runs only").check()
    assert "old/20" not in _names(page)
    page.get_by_label("slower than before only").check()
    assert _names(page) == ["cpu/25"]
    page.get_by_label("Search").fill("nothing is called that")
    expect(page.get_by_role("status").first).to_have_text("No run is like that.")


def test_a_choice_that_is_not_offered_is_passed_over(browser: Browser, address: str) -> None:
    with shown(browser, f"{address}#kind=zzz&profile=thorough", DESK) as other:
        assert len(_names(other.page)) == len(MACHINES) + 1
        assert other.page.get_by_label("Kind").input_value() == ""


def test_a_view_can_be_sent_and_the_back_button_undoes(page: Page) -> None:
    page.get_by_label("Kind").select_option("accelerator")
    page.get_by_role("button", name="bfloat16").click()
    view, names = page.url, _names(page)
    page.get_by_label("earlier runs too").check()
    assert "old/2" in _names(page)
    page.go_back()
    assert (page.url, _names(page)) == (view, names)
    page.reload()
    assert _names(page) == names
    assert page.get_by_label("Kind").input_value() == "accelerator"
    page.locator("a.skip").press("Enter")
    assert page.url == view


def test_columns_sort_from_the_best_and_back_and_say_so(page: Page) -> None:
    values = {run.href.removesuffix(".html"): _launch(run) for run in MACHINES}
    head = page.locator("#runs thead th", has_text="Launch").last
    for word, descending in (("ascending", False), ("descending", True)):
        page.get_by_role("button", name="Launch", exact=True).click()
        expect(head).to_have_attribute("aria-sort", word)
        shown_values = [values[name] for name in _names(page) if values.get(name) is not None]
        assert shown_values == sorted(filter(None, shown_values), reverse=descending)
        assert _names(page)[-1] == "cpu/25"


def _launch(run: Summary) -> float | None:
    figure = index.COLUMNS[-1].of(run)
    return figure.value.value if figure else None


@pytest.mark.parametrize(("column", "sign"), [(0, 1), (len(index.COLUMNS) - 1, -1)])
def test_a_machine_stands_among_those_with_its_device_where_there_are_five(
    page: Page, column: int, sign: int
) -> None:
    found = []
    for run in MACHINES[1:-1]:
        *_, rank = _cells(page, run.href.removesuffix(".html"), "td")[6 + column].split("\n")
        figure = index.COLUMNS[column].of(run)
        assert figure
        assert rank.endswith("of 8")
        found.append((sign * figure.value.value, int(rank.removeprefix("P").removesuffix("of 8"))))
    assert len(set(found)) > 1
    assert sorted(found) == sorted(found, key=lambda one: one[1])
    assert not any(text.startswith("P") for text in _cells(page, "cpu/25", "small"))


def test_runs_are_held_against_another_by_what_both_measured(page: Page) -> None:
    page.get_by_label("as the base").nth(_names(page).index("m0/10")).check()
    overall = _cells(page, "fast/1", "td.ratio")[0]
    assert overall.startswith(f"{FASTER:.2f}")
    assert _cells(page, "m0/10", "td.ratio")[0].startswith("1×")  # noqa: RUF001 - it is the sign
    logs = by_exercise(MACHINES[2], MACHINES[1])
    expected = math.exp(fmean(map(fmean, logs.values())))
    value = _cells(page, "m1/11", "td.ratio")[0].partition("×")[0]  # noqa: RUF001 - likewise
    assert float(value) == pytest.approx(expected, abs=0.011)
    page.get_by_role("button", name="Show figures").click()
    assert page.locator(".ratio").count() == 0


def test_picked_runs_stand_side_by_side_and_keep_what_the_reader_sets(page: Page) -> None:
    names = _names(page)
    for name, told in (("m0/10", "Pick one more to lay side by side."), ("fast/1", "")):
        page.get_by_label("Compare ").nth(names.index(name)).check()
        expect(page.locator("#one-more")).to_have_text(told)
    section = page.locator("#comparison")
    expect(section).to_be_visible()
    section.get_by_text("Ranks, and the baseline").click()
    expect(section.locator('[data-part="speed"]')).to_contain_text("1.5")
    page.get_by_label("Hours a day").fill("3")
    page.get_by_label("Hours a day").press("Tab")
    page.reload()
    assert page.get_by_label("Hours a day").input_value() == "3"
    page.get_by_label("Compare ").nth(names.index("m0/10")).uncheck()
    expect(section).to_be_hidden()


def test_paper_has_all_rows(page: Page, tmp_path: Path) -> None:
    page.evaluate(
        "addEventListener('beforeprint', () => { window.__rows = runs.tBodies[0].rows.length; })"
    )
    page.pdf(path=tmp_path / "index.pdf")
    assert page.evaluate("window.__rows") == len(_runs())
