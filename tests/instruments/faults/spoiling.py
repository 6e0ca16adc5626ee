# SPDX-License-Identifier: MIT
"""A good run, and ways to change a number in it so that the others follow."""

from collections.abc import Callable

from frobench.suite.stored.types import Case, Run, Scalar, Sensed
from tests.instruments.faults.judging import add_up, keep, made, name_again, samples, set_samples

Spoil = Callable[[Run], object]
"""Changes a run."""
DTYPES = {"float32", "tfloat32", "bfloat16"}
SIZES = {256, 1024, 4096, 16384}
KEPT: dict[str, dict[str, set[str] | set[int]]] = {
    "bench_square": {"device": {"cpu", "cuda:0"}, "n": SIZES, "dtype": DTYPES},
    "bench_to_device": {"memory": {"pinned"}, "size": {4**9, 4**13}},
    "bench_between": {"size": {4**13}},
    "bench_within": {"device": {"cpu", "cuda:0"}, "size": {4**13}},
    "bench_sequence": {"n": {2048}},
    "bench_two_at_once": {"n": {2048}},
    "bench_in_turn": {"n": {2048}},
    "bench_item": {},
}


def good(launches: int = 6) -> Run:
    """Return an honest run on two H200 and a CPU with two cores, of a few cases."""
    run = made(accelerators=2, launches=launches)
    keep(run, _kept)
    name_again(run, case(run, "bench_sequence"), device="cuda:0")
    add_up(run)
    return run


def case(run: Run, function: str, **params: Scalar) -> Case:
    """Return the first case of a benchmark with some parameters."""
    return next(
        one
        for one in run.benchmarks
        if one.name.startswith(f"{function}[") and params.items() <= one.params.items()
    )


def product(run: Run, n: int = 16384, dtype: str = "float32", device: str = "cuda:0") -> Case:
    """Return the case of a product."""
    return case(run, "bench_square", n=n, dtype=dtype, device=device)


def take(one: Case, factor: float) -> Case:
    """Multiply a case's samples, and what was seen beside them."""
    set_samples(one, [[sample * factor for sample in launch] for launch in samples(one)])
    for name in {"enqueue", "span", "device", "sustained"} & one.extra_info.parts.keys():
        one.extra_info.parts[name] = [v and v * factor for v in one.extra_info.parts[name]]
    return one


def last(run: Run, seconds: float, one: Case) -> None:
    """Let a case take some time, the launches adding up."""
    take(one, seconds / one.stats.median)
    one.extra_info.warmup = [5 * seconds] * len(one.extra_info.launches)
    add_up(run)


def sense(one: Case, what: str, *values: float) -> None:
    """Let a sensor of the first accelerator have said something."""
    least, middle, greatest = values
    sensed = Sensed(readings=20, values={what: (least, middle, greatest)})
    one.extra_info.telemetry = {"cuda:0": sensed}


def put(thing: object, **values: object) -> object:
    """Set fields."""
    for name, value in values.items():
        setattr(thing, name, value)
    return thing


def _kept(one: Case) -> bool:
    kept = KEPT.get(one.name.partition("[")[0])
    return kept is not None and all(one.params[k] in v for k, v in kept.items() if k in one.params)
