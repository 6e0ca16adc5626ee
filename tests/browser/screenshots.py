# SPDX-License-Identifier: MIT
"""Take the pictures that the documents show: run page, purchase page and index, light and dark.

The run page is that of the newest stored run. Index and purchase page show made-up machines, since
a comparison needs several.
"""

import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser import chromium, sites
from tests.browser.chromium import Look, Scheme, shown
from tests.command import ROOT

FOLDER = ROOT / "docs" / "screenshots"
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
SIZE = (1280, 1440)
"""Of the window, in CSS pixels: what a reader sees without scrolling far."""
COLOURS = 96
"""Enough for flat colours and the edges of letters; a fifth of the bytes of all colours."""


def take(folder: Path) -> None:
    """Build the sites in a folder and take the pictures of three pages."""
    sites.build(folder)
    pages = {
        "run": next(folder.glob(f"honest/*/{sites.newest().stem}.html")),
        "purchase": folder / "machines" / "purchase.html",
        "index": folder / "machines" / "index.html",
    }
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright.chromium)
        for name, page in pages.items():
            for scheme in SCHEMES:
                with shown(browser, page.as_uri(), Look(scheme, SIZE[0])) as one:
                    one.page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
                    _keep(one.page.screenshot(animations="disabled"), f"{name}-{scheme}.png")
        browser.close()


def _keep(png: bytes, name: str) -> None:
    """Store a picture with few colours."""
    FOLDER.mkdir(exist_ok=True)
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    flat = picture.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    flat.save(FOLDER / name, optimize=True)


if __name__ == "__main__":
    if not chromium.there():
        sys.exit(chromium.MISSING)
    with TemporaryDirectory() as made:
        take(Path(made))
