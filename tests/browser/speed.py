# SPDX-License-Identifier: MIT
"""How long the index of many machines takes to answer: `python -m tests.browser.speed [INDEX]`.

Without a file the index of 1000 made-up machines is made first, and nothing else of their site.
Each figure is from the reader's act to the end of the next frame, so a wait for that frame is part
of it.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from msgspec.structs import replace
from playwright.sync_api import Page, sync_playwright

from reports.index import index
from reports.purchase import prices
from reports.summary.model import Summary, summarise
from reports.table.estimates import estimates
from tests.browser import chromium
from tests.browser.chromium import Look, shown
from tests.instruments import many_machines

MACHINES = 1000
TIMES = 200
"""Acts of each kind."""
OPENED = 7
"""Times that the page is opened."""
WORDS = ("h200", "a100", "amd", "2.13", "standard", "rtx", "mi300", "x", "cpu", "")
_TIMED = """act => new Promise((told) => {
  const begun = performance.now();
  (ACT)(act);
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => told(performance.now() - begun);
    port2.postMessage(null);
  });
})"""
ACTS = {
    "filter": """word => {
  const field = document.querySelector("input[type=search]");
  field.value = word;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}""",
    "sort": """place => {
  const all = [...document.querySelectorAll("#runs thead button")];
  const shown = all.filter((one) => one.offsetWidth);
  shown[place % shown.length].click();
}""",
    "reference": """place => {
  const all = [...document.querySelectorAll("#runs input[type=radio]")];
  const shown = all.filter((one) => one.offsetWidth);
  shown[place % shown.length].click();
}""",
    "workload": """place => {
  const all = [...document.querySelectorAll("#comparison [data-part=workload] input[type=radio]")];
  const others = all.filter((one) => !one.checked);
  others[place % others.length].click();
}""",
}
"""What a reader does, given a word or a place among the controls that are shown."""
PICK = """count => [...document.querySelectorAll("#runs input[type=checkbox]")]
  .slice(0, count).forEach((one) => one.click())"""
"""Lays runs side by side, beside which the workload is chosen that scores all machines."""
PICKED = 4


def main(given: list[str]) -> int:
    """Measure an index, and print a line for each act."""
    if not chromium.there():
        sys.exit(chromium.MISSING)
    with TemporaryDirectory() as made:
        page = Path(given[0]).resolve() if given else _built(Path(made))
        with sync_playwright() as playwright:
            browser = chromium.launch(playwright.chromium)
            painted = []
            for _ in range(OPENED):
                with shown(browser, page.as_uri(), Look("light", 1280)) as one:
                    painted.append(_painted(one.page))
            print(_line("painted from disk", painted))  # noqa: T201 - what it is for
            for name, act in ACTS.items():
                with shown(browser, page.as_uri(), Look("light", 1280)) as one:
                    if name == "workload":
                        one.page.evaluate(PICK, PICKED)
                        one.page.locator("#comparison .seg").first.wait_for()
                    print(_line(name, _timed(one.page, name, act)))  # noqa: T201 - likewise
            browser.close()
    return 0


def _built(folder: Path) -> Path:
    numbers = [(machine, 0) for machine in range(MACHINES)]
    numbers += [(machine, 1) for machine in range(0, MACHINES, many_machines.TWICE)]
    with ProcessPoolExecutor() as pool:
        runs = list(pool.map(_summary, *zip(*numbers, strict=True), chunksize=16))
    file = folder / "index.html"
    file.write_text(index.page(runs, prices.read()), encoding="utf-8")
    return file


def _summary(machine: int, again: int) -> Summary:
    """Return what the index needs of a run of one of many machines."""
    run = many_machines.run_of(machine, again)
    one = summarise(run, f"{machine}-{again}", estimates(run))
    return replace(one, href=f"{one.machine}/{one.run}.html")


def _painted(page: Page) -> float:
    """Return when the first content was painted, in milliseconds since the page was asked for."""
    milliseconds: float = page.evaluate(
        """() => new Promise((told) => new PerformanceObserver((list) => {
          told(list.getEntriesByName("first-contentful-paint")[0].startTime);
        }).observe({ type: "paint", buffered: true }))"""
    )
    return milliseconds


def _timed(page: Page, name: str, act: str) -> list[float]:
    """Do the same kind of thing over and over, and return the milliseconds of each."""
    chance = Random(name)  # noqa: S311 - no secret
    given = [
        chance.choice(WORDS) if name == "filter" else chance.randrange(100) for _ in range(TIMES)
    ]
    return [page.evaluate(_TIMED.replace("ACT", act), one) for one in given]


def _line(name: str, milliseconds: list[float]) -> str:
    late = quantiles(milliseconds, n=20, method="inclusive")[-1]
    return (
        f"{name}: median {median(milliseconds):.0f} ms, 95th percentile {late:.0f} ms "
        f"({len(milliseconds)} times)"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
