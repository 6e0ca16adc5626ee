# SPDX-License-Identifier: MIT
"""What each rule names in a run, and its nearest neighbours that are honest.

A row has the rule's code, what makes runs, what it is given for a run that is spoilt, the message,
and what it is given for honest runs. An empty message stands for any, no spoilt run for none.
"""

import math
import sys
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from frobench.suite import checks
from frobench.suite.checks.drift import find_drift
from frobench.suite.stored import types
from frobench.suite.stored.types import Case, Check, Outcome, Run, Scalar, Work
from tests.instruments.faults import bad_files, judging
from tests.instruments.faults.bad_files import at, drawing, of_parts
from tests.instruments.faults.judging import keep, made, name_again, said, samples, set_samples
from tests.instruments.faults.spoiling import Spoil, good, product

MIB = 2**20
Given = dict[str, Any]


Make = Callable[..., Run]


def row(code: str, make: Make, spoilt: Given | None, message: str, *honest: Given) -> Any:  # noqa: ANN401 - of pytest's own
    return pytest.param(code, make, spoilt, message, honest, id=code)


def change(run: Run, case: Case, given: Given) -> Run:
    """Give a case parts, parameters, samples of each launch and other facts; launches theirs."""
    info, launches = case.extra_info, len(run.frobench.launches)
    for name, value in given.items():
        if name == "params":
            case.params = case.params | value
            name_again(run, case)
        elif name == "samples":
            set_samples(case, [value] * launches)
        elif name == "launch":
            for number, launch in enumerate(run.frobench.launches):
                for fact, known in value(number).items():
                    setattr(launch, fact, known)
        elif hasattr(info, name):
            setattr(info, name, deepcopy(value))
        else:
            info.parts[name] = value if isinstance(value, list) else [value] * launches
    return run


def gpu(number: int = 1, launches: int = 6, **given: Any) -> Run:  # noqa: ANN401 - any fact
    """Return a run of a case that keeps so many accelerators busy for 4 ms."""
    return change(*judging.on_accelerators(number, launches), given)


def cpu(memory: int | None = 32 * MIB, **given: Any) -> Run:  # noqa: ANN401 - as above
    """Return a run of a case on a CPU on which an empty body takes 94 ns.

    memory : of the last cache, if it is known
    """
    run = made(launches=6)
    name = run.benchmarks[0].name
    keep(run, lambda case: case.name == name)
    run.frobench.environment.cpu.last_level_cache_bytes = memory
    return change(run, run.benchmarks[0], given)


def halves(function: str, **given: Any) -> Run:  # noqa: ANN401 - as above
    """Return a run of a case on two halves of the CPU."""
    run = made()
    (name, *_) = (case.name for case in run.benchmarks if function in case.name)
    keep(run, lambda case: case.name == name)
    if given.pop("as_samples", False):
        given["span"] = [2 * max(one) for one in samples(run.benchmarks[0])]
    return change(run, run.benchmarks[0], given)


def shaken(factor: Callable[[int], float], cases: int | None = None, **wanted: Any) -> Run:  # noqa: ANN401 - what the factory takes
    """Return a quiet run whose launches take so many times as long."""
    return judging.resample(made(**{"noise": 0.001} | wanted), factor, cases)


def edited(on: str = "", **given: Any) -> Run:  # noqa: ANN401 - as below
    """Return a run with other facts, by the paths to them.

    on : device whose cases are left, of a run with an accelerator unless it is the CPU
    """
    run = made(accelerators=int(on == "cuda:0"))
    for path, value in given.items():
        where = "environment." if path.startswith(("cpu.", "software.")) else ""
        judging.put(run.frobench, f"{where}{path}", deepcopy(value))
    keep(run, lambda case: case.extra_info.device == on or not on)
    return run


