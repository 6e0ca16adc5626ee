# SPDX-License-Identifier: MIT
"""Machines as the scripts know them, of which a test says what it needs."""

from math import log
from typing import Any, NamedTuple

from frobench.reports.purchase.machines import ERROR_STEP, GIGA
from frobench.reports.summary.models import MODELS, SMALL
from frobench.reports.table.launches import STEP
from frobench.reports.table.workloads import table

SIDES = ("matmul", "copies")
"""Parts of which training asks equally, each of one case."""


class Machine(NamedTuple):
    """A machine; fields are as in `static/score.js`, ratios and errors by part of `SIDES`.

    joules : how many times the base's work it does for a joule in each part; none if not counted
    devices : how many of them the machine has
    host : the processor beside them
    of : the name of an earlier machine, of whose device it is another specimen
    """

    name: str
    ratios: tuple[float, ...] = (1.0, 1.0)
    error: float | None = 0.01
    joules: tuple[float, ...] = ()
    devices: int = 1
    watts: float | None = 700.0
    watts_source: str | None = "datasheet"
    host: str = "a processor"
    memory_bytes: int | None = 80 * 2**30
    price: float | None = None
    currency: str = "USD"
    price_date: str = "2026-01-01"
    price_kind: str = "list"
    rent: tuple[float, str, str, str, str] | None = None
    axes: tuple[tuple[str, str, str, float, float | None, float | None], ...] = ()
    invalid: str = ""
    doubt: str = ""
    cpu: bool = False
    driver: str = ""
    of: str = ""


BASE = Machine("base", error=0.0)


def machine(name: str, *ratios: float, **known: Any) -> Machine:  # noqa: ANN401
    """Return a machine that is so many times as fast as the base in parts."""
    return Machine(name, ratios, **known)


def data(*machines: Machine, host: bool = False) -> dict[str, Any]:
    """Return what the scripts need of machines; `host`, whether it launches what is measured."""
    kinds: dict[Any, int] = {}
    devices = [one.name for one in machines if not one.of]
    price = [
        one.price and (one.price, one.currency, one.price_date, one.price_kind, "a shop")
        for one in machines
    ]
    return {
        "workloads": [
            {"name": one.name, "title": one.title, "what": one.what, "needs": []}
            for one in table().workloads
        ],
        "parts": [
            {
                "name": side,
                "title": side,
                "weights": {"training": 1} | ({"decode": 1} if side == "copies" else {}),
                "cpu": cpu,
                "host": host,
                "kinds": [[place + 2 * cpu]],
            }
            for place, side in enumerate(SIDES)
            for cpu in (False, True)
        ],
        "runs": [
            {
                "href": f"{one.name}.html",
                "title": f"{one.name}, 8 cores",
                "measured": "2026-02-03",
                "invalid": one.invalid,
                "doubt": one.doubt,
                "axes": [_axis(kinds, axis) for axis in one.axes],
                "seconds": _logs(one, one.ratios),
                "joules": _logs(one, one.joules),
                "left": {},
            }
            for one in machines
        ],
        "models": [
            (one.name, one.parameters, one.amounts["decode"], one.amounts["prompt"])
            for one in MODELS
        ],
        "small": SMALL,
        "published": {"devices": [], "words": []},
        "reasons": [],
        "axis_kinds": [*kinds],
        "devices": _listed([(one.name, "accelerator", "CUDA") for one in machines]),
        "hardware": _listed(
            [
                (one.devices, one.watts, one.watts_source, one.memory_bytes, one.host)
                for one in machines
            ]
        ),
        "currency": "USD",
        "prices": _listed(price),
        "rents": _listed([one.rent for one in machines]),
        "facts": [("driver", 0, [])],
        "values": [(0, one.driver) for one in machines],
        "has": [[place] if one.driver else [] for place, one in enumerate(machines)],
        "groups": [
            (place, [at for at, other in enumerate(machines) if other.of == one.name], 1)
            for place, one in enumerate(machines)
            if not one.of
        ],
        "device": [devices.index(one.of or one.name) for one in machines],
        "base": 0,
    }


def _axis(kinds: dict[Any, int], axis: tuple[Any, ...]) -> tuple[float | None, ...]:
    factor = GIGA if axis[2].endswith("/s") else 1
    return kinds.setdefault(axis[:3], len(kinds)), *(end and end / factor for end in axis[3:])


def _logs(one: Machine, ratios: tuple[float, ...]) -> dict[str, Any] | None:
    if not ratios or one.invalid:
        return None
    logs: list[float | None] = [None] * 4
    for place, ratio in enumerate(ratios):
        logs[place + 2 * one.cpu] = -log(ratio) / STEP
    error = None if one.error is None else one.error / ERROR_STEP
    return {"logs": logs, "errors": [error] * 4, "shared": 0.0}


def _listed(values: list[Any]) -> dict[str, list[Any]]:
    return {"values": values, "of": [*range(len(values))]}
