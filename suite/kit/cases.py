# SPDX-License-Identifier: MIT
"""Which cases a benchmark has: grids of parameters, by profile."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import get_args

import pytest

from frobench.suite.stored.types import ProfileName, Scalar

PROFILES: tuple[ProfileName, ...] = get_args(ProfileName)

Parameters = Mapping[str, Scalar]


def cases(profile: ProfileName = "standard", /, **axes: Sequence[Scalar]) -> pytest.MarkDecorator:
    """Give a benchmark every combination of the axes, from `profile` upwards.

    Decorate once for each profile that adds cases: a run measures the grids of its own profile and
    of the smaller ones. The quick profile's cases are the benchmark's headline. Whole-number axes
    are sizes: they are tried in ascending order, and sizes that would take too long are left out.

    >>> @cases("quick", n=[64, 1024])
    ... @cases(n=[16, 256, 4096])
    ... def bench_square(measure, device, n): ...
    """
    if profile not in PROFILES:
        raise ValueError(f"@cases({profile!r}): no such profile; there are {', '.join(PROFILES)}")
    return pytest.mark.cases(profile, **axes)


def cpu_twins(**functions: Mapping[str, Sequence[Scalar]]) -> pytest.MarkDecorator:
    """Declare which of a module's CPU cases are measured on a machine with an accelerator.

    The others would take time there and are compared with nothing. Without an accelerator, and in
    the rigorous profile, all are measured. A benchmark's version does not cover the declaration.

    functions : by benchmark, the values that its CPU cases must have; others have no CPU cases

    >>> pytestmark = cpu_twins(bench_square={"dtype": ["float32"]})
    """
    return pytest.mark.cpu_twins(**functions)


def on_one_machine(**functions: Mapping[str, Sequence[Scalar]]) -> pytest.MarkDecorator:
    """Declare, in the form of `cpu_twins`, which cases of groups two halves of a CPU measure.

    There is no network between halves, so a few cases suffice to show that all works. The quick
    profile measures none of them.

    >>> pytestmark = on_one_machine(bench_all_reduce={"size": [8, 2**20]})
    """
    return pytest.mark.on_one_machine(**functions)


def twins(declared: pytest.Mark, function: str, grid: Sequence[Parameters]) -> Sequence[Parameters]:
    """Return the cases that a declaration of `cpu_twins` or `on_one_machine` keeps."""
    if function not in declared.kwargs:
        return []
    axes = declared.kwargs[function].items()
    return [case for case in grid if all(case.get(axis) in values for axis, values in axes)]


def expand(marks: Iterable[pytest.Mark], profile: ProfileName) -> list[Parameters]:
    """List the parameters of every case that a run of `profile` measures, sizes ascending."""
    chosen: list[Parameters] = []
    for mark in marks:
        if PROFILES.index(mark.args[0]) <= PROFILES.index(profile):
            for values in product(*mark.kwargs.values()):
                parameters = dict(zip(mark.kwargs, values, strict=True))
                if parameters not in chosen:
                    chosen.append(parameters)
    return sorted(chosen, key=lambda parameters: tuple(sizes(parameters).values()))


def is_headline(marks: Iterable[pytest.Mark], parameters: Parameters) -> bool:
    """Tell whether the quick profile has the case."""
    return any(case.items() <= parameters.items() for case in expand(marks, "quick"))


def sizes(parameters: Parameters) -> dict[str, int]:
    """Return the parameters that are sizes: the whole numbers."""
    return {name: value for name, value in parameters.items() if type(value) is int}
