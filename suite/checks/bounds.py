# SPDX-License-Identifier: MIT
"""Rules about numbers that are out of all bounds."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from msgspec import Struct

from frobench.suite.checks.rule import Fault
from frobench.suite.stored.types import LARGEST_NUMBER, Run, Severity

SEVERITY: Severity = "error"


class Bound(NamedTuple):
    """The least and most that the numbers in a place may honestly be.

    path : ``[]`` is any entry of a list, ``*`` any entry of a table; ``a|b`` are two fields. Of
        readings ``[1]`` is the median: a driver may give a wrong one now and then
    """

    path: str
    least: float
    most: float
    unit: str = ""


ANY, POSITIVE = (0, 1e9, "s"), (1e-12, 1e9, "s")
"""Seconds of a lifetime; and those of what takes time."""
COUNT, SOME = (0, 2**31), (1, 2**31)
"""No more than there is of anything that is counted; and at least one."""
MEMORY = 2**26, 2**47, "B"
OF_CASES = (
    Bound("stats.data[]", *POSITIVE),
    Bound("extra_info.against[]", *POSITIVE),
    Bound("extra_info.launches|iterations|order[]", *COUNT),
    Bound("extra_info.warmup[]", *ANY),
    Bound("extra_info.work.flops|bytes|items", 1e-6, LARGEST_NUMBER),
    Bound("extra_info.check.error", 0, 1e300),
    Bound("extra_info.check.bound", 0, 100),
    Bound("extra_info.peak_bytes", 0, 2**47, "B"),
    Bound("extra_info.commonest", 0, 1),
    Bound("extra_info.parts.*[]", *ANY),
    Bound("extra_info.parts.device|sustained[]", *POSITIVE),
    Bound("extra_info.parts.overlap|concurrency|balance[]", 0, 1.001),
    Bound("extra_info.telemetry.*.values.sm_clock_hz|clock_hz[1]", 0, 1e10, "Hz"),
    Bound("extra_info.telemetry.*.values.memory_clock_hz[1]", 0, 1e11, "Hz"),
    Bound("extra_info.telemetry.*.values.power_watts|mean_power_watts[1]", 0, 1e4, "W"),
    Bound("extra_info.telemetry.*.values.temperature_celsius[1]", -60, 150, "°C"),
    Bound("extra_info.telemetry.*.values.utilization[1]", 0, 1.05),
    Bound("extra_info.telemetry.*.values.fan[1]", 0, 3),
    Bound("extra_info.energy.joules[]", 0, 1e9, "J"),
    Bound("extra_info.energy.seconds[]", *POSITIVE),
)
"""Of each case."""
OF_RUNS = (
    Bound("seconds|plan_seconds|plan_body_seconds", *ANY),
    Bound("launches[].seconds|body_seconds|warmup_seconds", *ANY),
    Bound("launches[].timer_step", 0, 0.1, "s"),
    Bound("launches[].empty_body|ready_reading|gauge.*", 0, 10.0, "s"),  # 10,000 times what is seen
    Bound("launches[].others|runner_cores", *COUNT),
    Bound("telemetry.idle_watts.*", -LARGEST_NUMBER, 1e4, "W"),
    Bound("environment.cpu.usable_cores|logical_cores", *SOME),
    Bound("environment.cpu.quota_cores", 1e-3, 2**31),
    Bound("environment.cpu.memory_bytes", *MEMORY),
    Bound("environment.cpu.last_level_cache_bytes", 1, 2**34, "B"),
    Bound("environment.software.threads|interop_threads", *SOME),
    Bound("environment.accelerators[].memory_bytes", *MEMORY),
    Bound("environment.accelerators[].max_clock_hz", 1e8, 1e10, "Hz"),
    Bound("environment.accelerators[].power_limit_watts|power_limit_default_watts", 1, 1e4, "W"),
    Bound("environment.accelerators[].multiprocessors", *SOME),
    Bound("environment.accelerators[].pcie_width|pcie_generation", 1, 64),
)
OF_DRIVERS = "environment.accelerators[]"
"""Where 0 stands for what a driver does not know."""
STEPS = cache(re.compile(r"[a-z_|]+|\[1?\]|\*").findall)
"""Takes a path apart."""


def out_of_bounds(run: Run) -> Iterator[Fault]:
    """A number is negative, in the wrong unit, or otherwise none that can be of its kind.

    Seconds, bytes, hertz and watts are stored without prefixes. If it is your benchmark's, mend
    what it declares; otherwise a driver reported it, or Frobench is at fault: report it with the
    file.
    """
    for bound in OF_RUNS:
        yield from map(Fault, _beyond(bound, run.frobench))
    for bound, case in product(OF_CASES, run.benchmarks):
        yield from (Fault(message, case.fullname) for message in _beyond(bound, case))


def _beyond(bound: Bound, inside: object) -> Iterator[str]:
    """Yield the first number in a place that is out of bounds."""
    for name, value in _numbers(inside, STEPS(bound.path)):
        unknown = value == 0 and bound.path.startswith(OF_DRIVERS)
        if not (unknown or bound.least <= value <= bound.most):
            limits = f"not {bound.least:g} to {bound.most:g}"
            yield f"{name} is {value:g} {bound.unit}".rstrip() + f", {limits}"
            return


def _numbers(inside: Any, steps: Sequence[str], name: str = "") -> Iterator[tuple[str, float]]:  # noqa: ANN401 - any part of a run
    """Yield the numbers in a place and their names; of a list its least and its greatest."""
    if not steps:
        if isinstance(inside, int | float):
            yield name, inside
        return
    step, *rest = steps
    found: list[tuple[str, Any]] = []
    if step == "[]" and not rest:
        known = [value for value in inside or () if value is not None]
        found = [(name, end(known)) for end in (min, max) if known]
    elif step == "[1]":
        found = [(name, inside[1])]
    elif isinstance(inside, list):
        found = [(f"{name}[{number}]", value) for number, value in enumerate(inside)]
    elif isinstance(inside, dict):
        chosen = [key for key in inside if step == "*" or key in step.split("|")]
        found = [(f"{name}.{key}", inside[key]) for key in chosen]
    elif isinstance(inside, Struct):
        found = [(f"{name}.{key}", getattr(inside, key)) for key in step.split("|")]
    for inner, value in found:
        yield from _numbers(value, rest, inner.lstrip("."))
