# SPDX-License-Identifier: MIT
"""Whatever stands behind the # of an address, the page draws: what is wrong says nothing there."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import Look, Shown, shown
from tests.instruments.runs import many_machines

RUNS = [many_machines.run_of(number).frobench for number in (1, 2)]
ONE, OTHER = (f"{run.environment.machine}/{run.run}" for run in RUNS)
NARROW = Look("light", 320)
NO_NUMBER = re.compile(r".{0,20}(?:\bNaN\b|Infinity|undefined|\[object|\bnull\b).{0,20}")
BEYOND = ["-1", "NaN", "Infinity", "-Infinity", "1e999", "1e300", "0x10x", "__proto__", "%00"]
"""What is no number, or none that is offered."""
BROKEN = ["", "%", "%zz", "a=%E0%A4%A&%", "=&&&==", "__proto__=1&constructor=1", "a" * 100_000]
"""Addresses that say nothing, or nothing that can be read."""
NAMES = ["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty"]
"""What every object of JavaScript has something under."""
MONEY = [f"price.{ONE}", "kwh"]
SAYS_NOTHING = {
    "purchase": [
        *BROKEN,
        *(f"weight.norms={value}" for value in BEYOND[:5:2]),
        *(f"reference={name}&weight.{name}=7&price.{name}=7" for name in NAMES),
    ],
    "index": [
        *BROKEN,
        *(f"reference={name}&run={name}&view={name}&order={name}" for name in NAMES),
        "&".join(f"run={number}" for number in range(2000)),
    ],
}
"""By pages, what they pass over."""
SAYS_MUCH = {
    "purchase": [
        *(f"workload={quote(one)}" for one in (*NAMES, "<script>", "\u202e\0", "W" * 5000)),
        *(f"{key}={value}" for key in MONEY for value in ("0", "5e-324", "1e-300", "0x10")),
        f"price.{ONE}=1e12&price.{OTHER}=0.000001&kwh=1e6&hours=24&years=100",
        "workload=own&weight.norms=1000&share=1e-320&years=0",
    ],
    "index": [
        *(f"q={quote(one)}" for one in (*NAMES, "<script>", "W" * 5000, "%")),
        f"run={ONE}&run={OTHER}&price.{ONE}=1e308&kwh=NaN&weight.__proto__=3",
        f"run={ONE}&run={OTHER}&price.{ONE}=5e-324&price.{OTHER}=1e12",
    ],
}
"""By pages, what they draw."""


@contextmanager
def _opened(browser: Browser, folder: Path, page: str) -> Iterator[Shown]:
    """Open a page by an address that ends in nothing that can be read."""
    said = "#%zz&order=__proto__&reference=constructor&kwh=NaN"
    address = (folder / "machines" / f"{page}.html").as_uri()
    with shown(browser, address + said, NARROW) as one:
        assert one.said == one.refused() == []
        yield one


def _go(one: Shown, fragment: str) -> str:
    """Let the address end in a fragment, and return what the page says then."""
    one.page.evaluate(
        "fragment => { history.replaceState(null, '', `#${fragment}`);"
        " dispatchEvent(new HashChangeEvent('hashchange')); }",
        fragment,
    )
    return str(one.page.locator("main").inner_text())


def _is_sane(one: Shown, fragment: str, text: str) -> None:
    """Check that a page said no error, shows no number that is none, and is no wider."""
    assert one.said == one.refused() == [], fragment[:80]
    assert NO_NUMBER.findall(text) == [], fragment[:80]
    assert "NaN" not in one.page.locator("main").inner_html(), fragment[:80]
    assert one.probe("sideways") == [], fragment[:80]


@pytest.mark.parametrize("page", SAYS_NOTHING)
def test_a_page_draws_what_an_address_may_say(browser: Browser, folder: Path, page: str) -> None:
    with _opened(browser, folder, page) as one:
        plain = _go(one, "")
        for fragment in SAYS_NOTHING[page]:
            assert _go(one, fragment) == plain, fragment[:80]
        for fragment in ["", *SAYS_MUCH[page]]:
            _is_sane(one, fragment, _go(one, fragment))
