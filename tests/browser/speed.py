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

from msgspec.structs import replace
from playwright.sync_api import Browser, sync_playwright

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
TIMED = """([controls, word, place]) => new Promise((told) => {
  const begun = performance.now();
  const all = [...document.querySelectorAll(controls)].filter((one) => !one.checked);
  if (all[0].matches("button, [type=radio]")) {
    const shown = all.filter((one) => one.type === "radio" || one.offsetWidth);
    shown[place % shown.length].click();
  } else {
    const field = all.at(-1);
    const { type, options } = field;
    const typed = type === "search" ? word : 10 * place;
    field.value = options?.[place % options.length].value ?? typed;
    field.dispatchEvent(new Event(type === "search" ? "input" : "change", { bubbles: true }));
  }
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => told(performance.now() - begun);
    port2.postMessage(null);
  });
})"""
"""Presses or fills in one of the controls, and tells when the next frame was drawn."""
FIRST_PAINT = """() => new Promise((told) => new PerformanceObserver((list) => {
  told(list.getEntriesByName("first-contentful-paint")[0].startTime);
}).observe({ type: "paint", buffered: true }))"""
WORKLOADS = "[data-part=workload] input[type=radio]"
ACTS = {
    "filter": ("", "#finder input[type=search]"),
    "filter of runs": (".tabs a:last-child", "#search"),
    "sort": ("", "#devices-table thead button"),
    "reference": ("", "#finder select"),
    "workload of devices": ("", "#finder input[type=radio]"),
    "workload": ("#to-comparison", WORKLOADS),
}
"""What a reader of the index does: a link that leads there, and the controls."""
COMPARING = {
    "workload": WORKLOADS,
    "reference": "[data-part=reference] select",
    "budget": "[data-part=workload] input[type=text]",
}
"""Controls of the purchase page."""
PICK = """count => [...document.querySelectorAll("#devices-table input[type=checkbox]")]
  .slice(0, count).forEach((one) => one.click())"""
"""Picks devices."""
PICKED = 4
LOOK = Look("light", 1280)


def main(given: list[str]) -> int:
    """Measure both pages, print a line for each act, and return 1 if a goal is missed."""
    if not chromium.there():
        sys.exit(chromium.MISSING)
    quick = given == ["--quick"]
    missed = 0
    with TemporaryDirectory() as made, sync_playwright() as playwright:
        pages = _built(Path(made), QUICK if quick else MACHINES), _compared(Path(made))
        browser = chromium.launch(playwright.chromium)
        for name, times, most in _measured(browser, *pages, FEW if quick else TIMES):
            late = quantiles(times, n=20, method="inclusive")[-1]
            missed += late > most
            goal = f"; missed: {most:.0f} ms" if late > most else ""
            print(  # noqa: T201 - what it is for
                f"{name}: median {median(times):.0f} ms, 95th percentile {late:.0f} ms "
                f"({len(times)} times){goal}"
            )
        browser.close()
    return 1 if missed and not quick else 0


def _measured(
    browser: Browser, listed: Path, compared: Path, times: int
) -> Iterator[tuple[str, list[float], float]]:
    """Yield what is timed, its milliseconds, and how many they may be at most."""
    chance = Random(0)  # noqa: S311 - no secret
    given = [(chance.choice(WORDS), chance.randrange(100)) for _ in range(times)]
    painted = []
    for _ in range(OPENED):
        with shown(browser, listed.as_uri(), LOOK) as one:
            painted.append(one.page.evaluate(FIRST_PAINT))
    yield "the index painted from disk", painted, PAINTED
    for name, (link, controls) in ACTS.items():
        with shown(browser, listed.as_uri(), LOOK) as one:
            one.page.evaluate(PICK, PICKED)
            if link:
                one.page.locator(link).click()
            took = [one.page.evaluate(TIMED, [controls, *each]) for each in given]
            yield f"index, {name}", took, ANSWERED
    for name, controls in COMPARING.items():
        with shown(browser, compared.as_uri(), LOOK) as one:
            one.page.locator(".seg").first.wait_for()
            took = [one.page.evaluate(TIMED, [controls, *each]) for each in given]
            yield f"purchase page, {name}", took, ANSWERED


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
