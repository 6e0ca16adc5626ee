# SPDX-License-Identifier: MIT
"""Files that no honest run writes, made from a good one, with the code that must name each.

Whoever changes a number by hand can make the digest anew, and the statistics with it: so does this,
except where that is what is wrong.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Check, Energy, Outcome, Run, Telemetry
from tests.instruments.faults import judging
from tests.instruments.faults.judging import name_again
from tests.instruments.faults.spoiling import Spoil, case, good, last, product, put, take

SILENT = Telemetry(begun=0.0, step=1.0, series={}, held_back={}, launches=[], unknown={}, cost=0.0)
"""No readings."""
CARD = "environment.accelerators.0"


def all_samples(factor: float) -> Spoil:
    """Multiply everything that was timed."""
    return lambda run: [take(one, factor) for one in run.benchmarks]


def at(place: str, **values: object) -> Spoil:
    """Set fields of what a path leads to, as `judging.put` has it."""

    def spoil(run: Run) -> None:
        for name, value in values.items():
            judging.put(run.frobench, f"{place}.{name}", value)

    return spoil


def of_check(**facts: Any) -> Spoil:  # noqa: ANN401 - of a check
    known: dict[str, Any] = {"error": 1e-6, "bound": 1e-5, "precision": "float32"}
    return of_info(check=Check("C", **known | facts))


def of_info(**values: object) -> Spoil:
    return lambda run: put(product(run).extra_info, **values)


def of_parts(function: str = "", **parts: float) -> Spoil:
    return lambda run: _one(run, function).extra_info.parts.update(
        {name: [value] * 6 for name, value in parts.items()}
    )


def of_work(function: str = "", device: str = "cuda:0", **amounts: float) -> Spoil:
    def spoil(run: Run) -> None:
        info = _one(run, function, device=device).extra_info
        info.work = replace(info.work, **amounts)

    return spoil


def lasting(seconds: float, function: str = "", **params: Any) -> Spoil:  # noqa: ANN401 - of a case
    """Let a product, or a case of another benchmark, take so many seconds."""
    return lambda run: last(run, seconds, _one(run, function, **params))


def _one(run: Run, function: str, **params: Any) -> Case:  # noqa: ANN401 - of a case
    return case(run, function, **params) if function else product(run, **params)


def resting(watts: float) -> Spoil:
    """Let a device have drawn so many watts at rest."""
    told = replace(SILENT, idle_watts={"cuda:0": watts})
    return lambda run: put(run.frobench, telemetry=told)


def drawing(watts: float) -> Spoil:
    """Let a product have cost energy."""

    def spoil(run: Run) -> None:
        resting(76.4)(run)
        seconds, launches = product(run).stats.median, len(run.frobench.launches)
        powers = [watts * (1 - launch / 1e3) for launch in range(launches)]
        energy = Energy(joules=[power * seconds for power in powers], seconds=[seconds] * launches)
        product(run).extra_info.energy = energy

    return spoil


def _computed_when_read(run: Run) -> None:
    for launch in run.frobench.launches:
        launch.ready_reading = {"cuda:0": 2e-5, "cuda:1": 2e-5}
    last(run, 2e-3, product(run, 4096))
    product(run, 4096).extra_info.parts = {"enqueue": [1e-5] * 6, "reading": [0.02] * 6}


def dated(run: Run, when: str) -> None:
    """Give a run another date, and all that follows from it."""
    began = datetime.fromisoformat(when)
    run.datetime, run.frobench.run = when, f"{began:%Y%m%dT%H%M%SZ}-0a1b2c3"
    for number, one in enumerate(run.frobench.launches):
        one.started = (began + timedelta(seconds=60 + 40 * number)).isoformat()


def _passed(run: Run) -> None:
    name = "benchmarks/bench_copies.py::bench_within[cpu-4]"
    run.frobench.outcomes.append(Outcome(fullname=name, group="copies", params={}, status="passed"))


def _in_an_older_slot(run: Run) -> None:
    put(run.frobench.environment.accelerators[0], pcie_generation_max=4)
    last(run, 4**13 / 5e10, case(run, "bench_to_device", size=4**13))


Facts = dict[str, object]


def alone_on(facts: Facts, seconds: float, choose: Callable[[Run], Case]) -> Spoil:
    """Let a case be the only one of a run whose accelerators are others."""

    def spoil(run: Run) -> None:
        told, one = run.frobench.environment, choose(run)
        for place, device in enumerate(told.accelerators):
            put(device, **facts)
            unknown = [name for name, value in facts.items() if value is None]
            told.unknown |= {f"accelerators.{place}.{name}": "it is not told" for name in unknown}
        judging.of_its_name(told)
        judging.keep(run, lambda other: other is one)
        last(run, seconds, one)

    return spoil


def multiplied(facts: Facts, rate: float) -> Spoil:
    """Let a float32 product run at so many FLOP/s on another device."""
    return alone_on(facts, 2.0 * 16384**3 / rate, product)


def _copied(run: Run) -> Case:
    """Return a copy within a device that reads and writes 380 MB."""
    one = case(run, "bench_within", device="cuda:0")
    name_again(run, one, size=380_000_000)
    one.extra_info.work = replace(one.extra_info.work, bytes=7.6e8)
    return one


STRANGE: Facts = {"name": "Another", "capability": None, "multiprocessors": None}
"""A device that tells nothing of itself."""
SMALL_CACHE: Facts = {"name": "NVIDIA GeForce RTX 2070 SUPER", "capability": "7.5"}
SMALL_CACHE |= {"memory_bytes": 8 * 2**30, "multiprocessors": 40}
"""A device with 4 MiB of cache and a memory of 448 GB/s."""


def of_field(name: str, number: str) -> Callable[[str], str]:
    """Give a field another number."""
    return lambda text: re.sub(rf'"{name}": [0-9.]+', f'"{name}": {number}', text, count=1)


OF_RUNS: dict[str, tuple[str, Spoil]] = {
    "all seconds in milliseconds": ("samples-beyond-launch", all_samples(1e3)),
    "a case's milliseconds as seconds": ("launch-beyond-run", lasting(170.0)),
    "a product at four times the best card's": ("above-peak", multiplied(STRANGE, 4.1 * 163.4e12)),
    "four times the peak": ("above-peak", lasting(2 * 16384**3 / 4e15, dtype="bfloat16")),
    "bytes times 1000": ("above-memory", of_work("bench_within", device="cpu", bytes=2e3 * 4**13)),
    "a copy between devices above the link": ("above-link", lasting(4**13 / 6e11, "bench_between")),
    "two devices three times as fast as one": (
        "above-one",
        lambda run: last(
            run, case(run, "bench_sequence").stats.median / 3, case(run, "bench_two_at_once")
        ),
    ),
    "joules below zero": ("out-of-bounds", drawing(-5.0)),
    "a gauge below zero": ("out-of-bounds", at("launches.1", gauge={"cpu/python": -1e-4})),
    "joules in millijoules": ("impossible-energy", drawing(500e3)),
    "queueing in milliseconds": ("impossible-part", of_parts("bench_within", enqueue=2.0)),
    "TF32 as float32, by its error": ("other-precision", of_check(precision="tfloat32")),
    "a control whose parts overlap": (
        "overlap-in-turn",
        of_parts("bench_two_at_once", shared_in_turn=1.0),
    ),
    "devices that work for longer than the host waits": ("unsynchronised", of_parts(span=0.9)),
    "events that miss the work": ("events-miss-work", of_parts(enqueue=1e-5, span=1e-3)),
    "a result that is computed when it is read": ("result-not-ready", _computed_when_read),
    "a result from an earlier call": ("no-work", lasting(6e-6, n=256)),
    "tensors left on the host": ("idle-device", of_info(idle_devices=["cuda:0"])),
    "cold caches that were not emptied": ("warm-cache", of_info(flushed_bytes=0)),
    "a better median": ("statistics-differ", lambda run: put(product(run).stats, median=0.1)),
    "one sample of the other version": ("sample-count", of_info(against=[1.0])),
    "a sample taken out": ("sample-count", lambda run: product(run).stats.data.pop()),
    "energy of one launch": ("launch-count", of_info(energy=Energy(joules=[1.0], seconds=[1.0]))),
    "a launch taken out": ("launch-count", lambda run: run.frobench.launches.pop()),
    "an error above its bound": ("unchecked-pass", of_check(error=0.1)),
    "no first device": ("missing-device", lambda run: run.frobench.environment.accelerators.pop(0)),
    "an early date": ("impossible-date", lambda run: dated(run, "2025-12-30T23:00:00+00:00")),
    "a date that is no date": ("impossible-date", lambda run: put(run, datetime=9 * "Monday")),
    "another device in the name": ("other-parameters", of_info(devices=["cuda:1"])),
    "two cases of one name": (
        "repeated-name",
        lambda run: put(run.benchmarks[0], fullname=run.benchmarks[1].fullname),
    ),
    "a case without samples": ("outcome-missing", _passed),
    "a case without an outcome": ("outcome-missing", lambda run: run.frobench.outcomes.pop()),
    "a case left out": ("outcome-missing", at("outcomes.0", status="skipped", reason="too long")),
    "a failure by nothing": ("reason-missing", at("outcomes.0", status="failed", reason=None)),
    "an unknown exercise": ("exercise-missing", lambda run: put(product(run), group="fame")),
    "a folder of somebody's": ("personal-data", of_info(title="/home/ada/bench.py")),
    "somebody's branch": ("branch-name", lambda run: put(run.commit_info, branch="ada/faster")),
    "a host's name": ("host-name", lambda run: run.machine_info.update(node="lovelace")),
}
"""What is done to the good run, with the code that refuses it."""

OF_TEXTS: dict[str, tuple[str, Callable[[str], str]]] = {
    "a field more": ("digest-differs", lambda text: text.replace('"seed"', '"speed": 0, "seed"')),
    "a name twice": ("unreadable", lambda text: text.replace('"seed"', '"seed": 0, "seed"')),
    "one digit changed": ("digest-differs", lambda text: text.replace('"seed": 0', '"seed": 1')),
    "cut off": ("unreadable", lambda text: text[: len(text) // 2]),
    "a newer schema": ("unreadable", lambda text: text.replace('"schema": 1', '"schema": 99')),
    "seconds beyond all numbers": ("unreadable", of_field("deadline", "1e308")),
    "an integer that no double holds": ("unreadable", of_field("pcie_width", str(10**400))),
}
"""What is done to the good file, with the code that refuses it."""

DOUBTED: dict[str, tuple[str, Spoil]] = {
    "a product a little above the peak": ("near-peak", lasting(2 * 16384**3 / 8e13)),
    "a device's own clock that is too slow": ("near-peak", of_parts(device=2 * 16384**3 / 8e13)),
    "a product above the best card's": ("near-peak", multiplied(STRANGE, 1.2 * 163.4e12)),
    "a copy above the memory's rate": (
        "faster-than-memory",
        alone_on(SMALL_CACHE, 7.6e8 / (1.15 * 448e9), _copied),
    ),
    "a copy above the stated link": ("faster-than-link", _in_an_older_slot),
    "a device of another size": ("other-model", at(CARD, multiprocessors=114)),
}
"""What is done to the good run, with the code that warns of it: an honest machine can be so."""


def write(folder: Path) -> dict[Path, str]:
    """Write all bad files; return the code that must refuse each."""
    folder.mkdir(parents=True, exist_ok=True)
    sound = store.encode(good()).decode()
    texts = {name: change(sound) for name, (_, change) in OF_TEXTS.items()}
    for name, (_, spoil) in OF_RUNS.items():
        run = good()
        spoil(run)
        texts[name] = store.encode(run).decode()
    codes = {}
    for name, text in texts.items():
        path = folder / f"{name.replace(' ', '-')}.json"
        path.write_text(text, encoding="utf-8")
        codes[path] = OF_RUNS[name][0] if name in OF_RUNS else OF_TEXTS[name][0]
    return codes
