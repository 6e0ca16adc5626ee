# SPDX-License-Identifier: MIT
"""Numbers that scripts draw side by side are held against the downloads, as those of files are."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import LOOKS, shown, tell
from tests.instruments.check_site import check


@pytest.mark.parametrize("site", ["honest", "machines"])
def test_a_site_passes_the_checker_with_machines_side_by_side_as_scripts_draw_them(
    browser: Browser, folder: Path, site: str, tmp_path: Path
) -> None:
    drawn = tmp_path / site
    shutil.copytree(folder / site, drawn)
    page = drawn / "purchase.html"
    with shown(browser, page.as_uri(), LOOKS[0]) as one:
        page.write_text(one.page.content(), encoding="utf-8")
    report = check(drawn)
    assert report.faults == [], tell(report.faults)
