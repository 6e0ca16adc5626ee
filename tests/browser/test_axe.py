# SPDX-License-Identifier: MIT
"""axe-core finds nothing, however a reader looks at a page, with all opened that is folded.

The script comes with axe-playwright-python, whose own `run` would load its half megabyte anew
for each look.
"""

from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser

from tests.browser.chromium import LOOKS, Look, Shown, shown, tell
from tests.browser.sites import Place
from tests.instruments.site_checker.downloads import table

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
FOLDED = Look("light", 1280)
WHOLE = Look("dark", 320)
"""Of a page with every row. In other looks rows that are made like others are left out, which say
something else and look the same: they take most of the time."""
ALIKE = ("two-gpus", "eight-gpus", "few-launches", "honest/index", "honest/purchase")
"""Pages of which others are made in the same way, by the ends of their names."""


def test_axe_finds_nothing(browser: Browser, place: Place) -> None:
    with shown(browser, place.address, FOLDED) as one:
        one.page.evaluate(AXE)
        found = _violations(one, FOLDED) if place.whole else []
        one.probe("unfold")
        found += _violations(one, WHOLE)
        one.probe("thin")
        alike = place.hostile or place.name.removesuffix(".html").endswith(ALIKE)
        for look in [] if alike else LOOKS:
            if look != WHOLE:
                found += _violations(one, look)
    assert not found, tell(found)


def test_axe_finds_nothing_where_runs_lie_side_by_side(browser: Browser, folder: Path) -> None:
    index = folder / "machines" / "index.html"
    runs = [cells["href"].removesuffix(".html") for cells in table(index.with_name("runs.csv"))]
    picked = urlencode([("view", "compare"), *(("run", run) for run in runs[:3])])
    with shown(browser, f"{index.as_uri()}#{picked}", FOLDED) as one:
        assert one.page.locator("#laid").is_visible()
        one.page.evaluate(AXE)
        found = [fault for look in LOOKS for fault in _violations(one, look)]
    assert not found, tell(found)


def _violations(one: Shown, look: Look) -> list[str]:
    """Return what axe finds, with the look, the rule and the first places."""
    one.look(look)
    rules = {"runOnly": RULES, "resultTypes": ["violations"]}
    found: list[dict[str, Any]] = one.page.evaluate(
        "rules => axe.run(document, rules).then(told => told.violations)", rules
    )
    return [
        f"{look}: {rule['id']} ({rule['help']}), {len(rule['nodes'])} times: "
        + "; ".join(str(node["target"]) for node in rule["nodes"][:3])
        for rule in found
    ]