def held_back(parts: dict[str, float], watts: float | None = None, use: float | None = None) -> Run:
    """Return a run on a device that may draw 700 W, and was held back in parts of its readings."""
    values = {"power_watts": (100.0, 110.0, watts)} if watts else {}
    values |= {"utilization": (0.0, use, 1.0)} if use else {}
    run = gpu(telemetry={"cuda:0": types.Sensed(readings=40, values=values, held_back=parts)})
    run.frobench.environment.accelerators[0].power_limit_watts = 700.0
    return run


def clock(step: float, calls: int | None = None, seconds: float | None = None) -> Run:
    """Return a run whose fourth launch has such a clock: a step, or a part of a sample."""
    run = made()
    if seconds:
        for case in run.benchmarks:
            set_samples(case, [[seconds] * 3] * 8)
    case = run.benchmarks[0]
    unit = case.stats.median * case.extra_info.iterations[3] if calls else 1.0
    for launch in run.frobench.launches[3 : 4 if step else None]:
        launch.timer_step = step * unit
    return run


def failed(check: Check | None, **params: Scalar) -> Run:
    """Return a run that has one failure, by a check unless it is of another kind."""
    run = made()
    run.frobench.outcomes = [one for one in run.frobench.outcomes if one.status != "failed"]
    outcome = Outcome(fullname="x", group="matmul", params=params, status="failed", reason="why")
    if check:
        outcome.check = check
    run.frobench.outcomes.append(outcome)
    return run


def entry(error: float, precision: str = "float32") -> Check:
    return Check("every entry", error, 2.8e-6, precision)


def bad(spoil: Spoil, launches: int = 6) -> Run:
    """Return the good run, made bad."""
    run = good(launches)
    spoil(run)
    return run


def empty(run: Run) -> None:
    case = product(run)
    case.stats.data, case.stats.rounds, case.extra_info.launches = [], 0, [0] * 6


def dear(number: int) -> Given:
    return {"empty_body": {"cuda:0": 2.1e-5 + number * 1e-8}}


def ready(seconds: float) -> Callable[[int], Given]:
    return lambda _: {"ready_reading": {"cuda:0": seconds}}


THRICE = bad_files.OF_RUNS["two devices three times as fast as one"][1]
CAPPED: Given = {"parts": {"SwPowerCap": 0.9}}
COARSE: Callable[[int], Given] = lambda _: {"timer_step": 1e-5}  # noqa: E731 - as short as can be
UNKNOWN: Callable[[int], Given] = lambda _: {"empty_body": {}}  # noqa: E731
WAITING: Callable[[int], Given] = lambda _: {"empty_body": {"cuda:0": 2e-3}}  # noqa: E731
SINGLE: Given = {"iterations": [1] * 6}
EIGHT: Given = {"devices": [f"cuda:{n}" for n in range(8)], "params": {}, "samples": [6.4e-5] * 4}
IDLE: Given = {"parts": {}, "work": Work(flops=1e9)}
OFTEN: Given = IDLE | {"iterations": [20] * 6}
DEAR: Given = {"launch": dear, "samples": [2.4e-5, 2.5e-5, 2.6e-5], "parts": {}}
READ: Given = SINGLE | {"flushed_bytes": 64 * MIB}
COLD: Given = {"params": {"cache": "cold"}}
TURNED: Given = {"function": "in_turn"}
AT_ONCE: Given = {"function": "two_at_once", "shareable": 1e-3, "concurrency": 0.0}
FEW = [0.0, 0.0, 0.0, 0.3, *[0.0] * 4]
SHAKEN: Given = {"factor": lambda launch: 9 ** (launch % 2), "cases": 1}
RUNNER = "launches.4.runner_cores"
NARROW = "computed in {} where float32 was asked: every entry"
LATE: Given = {"reading": [2e-3] * 5 + [2e-5], "launch": ready(2e-5)}
NOTHING_READ = "nothing was read over the caches between the samples"
MORE, PEAK = "where {} is more than", "H200 SXM can do in bfloat16"
IN_TURN = "overlap of {} where there can be none"
MANY: dict[str, Scalar] = {f"software.flags.{name}": "on" for name in "abcd"}
SHOWN = ", ".join(f"{fact} is on" for fact in [*MANY][:3])
COSTLY = types.Telemetry(
    begun=0.0, step=1.0, series={}, held_back={}, launches=[], unknown={}, cost=0.01
)
COUNT, PRECISION = "software.threads", "launches.2.state.matmul precision"


