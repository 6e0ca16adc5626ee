# SPDX-License-Identifier: MIT
"""Take the pictures that the documents show: run page, purchase page and index, light and dark.

The run page is that in `docs/example`. The pictures of index and purchase page show made-up
machines, since a comparison needs several; none of them is called like a device that there is. In
the index one has two runs.
"""

import io
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright

from frobench.reports.purchase.prices import Price
from frobench.suite.stored import store
from tests.browser import chromium
from tests.browser.chromium import Look, Scheme, shown
from tests.browser.sites import report
from tests.instruments.faults.judging import of_its_name, put
from tests.instruments.processes.command import ROOT
from tests.instruments.runs import many_machines
from tests.project import example

FOLDER = ROOT / "docs" / "screenshots"
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
SIZE = (1280, 1440)
"""Of the window, in CSS pixels: what a reader sees without scrolling far, or a shorter page."""
COLOURS = 96
"""Enough for flat colours and the edges of letters; a fifth of the bytes of all colours."""
PRICES = {"Example 40": 2400, "Example 20": 900, "Example 30": 1300, "Example 10": 450}
"""Of made-up accelerators, in dollars."""
REFERENCE = 1
"""Which of them the others are held against, and is measured again."""


def take(folder: Path) -> None:
    """Build the sites in a folder and take the pictures of three pages."""
    stored, chosen, every = (folder / name for name in ("stored", "chosen", "every"))
    runs, prices = folder / "runs", folder / "prices.csv"
    runs.mkdir()
    told = "USD,2026-01-01,made up,this script"
    rows = [f"^{name}$,,{price},{told}" for name, price in PRICES.items()]
    prices.write_text("\n".join([",".join(Price._fields[:-1]), *rows]))
    files = [_machine(number, 0, runs / f"{number}.json") for number in range(len(PRICES))]
    known: list[str | Path] = ["--prices", prices, "-o"]
    example.keep(example.build(example.run_shown(), stored))
    report(*files, "--reference", files[REFERENCE], *known, chosen)
    _machine(REFERENCE, 1, runs / "later.json")
    report(runs, *known, every)
    pages = {
        "run": next(stored.glob(f"*/{example.run_shown().stem}.html")),
        "purchase": chosen / "purchase.html",
        "index": every / "index.html",
    }
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright.chromium)
        for name, page in pages.items():
            for scheme in SCHEMES:
                with shown(browser, page.as_uri(), Look(scheme, SIZE[0])) as one:
                    whole = one.page.locator("footer").bounding_box() or {"y": SIZE[1], "height": 0}
                    height = min(SIZE[1], round(whole["y"] + whole["height"]))
                    one.page.set_viewport_size({"width": SIZE[0], "height": height})
                    _keep(one.page.screenshot(animations="disabled"), f"{name}-{scheme}.png")
        browser.close()
    example.note_pictured()


def _machine(number: int, again: int, path: Path) -> Path:
    """Store a run of a made-up machine, with launches that hold the host not all as long."""
    run = many_machines.run_of(number, again)
    there = run.frobench.environment
    put(there.accelerators, "*.name", [*PRICES][number])
    of_its_name(there)
    chance = Random(number)  # noqa: S311 - no secret
    for case in run.benchmarks:
        held = case.extra_info.parts.get("enqueue", [])
        case.extra_info.parts["enqueue"] = [one and one * chance.gauss(1, 0.01) for one in held]
    path.write_bytes(store.encode(run))
    return path


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
