# SPDX-License-Identifier: MIT
"""The page of machines side by side, from the formulae of `docs/methodology.md`."""

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.instruments.site_checker.downloads import Run, check_parquet, number, table
from tests.instruments.site_checker.machines import Side, Speed, in_part, score, widened
from tests.instruments.site_checker.pages import Element
from tests.instruments.site_checker.printed import RATIO, Row, estimates, first
from tests.instruments.site_checker.report import CELLS, NUMBERS, Report

Data = Mapping[str, Any]


def check(folder: Path, page: Element, runs: Mapping[str, Run], report: Report) -> None:
    """Check a page by its downloads."""
    PurchasePage(folder, page, runs, report).check()


class PurchasePage:
    """The page and the data of its machines.

    Prices and weights are the page's own data; speeds are computed from the stored runs.
    """

    def __init__(
        self, folder: Path, page: Element, runs: Mapping[str, Run], report: Report
    ) -> None:
        self.folder, self.page, self.report = folder, page, report
        block = page.first("script", id="machines")
        self.data: Data = json.loads(block.raw()) if block else {}
        self.hrefs = [one["href"] for one in self.data["runs"]]
        self.base = self.hrefs[self.data["base"]]
        self.devices = [self.hrefs[run] for run, *_ in self.data["groups"]]
        doubted = {one["href"] for one in self.data["runs"] if one["doubt"]}
        self.judged = [href for href in self.devices if href not in doubted]
        self.sides = {href: Side(runs[href]) for href in self.hrefs}
        known = [one["name"] for one in self.data["workloads"]]
        self.others = {
            self.sides[self.hrefs[run]]: [self.sides[self.hrefs[other]] for other in others]
            for run, others, _ in self.data["groups"]
        }
        self.score = cache(self._score)
        self.workload = next((w for w in known if self.score(self.base, self.base, w)), known[0])
        self.prices = {
            href: values[place] and values[place][0]
            for values in [self.data["prices"]["values"]]
            for href, place in zip(self.hrefs, self.data["prices"]["of"], strict=True)
        }

    def _score(self, one: str, base: str, workload: str) -> Speed | None:
        return score(self.sides[base], self.sides[one], workload, self.others)[0]

    def _say(self, right: object, shown: object, wanted: object) -> None:
        self.report.check(right, NUMBERS, f"purchase.html: {shown!r} should be {wanted}")

    def check(self) -> None:
        """Check the table beside the page, its cards, ranks and verdicts."""
        self._download()
        for line in self.page.every("tr"):
            link = line.first("a")
            href = link.attributes["href"] if link else ""
            for cell in line.elements[1:]:
                head = cell.attributes.get("data-l", "")
                if href in self.hrefs and head.startswith(("Speed", "Value", "Price")):
                    self._card(cell, head, href)
        for block in self.page.every("div", class_="verdict"):
            self._verdict(*(one.text() for one in block.elements[:3]))

    def _download(self) -> None:
        """Check the speeds in the table beside the page."""
        check_parquet(self.folder / "purchase.csv", self.report)
        for cells in table(self.folder / "purchase.csv"):
            href = f"{cells['run']}.html"
            found, coverage = self._row(href, cells["workload"], cells["part"])
            ratio = found.times() if found else None
            wanted = {
                "coverage": coverage,
                "log_ratio": found and found.log,
                "ratio": ratio and ratio.value,
                "low": ratio and ratio.low,
                "high": ratio and ratio.high,
            }
            for column, right in wanted.items():
                told = number(cells[column])
                agrees = told is right
                if told is not None and right is not None:
                    agrees = math.isclose(told, right, rel_tol=1e-3, abs_tol=1e-8)
                fault = f"purchase.csv: {cells['run']}, {cells['workload']}{cells['part']}: "
                self.report.check(agrees, CELLS, f"{fault}{column} is {told}, not {right}")

    def _row(self, href: str, workload: str, part: str) -> tuple[Speed | None, float]:
        base, one = self.sides[self.base], self.sides[href]
        if workload:
            return score(base, one, workload, self.others)
        name = part if base.accelerated and one.accelerated else f"{part}.cpu"
        found = in_part(base, one, name)
        if found is None:
            return None, 0.0
        both = [side.variance({name: 1.0}) for side in (base, one)]
        known = [each for each in both if each is not None]
        half = 1.96 * math.sqrt(sum(known)) if len(known) == len(both) else None
        speed = Speed(found[0], 0.0 if base is one else half)
        return widened(speed, base, one, self.others, {name: 1.0}), found[1]

    def _card(self, cell: Element, head: str, href: str) -> None:
        """Check a cell of the cards: the number, and for the speed what is below it."""
        fast, price = self.score(href, self.base, self.workload), self.prices[href]
        value = fast.times(1000 / price) if fast and price else None
        wanted: dict[str, Row | None] = {
            "Speed": fast and fast.times(),
            "Value": value,
            "Price": Row(price) if price else None,
        }
        right, text = wanted[head.partition(" ")[0].rstrip(",")], cell.text()
        shown = first(text)
        if right and "[" in text:
            agrees = any(one.agrees(right) for one in estimates(text))
        else:
            agrees = shown.is_value(right.value) if shown and right else right is None
        self._say(agrees, cell.text(), right)
        if head.startswith("Speed") and fast:
            rank = f"rank {self.ranks()[href]}," if href in self.judged else "covers"
            self._say(rank in cell.text(), cell.text(), rank)
            covers = score(self.sides[self.base], self.sides[href], self.workload)[1]
            self._say(f"covers {round(100 * covers)}%" in cell.text(), cell.text(), covers)

    def ranks(self) -> dict[str, str]:
        """Return the rank of each machine, or the best and the worst that it may have."""
        every = [one for one in self.judged if self.score(one, self.base, self.workload)]

        def faster(one: str, other: str) -> bool:
            found = self.score(one, other, self.workload)
            return found is not None and found.surely_above()

        best = {one: 1 + sum(faster(other, one) for other in every) for one in every}
        found = {}
        for one in every:
            tied = (best[other] for other in every if not faster(one, other))
            worst = max(len(every) - sum(faster(one, other) for other in every), *tied)
            found[one] = " to ".join(map(str, dict.fromkeys((best[one], worst))))
        return found

    def _verdict(self, topic: str, who: str, margin: str) -> None:
        """Check which machines a verdict names, and the ratios beside them."""
        if not topic.startswith(("Fastest", "Best value")):
            return
        by_price = topic.startswith("Best")
        costs = {
            href: self.prices[href] if by_price else 1.0
            for href in self.judged
            if self.score(href, self.base, self.workload)
        }
        known = [href for href, cost in costs.items() if cost]

        def ahead(one: str, other: str) -> Speed:
            found = self.score(one, other, self.workload) or Speed(0.0, None)
            return found._replace(log=found.log - math.log(costs[one] / costs[other]))

        best = [
            one for one in known if not any(ahead(other, one).surely_above() for other in known)
        ]
        called = dict(zip(self.devices, self._names(), strict=True))
        right = {called[one] for one in best} or {"unknown" if by_price else "not measured"}
        self._say(set(who.split(" or ")) == right, f"{topic}: {who}", right)
        wanted = [
            ahead(one, other).times() for one in best for other in known if called[other] in margin
        ]
        if by_price:
            speeds = {one: self.score(one, self.base, self.workload) for one in best}
            wanted += [one.times(1000 / costs[href]) for href, one in speeds.items() if one]
        for shown in estimates(margin):
            self._say(any(map(shown.agrees, wanted)), f"{topic}: {shown.text}", wanted)

    def _names(self) -> list[str]:
        """Return what machines are called: by their devices, with letters where these are alike."""
        listed = [
            (
                self.data["devices"]["values"][self.data["devices"]["of"][run]][0],
                self.data["hardware"]["values"][self.data["hardware"]["of"][run]][0],
            )
            for run, *_ in self.data["groups"]
        ]
        names = [f"{count}{RATIO} {name}" if count > 1 else name for name, count in listed]
        return [
            f"{name} ({chr(ord('A') + place)})" if names.count(name) > 1 else name
            for place, name in enumerate(names)
        ]