def cores(usable: int, physical: int | None, logical: int) -> Given:
    counts = zip(("usable", "physical", "logical"), (usable, physical, logical), strict=True)
    return {"cpu.model": "AMD EPYC 9654"} | {f"cpu.{kind}_cores": count for kind, count in counts}


def meanwhile(changed: dict[str, Scalar]) -> Given:
    return {"launches.1.changed": changed, "launches.2.changed": changed}


SMT, PART, UNCOUNTED = cores(16, 8, 16), cores(4, 64, 128), cores(8, None, 8)
SMALL = cores(2, 2, 2)
STATES = {COUNT: 2} | {
    f"launches.{number}.state": {"threads": 2, "matmul precision": "highest", "affinity": "0,1"}
    for number in range(8)
}
TWO = [[0.1], [0.3], [], [], [], []]
JUMPS = [1.0, 1.05, 0.98, 1.03, 1.06, 1.0, 1.04, 1.05]
ROWS = [
    row(
        *("unsynchronised", gpu, {"span": 4.56e-3}),
        "the devices worked for 4.56 ms, the host waited 4 ms",
        {"span": 4.54e-3},  # a tenth more than the longest sample, and two events
        {"span": [9e-3] * 3 + [3.9e-3] * 3},  # a few launches were disturbed
        {"span": 9e-3, "samples": [4e-3, 4e-3, 9.1e-3]},  # a neighbour disturbs either kind
        {"span": 9e-3, "iterations": [3] * 6},  # a call's, where calls overlap
    ),
    row("unsynchronised", gpu, EIGHT | {"span": 8 * 49e-6}, "", EIGHT | {"span": 8 * 48.7e-6}),
    row("unsynchronised", halves, None, "", {"function": "in_turn", "as_samples": True}),
    row(
        *("events-miss-work", gpu, {"span": 1.7e-3}),
        "the host waited 3.9 ms, the events show 1.7 ms of work",
        {"span": 1.8e-3},
        {"span": 5e-5, "enqueue": 3.99e-3},  # it waits by itself
        {"span": 5e-5, "launch": WAITING},
        {"span": 5e-5, "launch": UNKNOWN},
        {"span": 1e-3, "enqueue": 1e-4, "samples": [1.15e-3, 5e-3, 5e-3, 5e-3]},
    ),
    row("overlap-in-turn", halves, TURNED | {"overlap": FEW}, IN_TURN.format("30%"), TURNED),
    row("overlap-in-turn", halves, TURNED | {"concurrency": FEW}, IN_TURN.format("30%")),
    row("overlap-in-turn", halves, AT_ONCE | {"control": True, "overlap": FEW}, ""),
    row(
        *("overlap-in-turn", halves, AT_ONCE | {"shared_in_turn": 1e-4}, IN_TURN.format("6%")),
        AT_ONCE | {"shared_in_turn": 0.9e-4},
    ),
    row(
        *("result-not-ready", gpu, LATE, "reading its result back takes 2 ms, a ready value 20 µs"),
        {"reading": 1.96e-3, "launch": ready(2e-5)},  # half of a sample is no missed work
        {"reading": 2.1e-4, "launch": ready(2e-5), "samples": [1e-4] * 4},  # the host woke up late
        LATE | {"reading": [2e-3] * 4 + [2e-5] * 2},
        {"reading": 2e-3},
    ),
    row(  # where reading is dear
        *("result-not-ready", gpu, {"reading": 8.1e-3, "launch": ready(2e-3)}, ""),
        {"reading": 7.9e-3, "launch": ready(2e-3)},
    ),
    row(
        *("result-not-ready", gpu, {"launches": 2, "launch": ready(2e-5), "reading": 7.9e-3}, ""),
        {"launches": 2, "launch": ready(2e-5), "reading": 7.8e-3},
    ),
    row("result-not-ready", gpu, {"launches": 3} | LATE | {"reading": 2e-3}, ""),
    row(
        *("idle-device", gpu, {"number": 2, "idle_devices": ["cuda:1"]}),
        *("nothing was allocated for it on cuda:1", {"number": 2}),
    ),
    row(
        *("plain-inputs", gpu, {"commonest": 0.96}, "96% of an input is one and the same value"),
        *({"commonest": 0.9}, {"commonest": None}),
    ),
    row(
        *("no-work", gpu, IDLE | {"samples": [6.2e-6] * 4}),
        "a call takes 6.2 µs, as if it did nothing",
        IDLE | {"samples": [8e-6] * 4},
        *(IDLE | {"work": work, "samples": [6.2e-6] * 4} for work in (Work(), Work(flops=0.0))),
    ),
    row("no-work", gpu, OFTEN | {"samples": [5.5e-7] * 4}, "", OFTEN | {"samples": [5.6e-7] * 4}),
    row("no-work", gpu, DEAR | {"enqueue": 1.9e-6}, "", DEAR | {"enqueue": 2.1e-6}),
    row("no-work", gpu, DEAR, ""),  # how long the body held the host is unknown
    row(
        *("no-work", gpu, {"work": Work(flops=1e9), "against": [6.2e-6] * 24}),
        "the other version: a call takes 6.2 µs, as if it did nothing",
        {"work": Work(flops=1e9), "against": [4e-3] * 24},
    ),
    row(
        *("no-work", cpu, {"iterations": [1000] * 6, "samples": [1.8e-7] * 4}, ""),
        {"iterations": [1000] * 6, "samples": [2e-7] * 4},
        {"samples": [1e-9] * 4, "launch": UNKNOWN},
    ),
    row("warm-cache", cpu, SINGLE | {"params": {"cache": "cold"}}, NOTHING_READ),
    row(
        "warm-cache", cpu, READ | {"flushed_bytes": 0}, NOTHING_READ, {"params": {"cache": "warm"}}
    ),
    row(
        *("warm-cache", cpu, READ | {"flushed_bytes": 63 * MIB}),
        *("63 MiB were read between the samples, not 64 MiB", READ, READ | {"memory": None}),
    ),
    row(
        *("warm-cache", cpu, READ | {"iterations": [1] * 5 + [2]}),
        "a sample holds 2 calls, so only the first is cold",
    ),
    row("warm-cache", gpu, COLD | {"flushed_bytes": None}, "", COLD | {"flushed_bytes": MIB}),
    row(
        *("noisy-case", shaken, {"factor": lambda launch: 1.2 ** (launch % 2), "cases": 1}),
        "launches differ by 14%, wide interval: 2.8 µs [2.6, 3.1]",
        {"factor": lambda launch: 1.08 ** (launch % 2)},
    ),
    row(
        *("noisy-case", shaken, SHAKEN | {"launches": 4}),
        *("launches differ 2-fold: 12.8 µs (no interval: 4 launches)", SHAKEN | {"launches": 3}),
    ),
    row(
        *("uneven-devices", gpu, {"number": 2, "balance": 0.69}),
        "the first device to be done takes 69% of the last one's time",
        *({"number": 2, "balance": 0.7}, {"balance": 0.5}),
        {"number": 2, "balance": 0.5, "span": 5e-4},
        {"number": 2, "balance": [0.3, 0.3, 0.8, 0.95, 0.9, None]},
    ),
    row("uneven-devices", halves, None, "", AT_ONCE | {"balance": 0.5, "span": 1e-2}),
    row(
        *("busy-runner", edited, {RUNNER: 0.031, "launches.4.seconds": 90.0}),
        "the runner used 0.03 cores in launch 5",
        {RUNNER: 0.021, "launches.4.seconds": 90.0},
        {RUNNER: 0.029, "launches.4.seconds": 31.5, "telemetry": COSTLY},
        {RUNNER: 0.06, "launches.4.seconds": 2.0},  # starting takes much of a short launch
    ),
    row(
        *("busy-machine", edited, {"launches.*.others": 0.3}, "other programs used 0.3 of 2 cores"),
        {"launches.*.others": 0.1},
    ),
    row(
        *("drift", shaken, {"factor": lambda launch: 1.01**launch}),
        "the last launches were 6.2% slower than the first",
        {"factor": lambda launch: 1.01**launch, "cases": 1},
        {"factor": JUMPS.__getitem__, "noise": 0.01},
    ),
    row(
        *("drift", shaken, {"factor": lambda launch: 0.9 ** (launch > 4), "noise": 1e-4}),
        "from launch 6 on, times were 10.0% faster than before",
    ),
    row(
        *("few-threads", edited, SMALL | {COUNT: 1}, "1 thread where 2 cores may be used"),
        SMALL | {COUNT: 2},
        SMALL | {COUNT: 1, "cpu.physical_cores": 1},
        SMALL | {COUNT: 1, "on": "cuda:0"},
    ),
    row("few-threads", edited, SMT | {COUNT: 7}, "", SMT | {COUNT: 8}),
    row("few-threads", edited, PART | {COUNT: 1}, "", PART | {COUNT: 2}),
    row(
        *("few-threads", edited, UNCOUNTED | {COUNT: 1}, "", UNCOUNTED | {COUNT: 4}),
        UNCOUNTED | {COUNT: 4, "cpu.physical_cores": 8, "cpu.model": "Apple M2"},  # slow cores
    ),
    row(
        *("many-threads", edited, PART | {COUNT: 64}, "64 threads where 4 cores may be used"),
        *(SMT | {COUNT: 8}, UNCOUNTED | {COUNT: 8}, PART | {COUNT: 64, "on": "cuda:0"}),
    ),
    row(
        *("changed-settings", edited, STATES | {PRECISION: 7 * "medium"}),
        f"matmul precision is {6 * 'medium'}medi in launch 3, not highest",
        *(STATES, STATES | {"launches.0.state": {}}),  # the last in an older file
    ),
    row(*("changed-settings", edited, STATES | {COUNT: 4}, "threads is 2 in every launch, not 4")),
    row(
        *("changed-environment", edited, meanwhile({"accelerators.0.power_limit_watts": 400.0})),
        "accelerators.0.power_limit_watts was 400.0 in launch 2, 3, unlike when the run began",
        meanwhile({"software.kernel": "6.9.0"}),  # moves no number
        meanwhile({"software.threads": 1}),  # another rule's
    ),
    row(
        *("rank-lost", edited, {"launches.2.lost": "rank 1 on node 1 did not answer in time"}),
        "launch 3 lost its group: rank 1 on node 1 did not answer in time",
        {"launches.2.lost": ""},
    ),
    row(
        *("power-limited-case", held_back, CAPPED | {"watts": 630.0, "use": 0.02}, ""),
        CAPPED | {"watts": 120.0},  # it rests
        CAPPED | {"use": 0.02},
    ),
    row("power-limited-case", held_back, CAPPED | {"watts": 120.0, "use": 0.5}, ""),
    row(
        *("power-limited-case", held_back, CAPPED),
        "cuda:0 was held back by its power limit (SwPowerCap) in 90% of 40 readings",
    ),
    *(
        row("fixed-clock-case", held_back, {"parts": {name: 0.05}}, "", {"parts": {name: 0.04}})
        for name in ("ApplicationsClocksSetting", "SyncBoost", "DisplayClockSetting")
    ),
    row(
        *("coarse-clock", clock, {"step": 1 / 49, "calls": 1}),
        *("a sample lasts 50 steps of the clock", {"step": 0.0}),
    ),
    row(  # once for the run, though samples are long
        *("coarse-clock", clock, {"step": 1.1e-5, "seconds": 2.0}),
        "the clock's smallest step is 11 µs",
    ),
    row(
        *("coarse-clock", gpu, {"samples": [1.9e-4] * 4, "launch": COARSE}),
        *("a sample lasts 19 steps of the clock", {"samples": [2e-4] * 4, "launch": COARSE}),
    ),
    row(
        *("costly-harness", cpu, SINGLE | {"samples": [9.3e-7] * 4}),
        *("the harness takes 10% of a sample", SINGLE | {"samples": [9.5e-7] * 4}),
        *({"iterations": [2] * 6, "samples": [4.75e-7] * 4}, {"launch": UNKNOWN}),
    ),
    row("costly-harness", gpu, None, "", {"launch": lambda _: {"empty_body": {"cpu": 1e-3}}}),
    row("few-launches", made, {"launches": 5}, "5 launches, where an interval needs 6"),
    *(
        row(
            *("wrong-result", failed, {"check": entry(error, precision), "dtype": dtype}),
            f"{message} is off by {error:g}, over the bound of 2.8e-06",
        )
        for error, precision, dtype, message in (
            (0.98, "bfloat16", "float32", "every entry"),  # one is missing
            (0.98, "", "float32", "every entry"),
            (6e-3, "tfloat32", "float32", "every entry"),
            (7.5e-3, "bfloat16", "bfloat16", "every entry"),
            (5e-3, "tfloat32", "float32", NARROW.format("tfloat32")),
            (0.02, "bfloat16", "float32", NARROW.format("bfloat16")),
        )
    ),
    row(
        *("wrong-result", failed, {"check": Check("shape", sys.float_info.max, 0.0)}),
        "shape is off beyond any number, over the bound of 0",
        {"check": None},
    ),
    row("failed-case", failed, {"check": None}, "why", {"check": entry(0.98)}),
    row("statistics-differ", bad, None, "", {"spoil": lambda run: set_samples(product(run), TWO)}),
    row("sample-count", bad, {"spoil": empty}, "0 samples, 0 rounds, 0 in the launches"),
    row(
        *("above-one", bad, {"spoil": THRICE, "launches": 3}),
        "2 devices are at least 2.9 times as fast as one",
        {"spoil": THRICE, "launches": 2},
    ),
    row(
        *("samples-beyond-launch", bad, {"spoil": at("launches.2", body_seconds=1.2845)}),
        "launch 3 has 1.29 s of samples, and spent 1.28 s in them",
        {"spoil": at("launches.2", body_seconds=1.2847)},
    ),
    row(
        *("launch-beyond-run", bad, {"spoil": at("launches.*", seconds=43.7)}),
        *("launches take 262 s, the run 217 s", {"spoil": at("launches.*", seconds=43.6)}),
    ),
    row(
        *("impossible-part", bad, {"spoil": of_parts(sustained=0.53)}),
        *("sustained is 0.53, where no sample exceeds 0.174311", {"spoil": of_parts(enqueue=0.5)}),
    ),
    row(
        *("impossible-energy", bad, {"spoil": drawing(7.0)}, "calls of it draw 7 W"),
        *({"spoil": drawing(watts)} for watts in (8.0, 9999.9, 0.0)),
    ),
    *(
        row(bad_files.OF_RUNS[name][0], bad, {"spoil": bad_files.OF_RUNS[name][1]}, message)
        for name, message in (
            ("four times the peak", f"4.05 PFLOP/s, {MORE.format('1.39 PFLOP/s')} {PEAK}"),
            ("bytes times 1000", f"20.4 TB/s, {MORE.format('4 TB/s')} the caches of 2 cores do"),
            ("a sample taken out", "17 samples, 18 rounds, 18 in the launches"),
            ("a better median", "median is 0.1, its samples say 0.17171"),
            ("a date that is no date", f"'{6 * 'Monday'}Mond' is no date"),
        )
    ),
]


