# SPDX-License-Identifier: MIT
"""Runs on simulated devices, held against what the devices are made to be."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from frobench.reports.findings import sections
from frobench.reports.findings.finding import Finding
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Conclusion, Outcome, Run
from tests.instruments.faults.judging import validate_file
from tests.instruments.processes.command import simulated
from tests.instruments.processes.warm import frobench
from tests.instruments.simulated.simulated_accelerator.spec import Spec

STRANGE: dict[str, Any] = {
    "virtual": True,
    "name": "acme",
    "memory": 128 << 20,
    "launch": 70e-6,
    "metadata": 11e-6,
    "kernel": 7e-6,
    "synchronise": 13e-6,
    "flops": {"float32": 3.1e9},
    "bandwidth": 6.3e9,
    "links": {
        "h2d_pageable": {"latency": 31e-6, "rate": 0.7e9},
        "h2d_pinned": {"latency": 17e-6, "rate": 2.9e9},
        "d2h_pageable": {"latency": 23e-6, "rate": 0.9e9},
        "d2h_pinned": {"latency": 19e-6, "rate": 2.3e9},
        "peer": {"latency": 41e-6, "rate": 1.7e9},
    },
}
"""A backend whose name and rates the project does not know, in its own time."""
DEVICES = [f"acme:{index}" for index in range(4)]
GROUPS = {count: "+".join(DEVICES[:count]) for count in (2, 4)}
EXACT = 0.005
"""How near the truth a time must come in a simulation's own time."""


def errors(conclusions: list[Conclusion]) -> set[str]:
    """Return the errors that a run has."""
    return {
        f"{conclusion.code}: {conclusion.message} ({conclusion.case})"
        for conclusion in conclusions
        if conclusion.severity == "error"
    }


@dataclass
class Measured:
    """A stored run of one launch, and what the reports say of it.

    spec : what the devices are like
    messages : what it wrote beside the name of the file
    """

    run: Run
    spec: Spec
    messages: str

    def __post_init__(self) -> None:
        self.sections = sections(self.run)

    def case(self, name: str) -> Case:
        """Return the case of a name."""
        (found,) = (case for case in self.run.benchmarks if case.name == name)
        return found

    def seconds(self, name: str) -> float:
        """Return the median of a case's samples."""
        return self.case(name).stats.median

    def part(self, name: str, part: str) -> float:
        """Return what else was seen of a case in the launch."""
        (value,) = self.case(name).extra_info.parts[part]
        assert value is not None
        return value

    def outcome(self, name: str) -> Outcome:
        """Return what became of a case."""
        (found,) = (one for one in self.run.frobench.outcomes if one.fullname.endswith(f"::{name}"))
        return found

    def finding(self, name: str) -> Finding:
        """Return the answer of a name, behind that of its exercise where several have one."""
        exercise, _, own = name.rpartition("/")
        (found,) = (
            one
            for part in self.sections
            for one in part.findings
            if one.name == own and exercise in {"", part.exercise}
        )
        return found

    def value(self, name: str) -> float:
        """Return the number in an answer."""
        value = self.finding(name).value
        assert value is not None
        return value.value

    def plot(self, name: str) -> dict[str, dict[float | str, float]]:
        """Return a plot's numbers by line and by place on it."""
        (found,) = (one for part in self.sections for one in part.plots if one.name == name)
        return {
            line.label: {point.x: point.y.value for point in line.points} for line in found.series
        }

    def holds(
        self, truths: Mapping[str, float], rel: float = EXACT, within: float | None = None
    ) -> None:
        """Check seconds of cases, their parts and numbers in answers, by their names.

        truths : by ``bench_it[cpu]``, ``bench_it[cpu] part`` or the name of an answer
        within : an absolute error that is allowed too
        """
        found = {name: self._number(*name.split(maxsplit=1)) for name in truths}
        near = {name: pytest.approx(one, rel=rel, abs=within) for name, one in truths.items()}
        assert found == near

    def _number(self, name: str, part: str = "") -> float:
        if part:
            return self.part(name, part)
        return self.seconds(name) if name.startswith("bench_") else self.value(name)

    def product(self, n: int) -> float:
        """Return what the device takes for a product of n x n matrices."""
        return self.spec.kernel + 2 * n**3 / self.spec.flops["float32"]

    def step(self) -> float:
        """Return what the device takes for a product of 100 x 100 and its norm."""
        return self.product(100) + self.spec.kernel + 4 * (100**2 + 1) / self.spec.bandwidth

    def reading(self) -> float:
        """Return what a loop step takes more when a number is read back in it."""
        return self.spec.launch + self.spec.links.d2h_pageable.seconds(4) + self.spec.synchronise


def measured(
    folder: Path,
    spec: dict[str, Any],
    select: str,
    *options: object,
    code: int = 0,
    admitted: str = "",
    **variables: str,
) -> Measured:
    """Measure the simulated devices that `spec` describes, through the command, in one launch.

    In the simulation's own time the run must end with the expected exit code.

    spec : fields of `Spec` that are not the default ones
    select : the expression that selects the cases
    code : the exit code that is expected
    admitted : code of an error that the run may say of itself
    variables : of the environment
    """
    like = msgspec.convert(spec, Spec)
    devices = ",".join(f"{like.name}:{index}" for index in range(like.devices))
    made = frobench(
        *("run", "--launches", 1, "--seed", 3, "--budget", 6, "-k", select),
        *("--devices", devices, *options),
        folder=folder,
        environment=simulated(spec) | variables,
    )
    assert made.stdout, made.stderr
    path = folder / made.stdout.splitlines()[-1]
    run = store.read(path)
    if spec.get("virtual"):  # in real time, other programs may make a single launch look impossible
        assert made.returncode == code, made.stderr
        said = [] if code else run.frobench.conclusions
        found = errors([*validate_file(path), *(one for one in said if one.code != admitted)])
        assert not found, found
    return Measured(run, like, made.stderr)


def of_module(spec: dict[str, Any], *words: Any, **more: Any) -> Any:  # noqa: ANN401 - a fixture
    """Return a fixture: a run that `measured` makes once for all tests of a module."""

    @pytest.fixture(scope="module")
    def seen(tmp_path_factory: pytest.TempPathFactory) -> Measured:
        return measured(tmp_path_factory.mktemp("seen"), spec, *words, **more)

    return seen
