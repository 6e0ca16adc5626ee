# SPDX-License-Identifier: MIT
"""Runs are compared case by case: no size of a benchmark changes but on purpose.

`python -m tests.benchmarks.test_cases > tests/benchmarks/cases.txt` writes the list anew.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.instruments.processes.alone import BENCHMARKS, load

LISTED = Path(__file__).with_name("cases.txt")


def grids() -> Iterator[str]:
    """Yield each benchmark's values of each parameter, by profile, and what a CPU measures."""
    for path in sorted(BENCHMARKS.glob("bench_*.py")):
        module = load(path)
        marked = [("", module)]
        marked += [(f".{name}", one) for name, one in vars(module).items() if name[:6] == "bench_"]
        for name, one in marked:
            marks = getattr(one, "pytestmark", [])
            for mark in [marks] if isinstance(marks, pytest.MarkDecorator) else marks:
                axes = ", ".join(f"{axis}={values}" for axis, values in mark.kwargs.items())
                if mark.name in {"cases", "cpu_twins", "on_one_machine"}:
                    yield f"{path.stem}{name}: {' '.join((mark.name, *mark.args))}: {axes}"


def test_every_benchmark_has_the_cases_that_are_listed() -> None:
    assert [*grids()] == LISTED.read_text("utf-8").splitlines()


if __name__ == "__main__":
    print("\n".join(grids()))  # noqa: T201 - what it is for