@pytest.mark.parametrize(("code", "make", "spoilt", "message", "honest"), ROWS)
def test_a_spoilt_run_is_named_and_its_honest_neighbours_are_not(
    code: str, make: Make, spoilt: Given | None, message: str, honest: tuple[Given, ...]
) -> None:
    if spoilt is not None:
        first, *_ = said(make(**spoilt), code)
        assert first == message or not message
    for given in honest:
        assert said(make(**given), code) == [], given


RISING = [0.02 * launch for launch in range(101)]


@pytest.mark.parametrize(
    ("logs", "change", "since"),
    [
        (RISING[:6], 0.08, None),  # from the mean of the first third to that of the last
        (RISING[:5], None, None),
        (RISING[:100], 1.34, None),
        (RISING, None, None),  # takes too long
        ([0.0] * 2 + [-0.1] * 10, -0.1, 3),
        ([0.0] + [0.1] * 11, None, None),  # an outlier
        ([0.0] * 4 + [0.1] * 4, 0.1, 5),
        ([0.0] * 3 + [0.1] * 4, None, None),  # of 35 orders, 2 are such a step
    ],
)
def test_a_drift_is_a_trend_or_a_step_that_chance_seldom_makes(
    logs: list[float], change: float | None, since: int | None
) -> None:
    expected: Any = change and (pytest.approx(math.expm1(change)), since)
    assert find_drift([logs, logs]) == expected


