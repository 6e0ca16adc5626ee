# SPDX-License-Identifier: MIT
"""Files that no honest run writes, made from a good one, with the code that must name each.

Whoever changes a number by hand can make the digest anew, and the statistics with it: so does this,
except where that is what is wrong. `python -m tests.instruments.faults.bad_files FOLDER` writes all
files.
"""

import re
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Energy, Outcome, Run, Telemetry, Work
from tests.instruments.faults import other_devices
from tests.instruments.faults.judging import add_up, samples, set_samples
from tests.instruments.faults.spoiling import (
    Spoil,
    case,
    check,
    good,
    last,
    product,
    put,
    sense,
    take,
    work,
)


def all_samples(factor: float) -> Spoil:
    """Multiply everything that was timed."""
    return lambda run: [take(one, factor) for one in run.benchmarks]


def of_launch(place: int, **values: object) -> Spoil:
    return lambda run: put(run.frobench.launches[place], **values)


def of_device(**values: object) -> Spoil:
    return lambda run: put(run.frobench.environment.accelerators[0], **values)


def of_cpu(**values: object) -> Spoil:
    return lambda run: put(run.frobench.environment.cpu, **values)


def _telemetry(run: Run, rest: dict[str, float]) -> None:
    """Let devices have drawn so many watts at rest."""
    run.frobench.telemetry = Telemetry(
        begun=0.0,
        step=1.0,
        series={},
        held_back={},
        launches=[],
        unknown={},
        cost=0.0,
        idle_watts=rest,
    )


def _drawing(run: Run, watts: float, later: float = 1.0) -> None:
    """Let a product have cost energy, in time that is told `later` times as long as it was."""
    one = product(run)
    _telemetry(run, {"cuda:0": 76.4})
    seconds, launches = one.stats.median, len(run.frobench.launches)
    one.extra_info.energy = Energy(
        joules=[watts * seconds] * launches, seconds=[later * seconds] * launches
    )


def of_software(**values: object) -> Spoil:
    return lambda run: put(run.frobench.environment.software, **values)


def of_check(**facts: object) -> Spoil:
    return lambda run: check(product(run), **facts)


def of_info(**values: object) -> Spoil:
    return lambda run: put(product(run).extra_info, **values)


def of_parts(function: str = "", **parts: float) -> Spoil:
    return lambda run: (case(run, function) if function else product(run)).extra_info.parts.update(
        {name: [value] * 6 for name, value in parts.items()}
    )


def _without_the_slowest(run: Run) -> None:
    one = product(run)
    by_launch = samples(one)
    slowest = max(range(6), key=lambda n: min(by_launch[n]))
    set_samples(one, [[] if n == slowest else launch for n, launch in enumerate(by_launch)])
    add_up(run)


def _computed_when_read(run: Run) -> None:
    for launch in run.frobench.launches:
        launch.ready_reading = {"cuda:0": 2e-5, "cuda:1": 2e-5}
    last(run, 2e-3, product(run, 4096))
    product(run, 4096).extra_info.parts = {"enqueue": [1e-5] * 6, "reading": [0.02] * 6}


def _by_another_name(run: Run, one: Case, name: str) -> None:
    [outcome] = [outcome for outcome in run.frobench.outcomes if outcome.fullname == one.fullname]
    function = one.name.partition("[")[0]
    one.name, one.fullname = (text.replace(function, name) for text in (one.name, one.fullname))
    outcome.fullname = one.fullname


def _uploaded(run: Run) -> None:
    one = case(run, "bench_to_device", size=4**13)
    _by_another_name(run, one, "bench_upload")
    one.extra_info.work = Work(bytes=float(4**13), path="host")
    last(run, 4**13 / 5e11, one)


def _controlled(run: Run) -> None:
    one = case(run, "bench_in_turn")
    _by_another_name(run, one, "bench_one_by_one")
    one.extra_info.control = True
    one.extra_info.parts.update(overlap=[0.5] * 6)


def of_calls(one: Case, factor: int) -> None:
    one.extra_info.iterations = [factor * calls for calls in one.extra_info.iterations]


def dated(run: Run, when: str) -> None:
    """Give a run another date, and all that follows from it."""
    began = datetime.fromisoformat(when)
    run.datetime, run.frobench.run = when, f"{began:%Y%m%dT%H%M%SZ}-0a1b2c3"
    for number, one in enumerate(run.frobench.launches):
        one.started = (began + timedelta(seconds=60 + 40 * number)).isoformat()


def _renamed(run: Run) -> None:
    run.benchmarks[0].fullname = run.benchmarks[1].fullname


def _stopped(run: Run) -> None:
    one = product(run)
    one.extra_info.against = [-1.0, *one.stats.data[1:]]


def _skipped(run: Run) -> None:
    put(run.frobench.outcomes[0], status="skipped", reason="too long")


