# SPDX-License-Identifier: MIT
"""How long pages of many machines take to answer: `python -m tests.browser.speed [--quick]`.

The index of 1000 made-up machines is made first, and nothing else of their site; four of them stand
side by side in it. A purchase page compares the same four. Each figure is from the reader's act to
the end of the next frame, so a wait for that frame is part of it. It ends with 1 if a goal is
missed; `--quick` takes 50 machines and asks for no goal.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import NamedTuple

from msgspec.structs import replace
from playwright.sync_api import Browser, Page, sync_playwright

from frobench.reports.index import index
from frobench.reports.purchase import prices, purchase
from frobench.reports.summary.model import Summary, summarise
from frobench.reports.table.launches import estimates
from tests.browser import chromium
from tests.browser.chromium import Look, shown
from tests.instruments.runs import many_machines

MACHINES, QUICK = 1000, 50
TIMES, FEW = 200, 20
"""Acts of each kind."""
OPENED = 7
"""Times that the page is opened."""
PAINTED, ANSWERED = 1000.0, 50.0
"""Milliseconds until the index is painted from disk, and until an act is answered, at most."""
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
  const field = document.querySelector("#finder input[type=search]");
  field.value = word;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}""",
    "filter of runs": """word => {
  const field = document.getElementById("search");
  field.value = word;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}""",
    "sort": """place => {
  const all = [...document.querySelectorAll("#devices-table thead button")];
  const shown = all.filter((one) => one.offsetWidth);
  shown[place % shown.length].click();
}""",
    "reference": """place => {
  const field = [...document.querySelectorAll("#finder select")].at(-1);
  field.value = field.options[place % field.options.length].value;
  field.dispatchEvent(new Event("change", { bubbles: true }));
}""",
    "workload of devices": """place => {
  const all = [...document.querySelectorAll("#finder input[type=radio]")];
  const others = all.filter((one) => !one.checked);
  others[place % others.length].click();
}""",
    "workload": """place => {
  const all = [...document.querySelectorAll("[data-part=workload] input[type=radio]")];
  const others = all.filter((one) => !one.checked);
  others[place % others.length].click();
}""",
}
"""What a reader of the index does, given a word or a place among the controls that are shown."""
COMPARING = {
    "workload": ACTS["workload"],
    "reference": """place => {
  const field = document.querySelector("[data-part=reference] select");
  field.value = field.options[place % field.options.length].value;
  field.dispatchEvent(new Event("change", { bubbles: true }));
}""",
    "budget": """place => {
  const field = document.querySelector("[data-part=workload] input[type=text]");
  field.value = String(1000 + 100 * place);
  field.dispatchEvent(new Event("change", { bubbles: true }));
}""",
}
"""What a reader of the purchase page does."""
VIEWS = {"filter of runs": "runs", "workload": "compare"}
"""Where a reader does it, if not among the devices."""
PICK = """count => [...document.querySelectorAll("#devices-table input[type=checkbox]")]
  .slice(0, count).forEach((one) => one.click())"""
"""Picks devices."""
TURN = """view => {
  const links = { compare: "#to-comparison", runs: ".tabs a:last-child" };
  document.querySelector(links[view]).click();
}"""
PICKED = 4
LOOK = Look("light", 1280)


class Asked(NamedTuple):
    """How much is measured: of how many machines, and how often each act is done."""

    machines: int
    times: int


def main(given: list[str]) -> int:
    """Measure both pages, print a line for each act, and return 1 if a goal is missed."""
    if not chromium.there():
        sys.exit(chromium.MISSING)
    quick = given == ["--quick"]
    asked = Asked(QUICK, FEW) if quick else Asked(MACHINES, TIMES)
    with TemporaryDirectory() as made, sync_playwright() as playwright:
        pages = _built(Path(made), asked.machines), _compared(Path(made))
        browser = chromium.launch(playwright.chromium)
        found = [*_measured(browser, *pages, asked.times)]
        browser.close()
    for name, milliseconds, most in found:
        print(_line(name, milliseconds, most))  # noqa: T201 - what it is for
    missed = [name for name, milliseconds, most in found if _late(milliseconds) > most]
    return 1 if missed and not quick else 0


def _measured(
    browser: Browser, listed: Path, compared: Path, times: int
) -> Iterator[tuple[str, list[float], float]]:
    """Yield what is timed, its milliseconds, and how many they may be at most."""
    painted = []
    for _ in range(OPENED):
        with shown(browser, listed.as_uri(), LOOK) as one:
            painted.append(_painted(one.page))
    yield "the index painted from disk", painted, PAINTED
    for name, act in ACTS.items():
        with shown(browser, listed.as_uri(), LOOK) as one:
            one.page.evaluate(PICK, PICKED)
            if view := VIEWS.get(name):
                one.page.evaluate(TURN, view)
            yield f"index, {name}", _timed(one.page, name, act, times), ANSWERED
    for name, act in COMPARING.items():
        with shown(browser, compared.as_uri(), LOOK) as one:
            one.page.locator(".seg").first.wait_for()
            yield f"purchase page, {name}", _timed(one.page, name, act, times), ANSWERED


def _compared(folder: Path) -> Path:
    """Write the purchase page of the machines that stand side by side."""
    runs = [_summary(number, 0) for number in range(PICKED)]
    for name, content in purchase.files(runs, None, prices.read()).items():
        (folder / name).write_bytes(content)
    return folder / purchase.PAGE


def _built(folder: Path, machines: int) -> Path:
    """Write the index of many machines."""
    numbers = [(machine, 0) for machine in range(machines)]
    numbers += [(machine, 1) for machine in range(0, machines, many_machines.TWICE)]
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


def _timed(page: Page, name: str, act: str, times: int) -> list[float]:
    """Do the same kind of thing over and over, and return the milliseconds of each."""
    chance = Random(name)  # noqa: S311 - no secret
    given = [
        chance.choice(WORDS) if name.startswith("filter") else chance.randrange(100)
        for _ in range(times)
    ]
    return [page.evaluate(_TIMED.replace("ACT", act), one) for one in given]


def _late(milliseconds: list[float]) -> float:
    """Return the 95th percentile."""
    return quantiles(milliseconds, n=20, method="inclusive")[-1]


def _line(name: str, milliseconds: list[float], most: float) -> str:
    late = _late(milliseconds)
    return (
        f"{name}: median {median(milliseconds):.0f} ms, 95th percentile {late:.0f} ms "
        f"({len(milliseconds)} times){f'; missed: {most:.0f} ms' if late > most else ''}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
