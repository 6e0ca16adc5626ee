# SPDX-License-Identifier: MIT
"""What machines are held against each other by: their cases' launches, and amounts by speed."""

import math
import re
from collections.abc import Mapping
from typing import Any

from tests.instruments.site_checker import workloads
from tests.instruments.site_checker.bootstrap import Key
from tests.instruments.site_checker.files import RunFiles
from tests.instruments.site_checker.printed import RATIO, Row
from tests.instruments.site_checker.recomputed import LEAST, ByLaunch, same

Data = Mapping[str, Any]
ROUNDED = 1e-8
"""The page's data has nine decimal places of a logarithm."""

_ACCELERATOR = re.compile(r"[a-z]\w*:\d+")


def measured(files: RunFiles) -> dict[Key, ByLaunch]:
    """Return the launch medians of each case that can stand in a ratio."""
    told = files.stored["frobench"]["conclusions"]
    broken = {one.get("case") for one in told if one["severity"] == "error"}
    status = {cells["case"]: cells["status"] for cells in files.tables["cases"]}
    most = max((len(files.seconds(name)) for name in status), default=0)
    found: dict[Key, ByLaunch] = {}
    for name, state in status.items():
        seconds = files.seconds(name)
        if state != "failed" and name not in broken and len(seconds) >= min(LEAST, most):
            found.setdefault(_key(files, name), seconds)
    return {} if broken & {None, ""} else found


def joules(files: RunFiles) -> dict[Key, ByLaunch]:
    """Return what a call of a case took in each launch, where that was counted."""
    found: dict[Key, ByLaunch] = {}
    for name, case in files.stored_cases.items():
        told = (case["extra_info"].get("energy") or {"joules": []})["joules"]
        if counted := {at: one for at, one in enumerate(told) if one and one > 0}:
            found.setdefault(_key(files, name), counted)
    return found


def _key(files: RunFiles, name: str) -> Key:
    """Return the exercise of a case, and by what it is known on whatever machine."""
    case = files.stored_cases[name]
    info = case["extra_info"]
    device = _ACCELERATOR.sub("accelerator", str(case["params"].get("device", info["device"])))
    params = sorted({**case["params"], "device": device}.items())
    alone = device.startswith("cpu") and "accelerator" not in device
    exercise = f"{case['group']}.cpu" if alone else case["group"]
    return exercise, repr((name.partition("[")[0], info["version"], params))


def parts(files: RunFiles) -> dict[Key, tuple[str, str]]:
    """Return of each case that scores use its part of the workloads, and its kind."""
    keys = measured(files)
    known = {_key(files, name): case for name, case in files.stored_cases.items()}
    alone = all(key[0].endswith(".cpu") for key in keys)
    found = {}
    for key in keys:
        case = known[key]
        if key[0].endswith(".cpu") == alone and (part := workloads.part(case, on_cpu=alone)):
            found[key] = part, workloads.kind(case)
    return found


def exact(value: float | None, unit: str) -> Row | None:
    """Return a number that has no interval by nature."""
    return None if value is None else Row(value, None, None, None, unit)


def by_work(amount: float | None, speed: Row | None, unit: str) -> Row | None:
    """Return an amount for each unit of work: a higher speed makes it less."""
    if amount is None or speed is None:
        return None
    low, high = speed.high and amount / speed.high, speed.low and amount / speed.low
    return Row(amount / speed.value, low, high, None, unit)


def work_per_joule(energy: Data | None) -> Row | None:
    """Return how many times the reference's work a joule does."""
    if energy is None:
        return None
    half = None
    if energy["variance"] is not None and energy["quantile"] is not None:
        half = energy["quantile"] * math.sqrt(energy["variance"])
    low, high = (half is not None and math.exp(energy["log"] + sign * half) for sign in (-1, 1))
    return Row(math.exp(energy["log"]), low or None, high or None, None, RATIO)


def times_as(speed: Row | None, factor: float) -> Row | None:
    """Return a ratio by something exact."""
    if speed is None:
        return None
    low, high = speed.low and speed.low * factor, speed.high and speed.high * factor
    return Row(speed.value * factor, low, high, None, RATIO)


def near(one: float | None, other: float | None) -> bool:
    """Tell whether a number of a table is one of the page's data."""
    if one is None or other is None:
        return one is other
    return same(one, other) or abs(one - other) <= ROUNDED * max(1.0, abs(one))