@pytest.mark.parametrize(
    ("sets", "most"),
    [
        ("avx2", (32, 64, 128)),
        ("avx2 avx512f", (64, 128, 256)),
        ("sve", (64, 128, 256)),
        ("bf16 i8mm", (32, 128, 256)),
        ("sme", (512, 1024, 2048)),
        ("amx_bf16 amx_int8", (32, 2048, 4096)),
        ("neon", (512, 2048, 4096)),  # of Apple, whose matrix unit no set names
        (None, (512, 2048, 4096)),
    ],
)
def test_a_core_does_no_more_than_its_sets_allow(sets: str | None, most: tuple[int, ...]) -> None:
    model = "Apple M4" if sets == "neon" else None
    facts: Given = {"cpu.instruction_sets": sets, "cpu.model": model, "cpu.logical_cores": 3}
    run = edited(**facts)
    del run.benchmarks[1:]
    (case,) = run.benchmarks
    dtypes = ("float64", "tfloat32", "int8", "int4")
    for dtype, operations in zip(dtypes, (*most, 2 * most[-1]), strict=True):
        case.params["dtype"] = dtype
        for beyond in (0, 1):
            flops = 3 * 6.5e9 * (operations + beyond) * min(case.stats.data)
            case.extra_info.work = Work(flops=flops * (1 - 1e-9))
            assert len(said(run, "above-peak")) == beyond


