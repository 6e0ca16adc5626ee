# SPDX-License-Identifier: MIT
"""Stored runs as the scripts know them, which compare any two of them: `static/score.js`.

What many runs share is listed once, because an index holds a thousand runs.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd
from msgspec import to_builtins

from frobench.reports.purchase.prices import HOUR, Price, total
from frobench.reports.summary import models
from frobench.reports.summary.model import Summary, device_names, equipment_of
from frobench.reports.table.equipment import surroundings
from frobench.reports.table.facts import fact_name, spelled
from frobench.reports.table.launches import ON_CPU, STEP, Logs, Scored
from frobench.reports.table.workloads import table
from frobench.suite.checks.case_facts import moment
from frobench.suite.datasheets import published
from frobench.suite.datasheets.published import Published
from frobench.suite.stored.differences import FOLLOWS, SAID_BY_ABSENCE
from frobench.suite.stored.types import Estimate, Scalar

GIGA = 1e9
DIGITS = 4
"""Of what a device does, and of the ends of its interval."""
ERROR_STEP = 1e-5
"""To which standard errors of logarithms are rounded."""
AXES = {
    "compute": ("bfloat16", "float16", "float32"),
    **dict.fromkeys(("memory", "overhead", "link_to_device"), ("",)),
}
"""The axes that a buyer weighs, with the precisions of each."""
Places = Sequence[tuple[str, str, str]]
"""The cases in `data`, each behind its part of the workloads and its kind."""


def data(
    runs: Sequence[Summary], known: Sequence[Price] = (), reference: str | None = None
) -> dict[str, Any]:
    """Return what the scripts need of all runs.

    ``logs`` are in steps of `STEP` by the place of the case, ``errors`` in steps of `ERROR_STEP` by
    the place of the part; ``left`` has for places without a number the place of the reason.
    ``groups`` are those of `devices`, and ``base`` is the run of the one that others are compared
    with.

    known : what devices cost
    reference : the page of a run of the baseline; without one, see `baseline`
    """
    groups = devices(runs)
    bought = [equipment_of(run) for run in runs]
    prices, rents = ([total(known, one, per) for one in bought] for per in ("", HOUR))
    currencies = Counter(one.currency for one in prices if one)
    names = [
        (
            one.device if run.environment.accelerators and not one.accelerators else name,
            *device_kind(run),
        )
        for name, one, run in zip(device_names(runs), bought, runs, strict=True)
    ]
    seconds = _steps([run.scored.seconds for run in runs])
    joules = _steps([run.scored.joules for run in runs]).reindex(columns=seconds.columns)
    places = [*seconds.columns]
    parts = _parts(places)
    reasons: dict[str, int] = {}
    kinds: dict[tuple[str, str, str], int] = {}
    return {
        "workloads": to_builtins(table().workloads),
        "parts": parts,
        "runs": [
            {
                "href": run.href,
                "title": run.title,
                "measured": run.datetime[:10],
                "axes": _axes(run, kinds),
                **_known(
                    invalid=next(iter(run.faults), ""),
                    doubt=run.doubt,
                    seconds=_quantity(times, run.scored.seconds, parts),
                    joules=_quantity(work, run.scored.joules, parts),
                    left=_left(run.scored, places, times, reasons),
                ),
            }
            for run, times, work in zip(runs, _lists(seconds), _lists(joules), strict=True)
        ],
        "models": [
            (one.name, one.parameters, one.amounts[models.DECODE], one.amounts[models.PROMPT])
            for one in models.MODELS
        ],
        "small": models.SMALL,
        "groups": groups,
        "base": baseline(runs, [place for place, *_ in groups], reference),
        "reasons": [*reasons],
        "axis_kinds": [*kinds],
        "devices": _listed(names),
        "hardware": _listed(
            [(one.count, one.watts, one.watts_source, one.sold_bytes, one.cpu) for one in bought]
        ),
        "currency": max(currencies, key=currencies.__getitem__, default="USD"),
        "prices": _listed([price and price[2:7] for price in prices]),
        "rents": _listed([rent and rent[2:7] for rent in rents]),
        "published": _published(runs),
        **_surrounding([surroundings(run.environment) for run in runs]),
    }


def _known(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Leave out what is empty: an index holds a thousand runs."""
    return {name: value for name, value in values.items() if value}


