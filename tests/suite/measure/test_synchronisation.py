# SPDX-License-Identifier: MIT
"""Each synchronisation in `suite.measure.sampler` is needed: without it, what is measured is wrong.

The module is read, one call of `synchronize` or `finish` after the other is cut out of it, and
what is left has to measure work whose truth is known.
"""

import ast
import inspect
from types import ModuleType
from typing import TypeGuard

import pytest

from frobench.suite.measure import sampler as timing
from frobench.suite.profiles import settings_for
from frobench.suite.stored.types import Settings
from tests.instruments.devices.virtual import VirtualClock, VirtualDevice

SOURCE = inspect.getsource(timing)
LAUNCH, WORK, BEFORE = 50e-6, 3e-3, 1.0


def is_synchronisation(node: ast.AST) -> TypeGuard[ast.Expr]:
    """Tell whether a statement waits for a device."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr in {"synchronize", "finish"}
    )


(SAMPLER,) = (
    node
    for node in ast.parse(SOURCE).body
    if isinstance(node, ast.ClassDef) and node.name == "Sampler"
)
LINES = [node.lineno for node in ast.walk(SAMPLER) if is_synchronisation(node)]


class Without(ast.NodeTransformer):
    """Cuts out the synchronisation on one line."""

    def __init__(self, line: int) -> None:
        self.line = line

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """Put nothing in its place."""
        cut = is_synchronisation(node) and node.lineno == self.line
        return ast.copy_location(ast.Pass(), node) if cut else node


def module_without(line: int | None) -> ModuleType:
    """Return `suite.measure.sampler` without the synchronisation on a line."""
    tree = ast.parse(SOURCE)
    if line is not None:
        tree = ast.fix_missing_locations(Without(line).visit(tree))
    module = ModuleType(timing.__name__)
    module.__dict__["__name__"] = timing.__name__  # dataclasses look their module up by it
    exec(compile(tree, timing.__file__, "exec"), module.__dict__)  # noqa: S102 - our own source
    return module


def is_true(module: ModuleType, settings: Settings) -> bool:
    """Tell whether samples of known work are right, on one device and on each of two."""
    return all(
        measures_truly(module, settings, slow, count) for slow, count in ((0, 1), (0, 2), (1, 2))
    )


def measures_truly(module: ModuleType, settings: Settings, slow: int, count: int) -> bool:
    """Tell whether a host and a span sample are right where one device has more to do."""
    clock = VirtualClock(cost=30e-9)
    gpus = [VirtualDevice(clock) for _ in range(count)]

    def body() -> None:
        for gpu in gpus:
            gpu.queue(LAUNCH, 10 * WORK if gpu is gpus[slow] else WORK)

    sampler = module.Sampler(body, gpus, clock=clock)
    truth = pytest.approx((1 + slow) * LAUNCH + 10 * WORK, rel=0.01, abs=2 * LAUNCH)
    try:
        gpus[slow].queue(0.0, BEFORE)  # what was there before is no part of a sample
        host = sampler.took()
        gpus[slow].queue(0.0, BEFORE)
        span = sampler.span()["span"]
        measured = sampler.run(settings)
    except RuntimeError:
        return False
    return bool(host == truth and span == truth and min(measured.samples) == truth)


@pytest.fixture
def settings() -> Settings:
    return settings_for("quick", ["cpu"])


def test_with_every_synchronisation_the_truth_is_measured(settings: Settings) -> None:
    assert is_true(module_without(None), settings)


@pytest.mark.parametrize("line", LINES)
def test_without_any_one_of_them_it_is_not(settings: Settings, line: int) -> None:
    assert not is_true(module_without(line), settings)


def test_there_are_some() -> None:
    assert len(LINES) >= 3