def test_a_node_is_unlike_by_what_moves_numbers() -> None:
    unlike: list[dict[str, Scalar]] = [
        {},
        {"cpu.governor": "powersave", "cpu.memory_bytes": 1},
        {"software.kernel": "6.1"},
        MANY,
    ]
    run = edited(nodes=[types.NodeFacts(ranks=1, differs=one) for one in unlike])
    assert said(run, "unlike-nodes") == [
        "node 1 differs from node 0: cpu.governor is powersave",
        f"node 3 differs from node 0: {SHOWN}, and 1 more differ",
    ]


def test_an_interrupted_run_names_the_cases_that_lack_launches() -> None:
    run = made(launches=6, partial=True)
    conclusions = checks.conclude(run)
    short = [c.case for c in conclusions if c.code == "few-launches"]
    assert short == [case.fullname for case in run.benchmarks[1::2]]
    assert [c.case for c in conclusions if c.code == "incomplete-run"] == [None]
    run.frobench.complete = True
    assert said(run, "missing-launch") == ["no samples in launch 6"] * len(short)
    few = "measured in 5 launches, where an interval needs 6"
    assert said(run, "few-launches") == [few] * len(short)
    enough = checks.conclude(made(launches=7, partial=True))
    assert judging.codes(enough) == {"failed-case", "incomplete-run"}