def _published(runs: Iterable[Summary]) -> dict[str, Any]:
    """Return what others published of devices that no run has.

    ``devices`` are a name and its figures: a value in steps of `GIGA`, then the places of its
    quantity, precision, method, software, address and date in ``words``.
    """
    words: dict[str, int] = {}

    def row(one: Published) -> list[float]:
        said = one.quantity, one.precision, one.method, one.software, one.address, one.as_of
        value = _few_digits(one.value, one.unit)
        return [value, *(words.setdefault(word, len(words)) for word in said)]

    measured = {one.name for run in runs for one in run.environment.accelerators}
    devices = [[name, *map(row, figures)] for name, figures in published.others(measured).items()]
    return {"devices": devices, "words": [*words]}


def devices(runs: Sequence[Summary]) -> list[tuple[int, list[int], int]]:
    """Return the devices of runs in their order, each with the places of its runs.

    These are that of its newest run that ended without an error or a doubt, or else without an
    error, or else of its newest one; those of such runs of its other specimens; and how many runs
    there are.
    """
    found: dict[str, dict[str, list[int]]] = {}
    for place, run in enumerate(runs):
        found.setdefault(run.device_id, {}).setdefault(run.machine_id, []).append(place)

    def standing(place: int) -> tuple[object, ...]:
        return is_whole(runs[place]), not runs[place].doubt, *_age(runs[place])

    groups = []
    for specimens in found.values():
        newest = [max(places, key=standing) for places in specimens.values()]
        shown = max(newest, key=standing)
        others = [place for place in newest if place != shown]
        groups.append((shown, others, sum(map(len, specimens.values()))))
    return groups


def baseline(runs: Sequence[Summary], places: Sequence[int], reference: str | None) -> int:
    """Return with which of some runs the others are compared unless a reader says otherwise.

    It is that of the reference's device; without one that of the card in the table of workloads,
    which everybody knows, or else the newest sound run, of an accelerator if there is one. Of one
    second it is that with the last address.

    reference : the page of a run
    """
    asked = {run.device_id for run in runs if run.href == reference}

    def standing(place: int) -> tuple[object, ...]:
        run, parts = runs[place], [*runs[place].scored.seconds.centres]
        elsewhere = any(not name.endswith(ON_CPU) for name in parts)
        sound = is_whole(run) and not run.doubt
        known = sound and run.device == table().baseline
        return run.device_id in asked, bool(parts), elsewhere, known, sound, *_age(run)

    return max(places, key=standing)


def _age(run: Summary) -> tuple[str, str]:
    when = moment(run.datetime)
    return when.isoformat() if when else "", run.href


def is_whole(run: Summary) -> bool:
    """Tell whether every launch of a run ended, without an error of the whole run."""
    return run.complete and not run.faults


def device_kind(run: Summary) -> tuple[str, str]:
    """Return the kind of device that names a run, and what drives it."""
    present = run.environment.accelerators
    if not present:
        return "CPU", "CPU"
    hip = run.environment.software.torch_build.get("hip")
    return "accelerator", "ROCm" if hip else present[0].type.upper()


def _steps(logs: Sequence[Logs]) -> pd.DataFrame:
    """Return the logarithms of each run in steps of `STEP`, a column for each of `Places`.

    Only differences between runs count, so every case counts from its least number.
    """
    rows = [
        {
            (part, work, case): log / STEP
            for part, kinds in one.centres.items()
            for work, cases in kinds.items()
            for case, log in cases.items()
        }
        for one in logs
    ]
    steps = pd.DataFrame(rows, dtype=float).round().sort_index(axis="columns")
    return steps - steps.min()


def _lists(steps: pd.DataFrame) -> list[list[int | None]]:
    """Return the rows of a table of whole numbers for JSON."""
    whole = steps.astype("Int64").astype(object)
    found: list[list[int | None]] = whole.where(steps.notna(), None).to_numpy().tolist()
    return found


def _parts(places: Places) -> list[dict[str, Any]]:
    """Return the parts of the workloads, each as far as one kind of device does it."""
    kinds: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for place, (part, work, _) in enumerate(places):
        kinds[part][work].append(place)
    return [
        {
            "name": part.name,
            "title": part.title,
            "weights": part.weights,
            "cpu": cpu,
            "host": part.regime in {"launch", "loop"},
            "kinds": [*kinds[part.name + ON_CPU * cpu].values()],
        }
        for part in table().parts
        for cpu in (False, True)
        if part.kind in {None, "cpu" if cpu else "accelerator"}
    ]


