# SPDX-License-Identifier: MIT
"""What the page of machines says of each beside the reference, made anew from their launches."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from tests.instruments.site_checker import workloads
from tests.instruments.site_checker.bootstrap import Key, Open, Side, left_open, side
from tests.instruments.site_checker.files import RunFiles
from tests.instruments.site_checker.machines import Data, joules, measured, near, parts
from tests.instruments.site_checker.report import CELLS, Report

DIGITS = 1e-5
"""The page's data has six digits of a variance."""


def check(blocks: Sequence[Data], files: Mapping[str, RunFiles], report: Report) -> None:
    """Check every machine's logarithms by exercise, what launches leave open of them, its energy.

    Parameters
    ----------
    blocks
        Comparisons of the same machines, beside each of them. Of all but the first only what ranks
        rest on is checked: scores, and work for a joule.
    files
        Of each run, by the address of its page.
    """
    machines = blocks[0]["machines"]
    sides = {one["href"]: side(measured(files[one["href"]])) for one in machines}
    _shown(blocks[0], sides, files, report)
    for data in blocks[1:]:
        base = _base(data)
        for machine in data["machines"]:
            both = sides[base["href"]], sides[machine["href"]]
            faults = [*_parts(data, machine, base, both, files)]
            faults += _energy(machine, base, files, _common(both, _counting(data)))
            for fault in faults:
                name = f"purchase.html: {machine['run']} beside {base['run']}"
                report.check(not fault, CELLS, f"{name}: {fault}")


def _base(data: Data) -> Data:
    """Return the machine that others are compared with."""
    found: Data = next(one for one in data["machines"] if one["run"] == data["reference"])
    return found


def _counting(data: Data) -> set[str]:
    """Return the exercises whose cases count."""
    return {one["name"] for one in data["exercises"] if one["weight"] > 0}


def _shown(
    data: Data, sides: Mapping[str, Side], files: Mapping[str, RunFiles], report: Report
) -> None:
    """Check all that a comparison says of its machines' speed."""
    machines, exercises, base = data["machines"], data["exercises"], _base(data)
    for machine in machines:
        both = sides[base["href"]], sides[machine["href"]]
        groups = [_common(both, {one["name"]}) for one in exercises]
        name = f"purchase.html: {machine['run']}"
        for one, group in zip(exercises, groups, strict=True):
            found, right = machine["logs"].get(one["name"]), _log(both, group)
            fault = f"{name}: {one['name']}: the logarithm is {found}, and should be {right}"
            report.check(near(found, right), CELLS, fault)
        weights = [one["weight"] for one in exercises]
        faults = [*_open(machine["covariance"], machine["quantile"], _left(both, groups, weights))]
        faults += _parts(data, machine, base, both, files)
        faults += _energy(machine, base, files, _common(both, _counting(data)))
        for fault in faults:
            report.check(not fault, CELLS, f"{name}: {fault}")


def _parts(
    data: Data, machine: Data, base: Data, both: tuple[Side, Side], files: Mapping[str, RunFiles]
) -> Iterator[str]:
    """Yield what is wrong with the parts that scores are made of."""
    chosen = parts(files[base["href"]])
    totals = Counter(part for part, _ in chosen.values())
    table = {one["name"]: one for one in workloads.table()["parts"]}
    wanted = [
        {"name": name, "title": one["title"], "total": totals[name], "weights": one["weights"]}
        for name, one in table.items()
        if totals[name]
    ]
    yield "" if data["parts"] == wanted else f"parts are {data['parts']}, and should be {wanted}"
    common = sorted(key for key in chosen if key in both[0].centre and key in both[1].centre)
    groups = [[key for key in common if chosen[key][0] == one["name"]] for one in wanted]
    shares: dict[Key, float] = {}
    for group in groups:
        kinds = Counter(chosen[key][1] for key in group)
        shares |= {key: 1 / len(kinds) / kinds[chosen[key][1]] for key in group}
    found = machine["parts"]
    for one, group in zip(wanted, groups, strict=True):
        log, count = found["logs"].get(one["name"]), found["counts"][one["name"]]
        right = math.fsum(
            shares[key] * (both[0].centre[key] - both[1].centre[key]) for key in group
        )
        fault = f"{one['name']}: the logarithm of {count} cases is {log}, and should be {right}"
        yield "" if near(log, right if group else None) and count == len(group) else fault
    left = _left(both, groups, [1.0] * len(groups), shares)
    covariance = found["covariance"]
    square = covariance and [
        [covariance[max(i, j)][min(i, j)] for j in range(len(groups))] for i in range(len(groups))
    ]
    yield from _open(square, found["quantile"], left)


def _left(
    both: tuple[Side, Side],
    groups: Sequence[Sequence[Key]],
    weights: Sequence[float],
    shares: Mapping[Key, float] | None = None,
) -> Open | None:
    """Return what launches leave open: of a run beside itself nothing."""
    if both[0] is both[1]:
        return Open([[0.0] * len(groups)] * len(groups), 0.0)
    return left_open(both, groups, weights, shares)


def _common(both: Sequence[Side], exercises: set[str]) -> list[Key]:
    """Return the cases of some exercises that two runs have."""
    first, second = (one.centre.keys() for one in both)
    return sorted(key for key in first & second if key[0] in exercises)


def _log(both: Sequence[Side], cases: Sequence[Key]) -> float | None:
    """Return the mean of the logarithms of how many times as fast the second is."""
    first, second = (one.centre for one in both)
    return fmean(first[key] - second[key] for key in cases) if cases else None


def _open(
    covariance: Sequence[Sequence[float]] | None, quantile: float | None, wanted: Open | None
) -> Iterator[str]:
    """Yield what is wrong with the quantile and each covariance, or nothing where it is right."""
    if wanted is None or covariance is None or quantile is None:
        right = covariance is None and quantile is None and wanted is None
        yield "" if right else f"launches leave open {covariance}, and should {wanted}"
        return
    right = near(quantile, wanted.quantile)
    yield "" if right else f"the quantile is {quantile}, and should be {wanted.quantile}"
    for i, row in enumerate(wanted.covariance):
        for j, true in enumerate(row):
            room = DIGITS * math.sqrt(wanted.covariance[i][i] * wanted.covariance[j][j])
            found = covariance[i][j]
            fault = f"the covariance of exercises {i} and {j} is {found}, and should be {true}"
            yield "" if abs(found - true) <= room else fault


def _energy(
    machine: Data, base: Data, files: Mapping[str, RunFiles], common: Sequence[Key]
) -> Iterator[str]:
    """Yield what is wrong with how many times the reference's work a joule does."""
    told = [joules(files[one["href"]]) for one in (base, machine)]
    cases = [key for key in common if key in told[0] and key in told[1]]
    energy = machine["energy"]
    if energy is None or not cases:
        right = energy is None and not cases
        yield "" if right else f"{len(cases)} cases tell their energy, of which it says {energy}"
        return
    first, second = (side({key: one[key] for key in cases}) for one in told)
    both = (first, first if machine is base else second)
    right = near(energy["log"], _log(both, cases)) and energy["cases"] == len(cases)
    yield "" if right else f"work for a joule is {energy}, and should be {_log(both, cases)}"
    variance = energy["variance"]
    found = None if variance is None else [[variance]]
    yield from _open(found, energy["quantile"], _left(both, [cases], [1.0]))
