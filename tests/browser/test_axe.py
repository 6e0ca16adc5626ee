# SPDX-License-Identifier: MIT
"""axe-core finds nothing, however a reader looks at a page.

The script comes with axe-playwright-python, whose own `run` would load its half megabyte anew
for each look.
"""

from importlib.resources import files
from typing import Any

from playwright.sync_api import Browser

from tests.browser.chromium import LOOKS, Look, Shown, shown, tell
from tests.browser.sites import Place

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
FOLDED = Look("light", 1280)
FEW = [Look("dark", 320)]
"""Looks at pages that differ from another one in what they tell, and not in how."""


def test_axe_finds_nothing(browser: Browser, place: Place) -> None:
    with shown(browser, place.address, FOLDED) as one:
        one.page.evaluate(AXE)
        found = _violations(one, FOLDED) if place.whole else []
        one.probe("unfold")
        for look in LOOKS if place.whole else FEW:
            found += _violations(one, look)
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