def _quantity(
    steps: list[int | None], own: Logs, parts: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return a quantity of a run by place, and its errors by part; nothing of an unknown one."""
    names = [part["name"] + ON_CPU * part["cpu"] for part in parts]
    known = [own.errors.get(name) for name in names]
    errors = [None if one is None else round(one / ERROR_STEP) for one in known]
    if not own.centres:
        return None
    return {"logs": steps, "errors": errors, "shared": round(own.shared, 2)}


def _left(
    scored: Scored, places: Places, steps: Iterable[int | None], reasons: dict[str, int]
) -> dict[int, int]:
    """Return for places without a number the place of the reason, which `reasons` collects."""
    return {
        place: reasons.setdefault(reason, len(reasons))
        for place, ((*_, case), one) in enumerate(zip(places, steps, strict=True))
        if one is None and (reason := scored.left_out.get(case.partition(" ")[0]))
    }


def _axes(run: Summary, kinds: dict[tuple[str, str, str], int]) -> list[tuple[float | None, ...]]:
    """Return what a buyer weighs of a run's axes, and its power under load, with intervals.

    kinds : collects name, precision and unit of each
    """
    if run.faults:
        return []
    known: dict[tuple[str, str, str], Estimate | None] = {
        (one.name, one.precision, one.unit): one.value
        for one in run.axes.axes
        if one.precision in AXES.get(one.name, ())
    }
    serving = run.axes.serving
    known["load", "", "W"] = run.axes.watts
    known["decode", serving.basis, "B/s"] = serving.rates.get(models.DECODE)
    known["prefill", "", "FLOP/s"] = serving.rates.get(models.PROMPT)
    known |= {("small", weights, "B/s"): rate for weights, rate in serving.small.items()}
    return [
        (kinds.setdefault(key, len(kinds)), *(end and _few_digits(end, key[2]) for end in ends))
        for key, value in known.items()
        if value
        for ends in [(value.value, value.low, value.high)]
    ]


def _few_digits(value: float, unit: str) -> float:
    """Round a value and divide a rate by `GIGA`, because an index holds thousands of them."""
    rounded = float(f"{value / (GIGA if unit.endswith('/s') else 1):.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded


def _listed(values: Sequence[Any]) -> dict[str, list[Any]]:
    """Return each value once, and for each run the place of its own."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return {"values": [*places], "of": [places[value] for value in values]}


def _surrounding(runs: Sequence[Mapping[str, Scalar]]) -> dict[str, list[Any]]:
    """List the facts beside the devices, for a script that says how two runs differ.

    It does what `suite.stored.differences.compare_environments` does: a fact that only one of the
    two has says something in some tables and nothing elsewhere, and what follows from another fact
    that differs is left out.

    ``facts`` are the name of each that is not the same in all, whether its absence says something,
    and the places of those that it follows from; ``values`` the place of the fact that each is of,
    and its words; ``has`` the places of each run's values.
    """
    spelt = [{fact: spelled(fact, value) for fact, value in run.items()} for run in runs]
    table = pd.DataFrame(spelt)
    varying = [fact for fact in table if len(table[fact].unique()) > 1]
    places = {str(fact): place for place, fact in enumerate(varying)}
    values = [(fact, words) for fact in places for words in table[fact].dropna().unique()]
    numbers = {value: number for number, value in enumerate(values)}
    return {
        "facts": [
            (fact_name(fact), int(fact.startswith(SAID_BY_ABSENCE)), _leaders(fact, places))
            for fact in places
        ],
        "values": [(places[fact], words) for fact, words in values],
        "has": [
            [numbers[fact, words] for fact, words in run.items() if fact in places] for run in spelt
        ],
    }


def _leaders(fact: str, places: Mapping[str, int]) -> list[int]:
    """Return the places of the facts that this one follows from."""
    return [
        places[leader]
        for leader, patterns in FOLLOWS.items()
        if leader in places and any(fnmatchcase(fact, pattern) for pattern in patterns)
    ]