def _failed(run: Run) -> None:
    one = run.frobench.outcomes[0]
    one.status, one.reason = "failed", None


def _passed(run: Run) -> None:
    name = "benchmarks/bench_copies.py::bench_within[cpu-4]"
    run.frobench.outcomes.append(Outcome(fullname=name, group="copies", params={}, status="passed"))


def _in_an_older_slot(run: Run, rate: float) -> None:
    put(run.frobench.environment.accelerators[0], pcie_generation_max=4)
    last(run, 4**13 / rate, case(run, "bench_to_device", size=4**13))


def _in_an_older_file(run: Run) -> None:
    _in_an_older_slot(run, 5e10)
    for one in run.benchmarks:  # no benchmark declared what its bytes go through
        one.extra_info.work = replace(one.extra_info.work, path=None)


OF_RUNS: dict[str, tuple[str, Spoil]] = {
    # Units
    "all seconds in milliseconds": ("samples-beyond-launch", all_samples(1e3)),
    "all seconds in microseconds": ("samples-beyond-launch", all_samples(1e6)),
    "one case in milliseconds": ("samples-beyond-launch", lambda run: take(product(run), 1e3)),
    "a case's milliseconds as seconds": (
        "launch-beyond-run",
        lambda run: last(run, 170.0, product(run)),
    ),
    "seconds divided by a thousand": ("above-peak", lambda run: last(run, 1.7e-4, product(run))),
    "seconds of the CPU divided by a thousand": (
        "above-peak",
        lambda run: last(run, 1.4e-5 / 1e3, product(run, 256, device="cpu")),
    ),
    "work in a thousandth of its unit": (
        "above-peak",
        lambda run: work(product(run), flops=2e3 * 16384**3),
    ),
    "bytes a thousandfold": (
        "above-memory",
        lambda run: work(case(run, "bench_within", device="cpu"), bytes=2e3 * 4**13),
    ),
    "launches in milliseconds": (
        "launch-beyond-run",
        lambda run: [put(one, seconds=31.5e3) for one in run.frobench.launches],
    ),
    "the run in hours": ("launch-beyond-run", lambda run: put(run.frobench, seconds=0.07)),
    "the clock's steps in nanoseconds": ("out-of-bounds", of_launch(2, timer_step=31.0)),
    "an empty body in microseconds": (
        "out-of-bounds",
        of_launch(0, empty_body={"cpu": 0.1, "cuda:0": 61.0}),
    ),
    "memory of the machine in KiB": ("out-of-bounds", of_cpu(memory_bytes=16 * 2**20)),
    "memory of a device in MiB": ("out-of-bounds", of_device(memory_bytes=143771)),
    "a device's clock in MHz": ("out-of-bounds", of_device(max_clock_hz=1980.0)),
    "a power limit in milliwatts": ("out-of-bounds", of_device(power_limit_watts=7e5)),
    "a sensor's clock in MHz": (
        "out-of-bounds",
        lambda run: sense(product(run), "sm_clock_hz", 1e15, 1.98e15, 1.98e15),
    ),
    "joules in millijoules": ("impossible-energy", lambda run: _drawing(run, 500e3)),
    "joules in kilojoules": ("impossible-energy", lambda run: _drawing(run, 0.5)),
    "joules below zero": ("out-of-bounds", lambda run: _drawing(run, -5.0)),
    "power at rest in milliwatts": (
        "out-of-bounds",
        lambda run: _telemetry(run, {"cuda:0": 76.4e3}),
    ),
    "energy of other launches": (
        "launch-count",
        lambda run: put(product(run).extra_info, energy=Energy(joules=[1.0], seconds=[1.0])),
    ),
    # Faster than can be
    "a product that was not waited for": (
        "above-peak",
        lambda run: last(run, 8e-6, product(run, 4096)),
    ),
    "TF32 as float32, by its rate": (
        "above-peak",
        lambda run: last(run, 2 * 16384**3 / 373e12, product(run)),
    ),
    "TF32 as float32, by its error": ("other-precision", of_check(precision="tfloat32")),
    "bfloat16 as float32, by its error": ("other-precision", of_check(precision="bfloat16")),
    "a product of four times the peak": (
        "above-peak",
        lambda run: last(run, 2 * 16384**3 / 4e15, product(run, dtype="bfloat16")),
    ),
    "a copy above the link": (
        "above-link",
        lambda run: last(run, 4**13 / 5e11, case(run, "bench_to_device", size=4**13)),
    ),
    "a copy above the link by any name": ("above-link", _uploaded),
    "overlap of a control by any name": ("overlap-in-turn", _controlled),
    "a copy between devices above their link": (
        "above-link",
        lambda run: last(run, 4**13 / 6e11, case(run, "bench_between")),
    ),
    "a copy within the device above its memory": (
        "above-memory",
        lambda run: last(run, 4**13 / 1e15, case(run, "bench_within", device="cuda:0")),
    ),
    "two devices three times as fast as one": (
        "above-one",
        lambda run: last(
            run, case(run, "bench_sequence").stats.median / 3, case(run, "bench_two_at_once")
        ),
    ),
    "devices that work for longer than the host waits": ("unsynchronised", of_parts(span=0.9)),
    "events that miss the work": ("events-miss-work", of_parts(enqueue=1e-5, span=1e-3)),
    "a result that is computed when it is read": ("result-not-ready", _computed_when_read),
    "overlap of what works in turn": (
        "overlap-in-turn",
        lambda run: case(run, "bench_in_turn").extra_info.parts.update(overlap=[0.5] * 6),
    ),
    "a control in turn whose lanes overlap": (
        "overlap-in-turn",
        of_parts("bench_two_at_once", shared_in_turn=1.0),
    ),
    "a result from an earlier call": ("no-work", lambda run: last(run, 6e-6, product(run, 256))),
    "tensors left on the host": ("idle-device", of_info(idle_devices=["cuda:0"])),
    "cold caches that nobody emptied": ("warm-cache", of_info(flushed_bytes=0)),
    **other_devices.REFUSED,
    # Changed samples
    "a sample of no time": (
        "out-of-bounds",
        lambda run: set_samples(product(run), [[0.0, 0.1, 0.1]] * 6),
    ),
    "a sample below zero": (
        "out-of-bounds",
        lambda run: set_samples(product(run), [[-0.17, 0.1, 0.1]] * 6),
    ),
    "a better median": ("statistics-differ", lambda run: put(product(run).stats, median=0.1)),
    "a better sample": (
        "statistics-differ",
        lambda run: product(run).stats.data.__setitem__(0, 0.1),
    ),
    "one sample of the other version": ("sample-count", of_info(against=[1.0])),
    "another version below zero": ("out-of-bounds", _stopped),
    "a launch taken out of a part": (
        "launch-count",
        lambda run: product(run).extra_info.parts["enqueue"].pop(),
    ),
    "a sample taken out": ("sample-count", lambda run: product(run).stats.data.pop()),
    "a launch taken out": ("launch-count", lambda run: run.frobench.launches.pop()),
    "a warm-up below zero": ("out-of-bounds", of_info(warmup=[-1.0] * 6)),
    "a launch below zero": ("out-of-bounds", of_launch(1, seconds=-3.0)),
    "a ready value in microseconds": (
        "out-of-bounds",
        of_launch(1, ready_reading={"cuda:0": 25.0}),
    ),
    "a gauge below zero": ("out-of-bounds", of_launch(1, gauge={"cpu/python": -1e-4})),
    "cores of others below zero": ("out-of-bounds", of_launch(1, others=-0.5)),
    "cores of the runner below zero": ("out-of-bounds", of_launch(1, runner_cores=-0.5)),
    "a body that returns before it begins": ("out-of-bounds", of_parts(enqueue=-1e-5)),
    "queueing in milliseconds": ("impossible-part", of_parts(enqueue=5.0)),
    "device time of nothing": ("out-of-bounds", of_parts(device=0.0)),
    "device time in milliseconds": ("impossible-part", of_parts(device=173.0)),
    "a sustained call of nothing": ("out-of-bounds", of_parts(sustained=0.0)),
    "a sustained call of three samples": ("impossible-part", of_parts(sustained=0.7)),
    "overlap of more than all": ("out-of-bounds", of_parts(overlap=1.7)),
    "concurrency of more than all": ("out-of-bounds", of_parts(concurrency=1.7)),
    "no calls in a sample": ("sample-count", of_info(iterations=[0] * 6)),
    "work below zero": ("out-of-bounds", lambda run: work(product(run), bytes=-1.0)),
    # Checks
    "an error above its bound": ("unchecked-pass", of_check(error=0.1)),
    "an error below zero": ("out-of-bounds", of_check(error=-1e-7)),
    "a bound that lets all pass": ("out-of-bounds", of_check(error=0.5, bound=1e6)),
    # The machine
    "a device taken out": (
        "missing-device",
        lambda run: run.frobench.environment.accelerators.pop(0),
    ),
    "no threads": ("out-of-bounds", of_software(threads=0)),
    "a cache larger than memory": (
        "out-of-bounds",
        of_cpu(last_level_cache_bytes=2**36),
    ),
    # Numbers that nobody measured
    "ten times the calls": (
        "samples-beyond-launch",
        lambda run: of_calls(product(run, 256, device="cpu"), 2000),
    ),
    # Where it comes from
    "a date before Frobench": (
        "impossible-date",
        lambda run: dated(run, "2020-01-01T12:00:00+00:00"),
    ),
    "a date in the future": (
        "impossible-date",
        lambda run: dated(run, "2099-01-01T12:00:00+00:00"),
    ),
    "a date that is none": (
        "impossible-date",
        lambda run: setattr(run, "datetime", "last Tuesday"),
    ),
    # One thing said twice
    "another device in the name": ("other-parameters", of_info(devices=["cuda:1"])),
    "two cases of one name": ("repeated-name", _renamed),
    "a case without samples": ("outcome-missing", _passed),
    "a case without an outcome": ("outcome-missing", lambda run: run.frobench.outcomes.pop()),
    "a case that was left out and has samples": ("outcome-missing", _skipped),
    "two outcomes of one name": (
        "repeated-name",
        lambda run: run.frobench.outcomes.append(run.frobench.outcomes[0]),
    ),
    "a failure without a reason": ("reason-missing", _failed),
    "an exercise that is not there": (
        "exercise-missing",
        lambda run: put(product(run), group="fame"),
    ),
    # What is never stored
    "a folder of somebody's": (
        "personal-data",
        lambda run: put(product(run).extra_info, title="/home/ada/bench.py"),
    ),
    "a branch called after somebody": (
        "branch-name",
        lambda run: setattr(run.commit_info, "branch", "ada/faster"),
    ),
    "a host's name": ("host-name", lambda run: run.machine_info.update(node="lovelace")),
}
"""What is done to the good run, with the code that refuses it."""

