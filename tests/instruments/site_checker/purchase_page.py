# SPDX-License-Identifier: MIT
"""The page of machines side by side, from the formulae of `docs/methodology.md`."""

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.instruments.site_checker import offers, ranks, side_by_side, verdicts
from tests.instruments.site_checker.cards import check_cards, check_heat, check_parts
from tests.instruments.site_checker.files import RunFiles, number, table
from tests.instruments.site_checker.machines import (
    Data,
    by_work,
    exact,
    near,
    times_as,
    work_per_joule,
)
from tests.instruments.site_checker.printed import RATIO, Row, estimates, first, plain, scale
from tests.instruments.site_checker.report import CELLS, NUMBERS, Report
from tests.instruments.site_checker.tree import Element

DAYS_A_YEAR = 365


class PurchasePage:
    """The page, its data for the script (the first comparison), and its tables.

    Parameters
    ----------
    files
        Of each run, by the address of its page.
    """

    def __init__(
        self, folder: Path, page: Element, files: Mapping[str, RunFiles], report: Report
    ) -> None:
        self.page, self.files, self.report = page, files, report
        block = page.first("script", id="comparisons")
        self.blocks: list[Data] = json.loads("".join(map(str, block.children))) if block else [{}]
        self.data = self.blocks[0]
        self.rows = table(folder / "purchase.csv")
        self.machines = {one["href"]: one for one in self.data["machines"]}
        self.exercises: list[Data] = self.data["exercises"]
        self.reference = next(
            one for one in self.data["machines"] if one["run"] == self.data["reference"]
        )
        self.weights = self._weights()
        self.overall = {href: self._score(one) for href, one in self.machines.items()}

    def check(self) -> None:
        """Check the table beside the page, and every number on it."""
        self._table()
        check_cards(self.page, self.machines, lambda one: dict(self._amounts(one)), self.report)
        check_heat(self.page, self.machines, self.exercises, self.ratio, self.report)
        check_parts(self.page, self.data, self.workload, self.report)
        field = verdicts.Field(self.blocks)
        costs = {"price": self._each, "watts": self._each_watts, "owned": self._each_owned}
        ranks.check(self.page, field, self.workload, self.report)
        verdicts.check(self.page, field, self.workload, costs, self.report)
        offers.check(self.page, field, self.files, self._kwh(), self.report)
        for found in self.page.every("table"):
            if (found.first("caption") or found).attributes.get("id") == "table-cards":
                continue
            key = (found.first("caption") or found).attributes.get("id", "")
            heads = [cell.text() for cell in found.every("th", scope="col")]
            for line in found.every("tr"):
                cells = [one for one in line.children if isinstance(one, Element)]
                link = cells[0].first("a")
                if link is not None and cells[-1].name == "td":
                    self._line(key, heads, cells, self.machines[link.attributes["href"]])
        self._sentences()

    @property
    def workload(self) -> str:
        """The first workload that the reference measured, which the page shows."""
        parts = self.data["parts"]
        known: list[str] = [one["name"] for one in self.data["workloads"]]
        return next((w for w in known if any(w in one["weights"] for one in parts)), known[0])

    def _weights(self) -> dict[str, float]:
        """Return the weights of the parts under that workload."""
        return {one["name"]: one["weights"].get(self.workload, 0.0) for one in self.data["parts"]}

    def _each(self, machine: Data) -> float | None:
        """Return the price of a device of a machine, in the currency of the page."""
        known = machine["currency"] == self.currency
        devices = self._devices(machine)
        return machine["price"] / devices if known and machine["price"] and devices else None

    def _each_owned(self, machine: Data) -> float | None:
        """Return what a device costs with its energy."""
        row = dict(self._amounts(machine))["Cost of ownership of a device"]
        return row and row.value

    def _each_watts(self, machine: Data) -> float | None:
        """Return the power of a device of a machine."""
        devices = self._devices(machine)
        return machine["watts"] / devices if machine["watts"] and devices else None

    def _score(self, machine: Data) -> Row | None:
        """Return the weighted geometric mean over parts, with its interval."""
        speed = verdicts.score(self.data, machine, self.workload)
        return speed.times() if speed else None

    def ratio(self, machine: Data, exercise: str) -> Row | None:
        """Return a machine's ratio in an exercise, with its interval."""
        if exercise not in machine["logs"]:
            return None
        error = self._error(machine, exercise)
        variance = None if error is None else error**2
        return _ratio(machine["logs"][exercise], variance, machine["quantile"])

    def _table(self) -> None:
        """Hold the table against the page's data, and these against the launches."""
        known = {(one["run"], one["exercise"]): one for one in self.rows}
        for machine in self.machines.values():
            for exercise in self.exercises:
                cells = known[machine["run"], exercise["name"]]
                wanted = self.ratio(machine, exercise["name"])
                pairs = [
                    (number(cells["ratio"]), wanted and wanted.value),
                    (number(cells["low"]), wanted and wanted.low),
                    (number(cells["high"]), wanted and wanted.high),
                    (number(cells["cases"]), machine["counts"][exercise["name"]]),
                    (number(cells["every"]), exercise["total"]),
                    (number(cells["log_ratio"]), machine["logs"].get(exercise["name"])),
                    (number(cells["log_error"]), self._error(machine, exercise["name"])),
                ]
                for found, right in pairs:
                    fault = (
                        f"purchase.csv: {machine['run']}, {exercise['name']}: {found} and {right}"
                    )
                    self.report.check(near(found, right), CELLS, fault)
        side_by_side.check(self.blocks, self.files, self.report)

    def _error(self, machine: Data, exercise: str) -> float | None:
        """Return the standard error of a logarithm, as the page's data has it."""
        if machine["covariance"] is None or exercise not in machine["logs"]:
            return None
        at = next(at for at, one in enumerate(self.exercises) if one["name"] == exercise)
        return math.sqrt(machine["covariance"][at][at])

    def _line(self, key: str, heads: list[str], cells: list[Element], machine: Data) -> None:
        if key == "table-rates":
            self._rates(heads, cells, machine)
        elif key in {"table-speed", "table-worth", "table-power", "table-front"}:
            amounts = self._amounts(machine)
            for head, cell in zip(heads, cells, strict=True):
                told = next((one for name, one in amounts if head.startswith(name)), None)
                if told is not None or head in {name for name, _ in amounts}:
                    self._cell(cell.text(), told)
                elif head.endswith(" exercise"):
                    choose = max if head.startswith("Highest") else min
                    self._extreme(cell.text(), machine, choose)
            if key == "table-speed":
                asked = [one for one in self.data["parts"] if self.weights[one["name"]]]
                part = sum(machine["parts"]["counts"][one["name"]] for one in asked)
                self._counts(cells[3].text(), part, sum(one["total"] for one in asked), None, None)
        elif key.startswith("table-"):
            exercise = self.exercises[int(key.removeprefix("table-"))]
            name = exercise["name"]
            self._cell(cells[1].text(), self.ratio(machine, name))
            ends = (machine[side][name] for side in ("worst", "best"))
            self._counts(cells[2].text(), machine["counts"][name], exercise["total"], *ends)

    def _amounts(self, machine: Data) -> list[tuple[str, Row | None]]:
        """Return what stands under the heads of tables, the longer names first."""
        speed, watts, price = self.overall[machine["href"]], machine["watts"], machine["price"]
        currency, memory = self.currency, machine["memory_bytes"]
        owned = None
        if price is not None and watts is not None:
            owned = price + watts / 1000 * self._hours() * self._kwh()
        per = exact(1000 * memory / price, "B") if memory and price else None
        devices = self._devices(machine)
        one_price, one_owned, one_watts, one_memory = (
            None if amount is None or devices is None else amount / devices
            for amount in (price, owned, watts, memory)
        )
        return [
            ("Price per unit", by_work(one_price, speed, currency)),
            ("Price of a device", exact(one_price, currency)),
            ("Price", exact(price, currency)),
            ("Power limit of a device", exact(one_watts, "W")),
            ("May draw", exact(watts, "W")),
            ("Speed per 100 W", times_as(speed, 100 / one_watts) if one_watts else None),
            ("Work per joule", work_per_joule(machine["energy"])),
            ("Memory per", per),
            ("Memory of a device", exact(one_memory, "B")),
            ("Memory", exact(memory, "B")),
            ("Cost of ownership of a device", exact(one_owned, currency)),
            ("Cost of ownership", exact(owned, currency)),
            ("Cost per unit", by_work(one_owned, speed, currency)),
            ("Times as fast", speed),
            ("Speed", speed),
        ]

    def _devices(self, machine: Data) -> int | None:
        """Return how many share what a machine costs; none where only its processor did work."""
        at_work = any(not one["name"].endswith(".cpu") for one in self.exercises)
        there = any(not one.endswith(".cpu") for one in {**machine["logs"], **machine["beyond"]})
        return None if there and not at_work else int(machine["count"])

    @property
    def currency(self) -> str:
        """Of the first price that is known."""
        return next((c for one in self.machines.values() if (c := one["currency"])), "USD")

    def _rates(self, heads: list[str], cells: list[Element], machine: Data) -> None:
        """Check the best rates of a device, and what they cost."""
        known = {one["precision"]: one for one in machine["rates"]}
        for head, cell in zip(heads[1:], cells[1:], strict=True):
            if (rate := known.get(head)) is None:
                self._cell(cell.text(), None)
                continue
            found = Row(rate["value"], rate["low"], rate["high"], None, "FLOP/s")
            for one in estimates(cell.text()):
                _, _, per = one.unit.partition(" per ")
                right = found if one.unit == "FLOP/s" else self._priced(found, machine, per)
                fault = f"purchase.html: {one.text!r} should be {right}"
                self.report.check(right and one.agrees(right), NUMBERS, fault)

    def _priced(self, rate: Row, machine: Data, per: str) -> Row | None:
        """Return what a unit of a rate costs."""
        if machine["price"] is None or scale(per)[1] != "FLOP/s":
            return None
        each = machine["price"] / machine["count"] * scale(per)[0]
        return by_work(each, rate, f"{self.currency} per {per}")

    def _usual(self) -> list[float]:
        """Return what is assumed: the price of a kWh, hours a day, their share, years."""
        said = re.search(r"unless you say otherwise (.+?) are assumed", self.page.text())
        return [one.value * one.factor for one in plain(said[1])] if said else []

    def _hours(self) -> float:
        _, hours, share, years = self._usual()
        return hours * share * years * DAYS_A_YEAR

    def _kwh(self) -> float:
        return self._usual()[0]

    def _cell(self, text: str, wanted: Row | None) -> None:
        """Check a cell: a number with its interval, one that is exact, or none."""
        if wanted is None:
            right = not [*estimates(text)] and (first(text) is None)
        elif wanted.low is None or wanted.low == wanted.high:
            shown = first(text)
            right = shown is not None and shown.is_value(wanted.value) and shown.unit == wanted.unit
        else:
            right = any(one.agrees(wanted) for one in estimates(text))
        self.report.check(right, NUMBERS, f"purchase.html: {text!r} should be {wanted}")

    def _extreme(self, text: str, machine: Data, choose: Callable[..., Row]) -> None:
        asked = [one["name"] for one in self.exercises if one["weight"] > 0]
        known = [one for name in asked if (one := self.ratio(machine, name))]
        if machine is not self.reference and known:
            self._cell(text.rpartition(": ")[2], choose(known, key=lambda one: one.value))

    def _counts(
        self, text: str, part: int, whole: int, worst: float | None, best: float | None
    ) -> None:
        """Check "9 of 11", and what would be if the rest were like the worst and the best."""
        shown = [*plain(text)]
        wanted: list[float] = [part, whole]
        if len(shown) > 2 and worst is not None and best is not None:
            wanted += [math.exp(worst), math.exp(best)]
        right = len(shown) == len(wanted) and all(
            one.is_value(true) for one, true in zip(shown, wanted, strict=True)
        )
        self.report.check(right, NUMBERS, f"purchase.html: {text!r} should be {wanted}")

    def _sentences(self) -> None:
        """Check the numbers of sentences: ratios overall, what a machine draws and costs."""
        known = [one for one in self.overall.values() if one]
        said = [block.text() for block in self.page.every("p", class_="answer")]
        said += [one.attributes.get("content", "") for one in self.page.every("meta")]
        for text in said:
            for one in estimates(text):
                right = any(one.agrees(each) for each in known)
                self.report.check(right, NUMBERS, f"purchase.html: {one.text!r} is no ratio")
        for block in self.page.every("dd"):
            for machine in self.machines.values():
                text, shown = block.text(), first(block.text())
                if (
                    shown
                    and machine["watts"]
                    and text.endswith(f"by its {machine['watts_source']}")
                ):
                    others = [one["watts"] for one in self.machines.values() if one["watts"]]
                    right = shown.unit == "W" and any(map(shown.is_value, others))
                    self.report.check(right, NUMBERS, f"purchase.html: {text!r} is no known power")
                    break


def _ratio(log: float, variance: float | None, quantile: float | None) -> Row:
    """Return a ratio with its interval, if it has one."""
    if variance is None or quantile is None:
        return Row(math.exp(log), None, None, None, RATIO)
    half = quantile * math.sqrt(max(variance, 0.0))
    return Row(math.exp(log), math.exp(log - half), math.exp(log + half), None, RATIO)
