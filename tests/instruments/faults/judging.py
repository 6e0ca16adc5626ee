# SPDX-License-Identifier: MIT
"""What the tests of the rules share: runs to spoil, and what is said of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from frobench.suite import checks
from frobench.suite.stored import store
from frobench.suite.stored.machine_identity import benchmark_of, machine_name, short_name
from frobench.suite.stored.types import Case, Conclusion, Environment, Run, Scalar
from tests.instruments.runs import factory


def made(**wanted: Any) -> Run:  # noqa: ANN401 - what the factory takes
    """Return a run of the factory."""
    return factory.run(**wanted)


def codes(conclusions: list[Conclusion]) -> set[str]:
    return {conclusion.code for conclusion in conclusions}


def said(run: Run, code: str) -> list[str]:
    """Return the messages of a code, in the order they are given."""
    return [one.message for one in checks.conclude(run) if one.code == code]


def validate(run: Run, folder: Path) -> list[Conclusion]:
    """Validate a run as it is stored, sealed with its digest."""
    path = folder / "run.json"
    path.write_bytes(store.encode(run))
    return validate_file(path)


def validate_file(path: Path) -> list[Conclusion]:
    """Return what is wrong with a stored file, and what makes it doubtful."""
    return [conclusion for conclusion in checks.review(path) if conclusion.severity != "info"]


def on_accelerators(number: int, launches: int = 6) -> tuple[Run, Case]:
    """Return a run of a case alone, a product that keeps so many accelerators busy for 4 ms."""
    run = made(accelerators=number, launches=launches)
    place = "+".join(f"cuda:{index}" for index in range(number))
    name = next(case.fullname for case in run.benchmarks if case.extra_info.device == place)
    keep(run, lambda case: case.fullname == name)
    (case,) = run.benchmarks
    set_samples(case, [[4e-3, 4.1e-3, 3.9e-3, 4e-3]] * launches)
    case.extra_info.iterations = [1] * launches
    case.extra_info.warmup = [0.05] * launches
    case.extra_info.parts = {"enqueue": [1e-4] * launches, "span": [3.95e-3] * launches}
    return run, case


def put(thing: Any, path: str, value: object) -> None:  # noqa: ANN401 - a struct, list or table
    """Set what names and places with dots between them lead to; `*` stands for every place."""
    name, _, rest = path.partition(".")
    is_struct = isinstance(thing, Struct)
    for place in range(len(thing)) if name == "*" else [int(name) if name.isdigit() else name]:
        if rest:
            put(getattr(thing, str(place)) if is_struct else thing[place], rest, value)
        elif is_struct:
            setattr(thing, str(place), value)
        else:
            thing[place] = value


def keep(run: Run, wanted: Callable[[Case], bool]) -> None:
    """Leave some of the cases in a run, with their outcomes."""
    run.benchmarks = [case for case in run.benchmarks if wanted(case)]
    names = {case.fullname for case in run.benchmarks}
    run.frobench.outcomes = [one for one in run.frobench.outcomes if one.fullname in names]


def samples(case: Case) -> list[list[float]]:
    """Return the samples of a case by launch."""
    data = iter(case.stats.data)
    return [[next(data) for _ in range(count)] for count in case.extra_info.launches]


def set_samples(case: Case, by_launch: list[list[float]]) -> None:
    """Give a case other samples."""
    case.extra_info.launches = [len(one) for one in by_launch]
    data = [sample for one in by_launch for sample in one]
    case.stats = store.case_stats(data, case.stats.iterations)


def resample(run: Run, factor: Callable[[int], float], cases: int | None = None) -> Run:
    """Multiply the samples of each launch, of the first so many cases."""
    for case in run.benchmarks[:cases]:
        scaled = [[s * factor(at) for s in launch] for at, launch in enumerate(samples(case))]
        set_samples(case, scaled)
    return run


def of_its_name(environment: Environment) -> Environment:
    """Name a kind of machine by its facts, as a run does."""
    environment.machine = machine_name(environment.cpu, environment.accelerators)
    return environment


def name_again(run: Run, case: Case, **params: Scalar) -> None:
    """Name a case by its devices and parameters, as a run does, or by others that it is given."""
    (outcome,) = (one for one in run.frobench.outcomes if one.fullname == case.fullname)
    if "device" in params:
        case.extra_info.device = str(params["device"])
        case.extra_info.devices = case.extra_info.device.split("+")
    case.params = case.params | params | {"device": "+".join(case.extra_info.devices)}
    case.param = "-".join(map(str, case.params.values()))
    case.fullname = f"{benchmark_of(case.fullname)}[{case.param}]"
    case.name = short_name(case.fullname)
    outcome.fullname, outcome.params = case.fullname, case.params


def rename(run: Run, processor: str) -> None:
    """Give a machine without an accelerator another processor, and so another name."""
    run.frobench.environment.cpu.model = processor
    run.machine_info["cpu"] = {"brand_raw": processor}
    of_its_name(run.frobench.environment)


def add_up(run: Run) -> None:
    """Let the launches have spent what their samples now take."""
    for number, launch in enumerate(run.frobench.launches):
        launch.body_seconds = factory.sampled(run.benchmarks, number)