OF_TEXTS: dict[str, tuple[str, Callable[[str], str]]] = {
    "a field more": (
        "digest-differs",
        lambda text: text.replace('"seed": 0', '"speed": 0, "seed": 0'),
    ),
    "one digit changed": ("digest-differs", lambda text: text.replace('"seed": 0', '"seed": 1')),
    "cut off": ("unreadable", lambda text: text[: len(text) // 2]),
    "a newer schema": ("unreadable", lambda text: text.replace('"schema": 1', '"schema": 99')),
    "seconds beyond all numbers": (
        "unreadable",
        lambda text: re.sub(r'"deadline": [0-9.]+', '"deadline": 1e308', text),
    ),
    "a million million million cores": (
        "unreadable",
        lambda text: re.sub(r'"logical_cores": \d+', f'"logical_cores": {10**18}', text),
    ),
    "an integer that no double holds": (
        "unreadable",
        lambda text: re.sub(r'"pcie_width": \d+', f'"pcie_width": {10**400}', text, count=1),
    ),
    "a sample that is no number": (
        "unreadable",
        lambda text: text.replace('"data": [', '"data": [NaN,', 1),
    ),
}
"""What is done to the good file, with the code that refuses it."""

DOUBTED: dict[str, tuple[str, Spoil]] = {
    "a product a little above the peak": (
        "near-peak",
        lambda run: last(run, 2 * 16384**3 / 8e13, product(run)),
    ),
    "a device's own clock that is a third too slow": (
        "near-peak",
        lambda run: product(run).extra_info.parts.update(device=[2 * 16384**3 / 8e13] * 6),
    ),
    **other_devices.DOUBTED,
    "a copy above the stated link": (
        "faster-than-link",
        lambda run: _in_an_older_slot(run, 5e10),
    ),
    "a copy above the stated link, in an older file": ("faster-than-link", _in_an_older_file),
    "a launch of one case taken out": ("missing-launch", _without_the_slowest),
    "one thread on two cores": ("few-threads", of_software(threads=1)),
    "a device of another size": ("other-model", of_device(multiprocessors=114)),
    "inputs of ones": ("plain-inputs", of_info(commonest=1.0)),
    "a clock of tenths of a millisecond": ("coarse-clock", of_launch(0, timer_step=1e-4)),
    "a harness that takes a third of a sample": (
        "costly-harness",
        lambda run: [put(one, empty_body={"cpu": 1e-4}) for one in run.frobench.launches],
    ),
}
"""What is done to the good run, with the code that warns of it: an honest machine can be so."""


def write(folder: Path) -> dict[Path, str]:
    """Write all bad files; return the code that must refuse each."""
    folder.mkdir(parents=True, exist_ok=True)
    made_here: dict[Path, str] = {}
    for name, (code, spoil) in OF_RUNS.items():
        run = good()
        spoil(run)
        path = folder / f"{name.replace(' ', '-')}.json"
        path.write_bytes(store.encode(run))
        made_here[path] = code
    sound = store.encode(good()).decode()
    for name, (code, change) in OF_TEXTS.items():
        path = folder / f"{name.replace(' ', '-')}.json"
        path.write_text(change(sound), encoding="utf-8")
        made_here[path] = code
    return made_here


if __name__ == "__main__":
    for written, refused_by in write(Path(sys.argv[1])).items():
        print(f"{written}: {refused_by}")  # noqa: T201 - it is what it is for
