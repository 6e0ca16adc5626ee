# SPDX-License-Identifier: MIT
"""The work of cases that are not run.

Of a benchmark's function only its call of `measure`, with nothing but the work, is evaluated, and
the lines that the work needs. Tensors whose size it asks for lie on PyTorch's `meta` device, where
they have a shape and no memory. What cannot be found out like this is unknown.
"""

import __future__

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
import torch

from frobench.suite.journal.records import Declared
from frobench.suite.kit.device import Device
from frobench.suite.launch.collection import ARGUMENTS, NONE
from frobench.suite.machine import environment
from frobench.suite.nodes.groups import ranks_of
from frobench.suite.stored.run import Settings, Work

MEASURE = "measure"
HEAVY = ("sympy", "torch._dynamo")
"""Modules that arithmetic with tensors on `meta` loads in a second; a size needs none."""


def declared(items: Sequence[pytest.Function], settings: Settings) -> Declared:
    """Return what can be said of cases without running them."""
    works, absent = {}, {}
    for item in items:
        if (declared_work := work(item)) is not None:
            works[item.nodeid] = declared_work
        if mark := item.get_closest_marker("skip"):  # the reason may be its first argument
            reason = mark.kwargs.get("reason") or next(iter(mark.args), "skipped")
            absent[item.nodeid] = str(reason)
    machine, identity = environment.machine(settings.devices)
    return Declared(machine=machine, machine_id=identity, works=works, absent=absent)


def work(item: pytest.Function) -> Work | None:
    """Return the work of a call of a case that is not set up, if it can be found out."""
    given: dict[str, Any] = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    if NONE in given.values():
        return None
    try:
        with _on_paper():
            if "group" in given:
                given["group"] = range(ranks_of(given["group"]))  # only its length counts
            for name in given.keys() & {*ARGUMENTS} - {"group"}:
                devices = [Device(device) for device in given[name].split("+")]
                given[name] = devices if len(devices) > 1 else devices[0]
            _reduced(item.module)[item.function.__name__](**given, measure=_find)
    except _Found as found:
        return found.work
    except (Exception, pytest.skip.Exception):  # noqa: BLE001 - whatever a benchmark may raise
        return None
    return None


class _Found(BaseException):
    """The work is known; no exception that a benchmark might catch."""

    def __init__(self, work: Work | None) -> None:
        self.work = work


def _find(*_: object, work: Work | None = None, **__: object) -> None:
    raise _Found(work)


@contextmanager
def _on_paper() -> Iterator[None]:
    """Let devices be names without hardware, and tensors shapes without memory."""

    def known_by_name(device: Device, name: str, seed: int = 0) -> None:
        device.name, device.handle, device.seed = name, torch.device("meta"), seed

    def drawn(_: Device, *shape: int, dtype: str | torch.dtype = "float32") -> torch.Tensor:
        return torch.empty(shape, dtype=getattr(torch, dtype) if isinstance(dtype, str) else dtype)

    is_accelerator = property(lambda device: device.name.partition("/")[0] != "cpu")
    with pytest.MonkeyPatch.context() as patch, torch.device("meta"):
        patch.setattr(Device, "__init__", known_by_name)
        patch.setattr(Device, "is_accelerator", is_accelerator)
        patch.setattr(Device, "require", lambda *_: None)
        patch.setattr(Device, "uniform", drawn)
        patch.setattr(torch.Tensor, "cpu", lambda tensor: tensor)
        for module in HEAVY:
            patch.setitem(cast("dict[str, object]", sys.modules), module, None)
        yield


@cache
def _reduced(module: ModuleType) -> dict[str, Any]:
    """Return a module's names, those of functions that measure with `_leading_to_work`."""
    tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
    reduced = [
        _leading_to_work(statement)
        for statement in tree.body
        if isinstance(statement, ast.FunctionDef)
        and any(argument.arg == MEASURE for argument in statement.args.args)
    ]
    names = dict(vars(module))
    code = ast.fix_missing_locations(ast.Module(cast("list[ast.stmt]", reduced), []))
    # Annotations may need names that are imported for type checkers alone.
    compiled = compile(code, module.__name__, "exec", flags=__future__.annotations.compiler_flag)
    exec(compiled, names)  # noqa: S102 - the benchmark's own code
    return names


def _leading_to_work(function: ast.FunctionDef) -> ast.FunctionDef:
    """Keep the call of `measure`, with the work alone, and the lines that it needs."""
    lines = [_WorkAlone().visit(line) for line in _lines(function.body)]
    local = set().union(*map(_bound, lines))
    needed, kept = {MEASURE}, []
    for line in reversed(lines):
        names = {node.id for node in ast.walk(line) if isinstance(node, ast.Name)}
        changes = isinstance(line, ast.Assign | ast.AnnAssign | ast.FunctionDef)
        touched = _bound(line) if changes else names & local
        if needed & (touched | names & {MEASURE}):
            kept.append(line)
            needed |= names
    function.body, function.decorator_list = kept[::-1] or [ast.Pass()], []
    return function


def _lines(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, those within a ``with`` in its place."""
    for statement in body:
        if isinstance(statement, ast.With):
            yield from _lines(statement.body)
        else:
            yield statement


def _bound(line: ast.stmt) -> set[str]:
    """Return the names that a statement gives something to."""
    functions = {node.name for node in ast.walk(line) if isinstance(node, ast.FunctionDef)}
    return functions | {
        node.id
        for node in ast.walk(line)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


class _WorkAlone(ast.NodeTransformer):
    """Takes all arguments but the work from calls of `measure`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == MEASURE:
            work = [keyword for keyword in node.keywords if keyword.arg == "work"]
            return ast.Call(node.func, [], work)
        return self.generic_visit(node)
