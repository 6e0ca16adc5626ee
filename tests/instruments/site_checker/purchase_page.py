# SPDX-License-Identifier: MIT
"""The page of machines side by side, from the formulae of `docs/methodology.md`."""

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.instruments.site_checker.downloads import Run, check_parquet, number, table
from tests.instruments.site_checker.machines import (
    Group,
    Side,
    Speed,
    by_part,
    common,
    measured,
    parts,
    speed,
    weighed,
)
from tests.instruments.site_checker.pages import Element
from tests.instruments.site_checker.printed import RATIO, Row, estimates, first
from tests.instruments.site_checker.report import CELLS, NUMBERS, Report

Data = Mapping[str, Any]
ROUNDED = 1e-5
"""Relative error of standard errors, whose variances have six digits on the page."""


def check(folder: Path, page: Element, runs: Mapping[str, Run], report: Report) -> None:
    """Check a page by its downloads."""
    PurchasePage(folder, page, runs, report).check()


class PurchasePage:
    """The page and the data of its machines beside each of them; those beside the first are shown.

    Prices, powers and weights are the page's own data; speeds are computed from the stored runs.
    """

    def __init__(
        self, folder: Path, page: Element, runs: Mapping[str, Run], report: Report
    ) -> None:
        self.folder, self.page, self.report = folder, page, report
        block = page.first("script", id="comparisons")
        self.shown: Data = json.loads(block.raw())[0] if block else {}
        self.machines: dict[str, Data] = {one["run"]: one for one in self.shown["machines"]}
        self.base: str = self.shown["reference"]
        of_run = {name: runs[one["href"]] for name, one in self.machines.items()}
        self.sides = {name: Side(measured(run)) for name, run in of_run.items()}
        self.chosen = {name: parts(run) for name, run in of_run.items()}
        self.weights = {one["name"]: one["weights"] for one in self.shown["parts"]}
        known = [one["name"] for one in self.shown["workloads"]]
        there = {name for one in self.weights.values() for name in one}
        self.workload = next((one for one in known if one in there), known[0])
        self.currency = next((c for m in self.machines.values() if (c := m["currency"])), "USD")
        self.score = cache(self._score)

    # Speeds, computed from the stored runs

    def _score(self, one: str, base: str, workload: str) -> Speed | None:
        """Return how fast a machine is beside another under a workload, by the other's parts."""
        both, chosen = (self.sides[base], self.sides[one]), self.chosen[base]
        names = sorted({part for part, _ in chosen.values()})
        groups = [by_part(*both, chosen, name) for name in names]
        counting = [self.weights.get(name, {}).get(workload, 0.0) for name in names]
        return speed(*both, weighed(groups, counting), weighed(groups, [1.0] * len(names)))

    def exercise(self, one: str, name: str) -> tuple[Group, Speed | None]:
        """Return the cases of an exercise that are shared with the baseline, and the speed."""
        both = self.sides[self.base], self.sides[one]
        names = [each["name"] for each in self.shown["exercises"]]
        groups = {each: common(*both, each) for each in names}
        asked = weighed([*groups.values()], [each["weight"] for each in self.shown["exercises"]])
        asked = asked or weighed([*groups.values()], [1.0] * len(names))
        return groups[name], speed(*both, groups[name], asked)

    def beside(self, one: str, other: str, workload: str) -> Speed | None:
        """Return how fast a machine is beside another, by the other's parts or its own."""
        turned = self.score(other, one, workload)
        found = self.score(one, other, workload)
        return found or (turned and turned._replace(log=-turned.log))

    # Checks

    def _say(self, right: object, shown: object, wanted: object) -> None:
        self.report.check(right, NUMBERS, f"purchase.html: {shown!r} should be {wanted}")

    def check(self) -> None:
        """Check the table beside the page, the numbers of its tables, ranks and verdicts."""
        self._download()
        hrefs = {one["href"]: name for name, one in self.machines.items()}
        for found in self.page.every("table"):
            caption = found.first("caption")
            key = caption.attributes.get("id", "") if caption else ""
            heads = [cell.text() for cell in found.every("th", scope="col")]
            for line in found.every("tr"):
                link, cells = line.first("a"), line.elements
                if link and cells[-1].name == "td" and key.startswith("table-"):
                    self._line(key, heads, cells, hrefs[link.attributes["href"]])
        known = [
            one for name in self.machines if (one := self.score(name, self.base, self.workload))
        ]
        for block in self.page.every("p", class_="answer"):
            for shown in estimates(block.text()):
                self._say(any(shown.agrees(one.times()) for one in known), shown.text, known)
        for block in self.page.every("div", class_="verdict"):
            self._verdict(*(one.text() for one in block.elements[:3]))

    def _download(self) -> None:
        """Check the ratios of exercises in the table beside the page."""
        check_parquet(self.folder / "purchase.csv", self.report)
        for cells in table(self.folder / "purchase.csv"):
            group, found = self.exercise(cells["run"], cells["exercise"])
            ratio = found.times() if found else None
            wanted = {
                "log_ratio": found and found.log,
                "ratio": ratio and ratio.value,
                "low": ratio and ratio.low,
                "high": ratio and ratio.high,
                "cases": len(group),
            }
            for column, right in wanted.items():
                told = number(cells[column])
                agrees = told is right
                if told is not None and right is not None:
                    agrees = math.isclose(told, right, rel_tol=ROUNDED, abs_tol=1e-8)
                fault = f"purchase.csv: {cells['run']}, {cells['exercise']}: {column} is {told}"
                self.report.check(agrees, CELLS, f"{fault}, and should be {right}")

    def amounts(self, name: str) -> dict[str, Row | None]:
        """Return what stands under the heads of tables, the longer names first."""
        one, unit = self.machines[name], self.currency
        fast = self.score(name, self.base, self.workload)
        price, watts = self.each(one, "price"), self.each(one, "watts")

        def exact(amount: float | None, unit: str) -> Row | None:
            return None if amount is None else Row(amount, unit=unit)

        return {
            "Price per unit": fast.times(price, unit, -1) if fast and price else None,
            "Price of a device": exact(price, unit),
            "Price": exact(one["price"], unit),
            "Speed per 100 W": fast.times(100 / watts) if fast and watts else None,
            "Value": fast.times(1000 / price) if fast and price else None,
            "Times as fast": fast.times() if fast else None,
            "Speed": fast.times() if fast else None,
        }

    def each(self, machine: Data, amount: str) -> float | None:
        """Return an amount for each device; none where only a machine's processor did work."""
        at_work = any(not one["name"].endswith(".cpu") for one in self.shown["exercises"])
        there = any(not one.endswith(".cpu") for one in {**machine["logs"], **machine["beyond"]})
        found: float | None = machine[amount]
        return found / machine["count"] if found and (at_work or not there) else None

    def _line(self, key: str, heads: list[str], cells: list[Element], name: str) -> None:
        if key.removeprefix("table-").isdigit():
            of = self.shown["exercises"][int(key.removeprefix("table-"))]["name"]
            group, found = self.exercise(name, of)
            self._cell(cells[1].text(), found.times() if found else None)
            count = first(cells[2].text())
            self._say(count and count.value == len(group), cells[2].text(), len(group))
            return
        amounts = self.amounts(name)
        for head, cell in zip(heads[1:], cells[1:], strict=True):
            known = next((one for one in amounts if head.startswith(one)), None)
            if head == "Place":
                right = self.ranks(self.workload).get(name, "-")
                self._say(cell.text() == right, cell.text(), right)
            elif known and key == "table-cards":
                shown, amount = first(cell.text()), amounts[known]
                agrees = shown.is_value(amount and amount.value) if shown else amount is None
                self._say(agrees, cell.text(), amount)
            elif known:
                self._cell(cell.text(), amounts[known])

    def _cell(self, text: str, wanted: Row | None) -> None:
        """Check a cell: a number with its interval, one that is exact, or none."""
        shown = first(text)
        if wanted is None:
            right = shown is None
        elif wanted.low is None or wanted.low == wanted.high:
            right = shown is not None and shown.is_value(wanted.value) and shown.unit == wanted.unit
        else:
            right = any(one.agrees(wanted) for one in estimates(text))
        self._say(right, text, wanted)

    # Ranks and verdicts

    def ranks(self, workload: str) -> dict[str, str]:
        """Return the rank of each machine, or the best and the worst that it may have."""
        every = [one for one in self.machines if self.score(one, self.base, workload)]

        def faster(one: str, other: str) -> bool:
            found = self.beside(one, other, workload)
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
            name: (self.each(one, "price") if by_price else 1.0) or 0.0
            for name, one in self.machines.items()
            if self.score(name, self.base, self.workload)
        }
        known = [name for name, cost in costs.items() if cost]

        def ahead(one: str, other: str) -> Speed:
            found = self.beside(one, other, self.workload) or Speed(0.0, None)
            return found._replace(log=found.log - math.log(costs[one] / costs[other]))

        best = [
            one for one in known if not any(ahead(other, one).surely_above() for other in known)
        ]
        called = dict(zip(self.machines, _names([*self.machines.values()]), strict=True))
        right = {called[one] for one in best} or {"unknown"}
        self._say(set(who.split(" or ")) == right, f"{topic}: {who}", right)
        wanted = [
            ahead(one, other).times() for one in best for other in known if called[other] in margin
        ]
        if by_price:
            wanted += filter(None, (self.amounts(one)["Value"] for one in best))
        for shown in estimates(margin):
            self._say(any(map(shown.agrees, wanted)), f"{topic}: {shown.text}", wanted)


def _names(machines: list[Data]) -> list[str]:
    """Return what machines are called: by their devices, with letters where these are alike."""
    names = [
        f"{one['count']}{RATIO} {one['device']}" if one["count"] > 1 else one["device"]
        for one in machines
    ]
    return [
        f"{name} ({chr(ord('A') + place)})" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]
