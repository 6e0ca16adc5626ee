# SPDX-License-Identifier: MIT
"""What a page says of the machine and of the method, as names and values."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from frobench.suite.project.git import describe
from frobench.suite.statistics import estimate
from frobench.suite.stored.types import Accelerator, Cpu, Environment, Run, Scalar, Software
from frobench.suite.units import RATIO, counted, format_capacity, format_estimate, format_value

ACRONYMS = {"ecc": "ECC", "mig": "MIG", "numa": "NUMA", "os": "OS", "pcie": "PCIe"}
UNITS = {"bytes": "B", "hz": "Hz", "watts": "W"}
"""Units by the last word of a field's name."""


class Facts(NamedTuple):
    """Names and values under a title; ``long`` ones are folded away."""

    title: str
    rows: list[tuple[str, str]]
    long: bool = False


def machine_title(run: Run) -> str:
    """Name a machine by what it computes with, and by its label where it has one."""
    kind, label = kind_title(run.frobench.environment), run.frobench.environment.label
    return kind if label is UNSET else f"{kind}, node {label}"


def kind_title(environment: Environment) -> str:
    """Name a kind of machine by what it computes with."""
    counts = Counter(accelerator.name for accelerator in environment.accelerators)
    cpu = environment.cpu
    devices = [name if count == 1 else f"{count}{RATIO} {name}" for name, count in counts.items()]
    cores = counted(cpu.usable_cores, "core")
    return " + ".join([*devices, f"{cpu.model or cpu.architecture}, {cores}"])


def machine(run: Run) -> list[Facts]:
    """Return everything that is known of the machine, and why the rest is not."""
    environment = run.frobench.environment
    software = environment.software
    return [
        *_accelerators(run),
        Facts("Processor", _rows(run, environment.cpu, "cpu")),
        Facts("Software", _rows(run, software, "software")),
        Facts("Torch build", _plain(software.torch_build), long=True),
        Facts("Torch settings", _plain(software.flags), long=True),
        Facts("Environment variables", _plain(software.variables), long=True),
        Facts("Packages", _plain(software.packages), long=True),
    ]


def _accelerators(run: Run) -> Iterator[Facts]:
    """Describe the accelerators, equal ones together."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for index, accelerator in enumerate(run.frobench.environment.accelerators):
        rows = _rows(run, accelerator, f"accelerators.{index}")
        same = tuple(row for row in rows if row[0] != "index")
        alike.setdefault(same, []).append(accelerator.place)
    for same, names in alike.items():
        yield Facts(f"Accelerator {' and '.join(names)}", list(same))
    if not alike:
        yield Facts("Accelerator", [])


def _rows(run: Run, part: Accelerator | Cpu | Software, path: str) -> list[tuple[str, str]]:
    unknown = run.frobench.environment.unknown
    return [
        (_name(field), _spell(field, value, unknown.get(f"{path}.{field}")))
        for field, value in msgspec.structs.asdict(part).items()
        if not isinstance(value, dict | UnsetType)  # what older files do not tell
    ]


def _plain(values: Mapping[str, Scalar]) -> list[tuple[str, str]]:
    return [(name, _spell("", value, None)) for name, value in sorted(values.items())]


@lru_cache(None, typed=True)  # the runs of an index say most things many times
def spelled(fact: str, value: Scalar) -> str:
    """Spell the value of a fact, which its dotted path names."""
    return _spell(fact.rpartition(".")[2], value, None)


def fact_name(fact: str) -> str:
    """Name a fact by its dotted path, such as "CPU usable cores"."""
    name = _name(fact.rpartition(".")[2])
    return f"CPU {name}" if fact.startswith("cpu.") else name


def _name(field: str) -> str:
    words = [ACRONYMS.get(word, word) for word in field.split("_")]
    return " ".join(words[:-1] if words[-1] in UNITS else words)


def _spell(field: str, value: Scalar, reason: str | None) -> str:
    if value is None:
        return f"not known: {reason}" if reason else "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if field == "memory_bytes":
        return format_capacity(float(value))
    unit = UNITS.get(field.rpartition("_")[2])
    return format_value(float(value), unit) if unit else str(value)


def method(run: Run) -> list[Facts]:
    """Return how the run was measured."""
    return [
        Facts("Settings", [*_settings(run)]),
        Facts("Time", [*_time(run)]),
        Facts("The clock and the harness", [*_harness(run)]),
    ]


def _settings(run: Run) -> Iterator[tuple[str, str]]:
    part, settings, commit = run.frobench, run.frobench.settings, run.commit_info
    samples = sum(case.stats.rounds for case in run.benchmarks)
    longest = format_value(settings.longest_sample, "s")
    most = f"at most {settings.most_samples} of a case in a launch"
    changed = ", with uncommitted changes" if commit.dirty else ""
    yield "profile", settings.profile
    yield "devices", ", ".join(settings.devices)
    yield "launches", f"{len(part.launches)} fresh processes"
    yield "cases", f"{len(run.benchmarks)} a launch, in an order drawn from seed {part.seed}"
    yield "samples", f"{samples:,} in all; {most}"
    yield "longest call", f"{longest}; what takes longer is left out"
    yield "sampling a case", f"at most {format_value(settings.case_seconds, 's')} in a launch"
    yield "budget", format_value(settings.budget, "s")
    yield "selection", f"-k {settings.expression!r}" if settings.expression else "everything"
    yield "commit", f"{(commit.id or 'not known')[:12]}{changed}"
    if part.project:
        yield "project measured", describe(part.project)


def _time(run: Run) -> Iterator[tuple[str, str]]:
    part = run.frobench
    body = sum(launch.body_seconds for launch in part.launches)
    warmup = sum(launch.warmup_seconds for launch in part.launches)
    yield "whole run", format_value(part.seconds, "s")
    yield "planning", format_value(part.plan_seconds, "s")
    for name, seconds in (("inside timed samples", body), ("warming up", warmup)):
        yield name, f"{format_value(seconds, 's')}, {seconds / part.seconds:.0%} of the run"


def _harness(run: Run) -> Iterator[tuple[str, str]]:
    launches = run.frobench.launches
    for device in dict.fromkeys(name for launch in launches for name in launch.empty_body):
        seconds = estimate([launch.empty_body.get(device) for launch in launches])
        yield f"an empty body on {device}", format_estimate(seconds, "s")
    if launches:
        yield "clock step", format_value(max(launch.timer_step for launch in launches), "s")
