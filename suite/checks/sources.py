# SPDX-License-Identifier: MIT
"""What the source of a benchmark of this checkout says today, without running it.

Of the work that it declares for some parameters, only what is arithmetic over parameters, numbers
and constants of the module is understood, in the call of `measure` or in a function of the same
module that returns the work. All else is unknown.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from suite.checkout import CHECKOUT
from suite.version import definitions, version_in

Known = Mapping[str, float]
DEVICES = ("devices", "workers", "pair")
"""Names of arguments that hold the devices of a case; only their number is known."""
OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}
MOST_POWER = 4


class _UnknownError(Exception):
    """An expression is more than arithmetic."""


@cache
def source(module: str) -> Path | None:
    """Return the file of a module of the suite's benchmarks; `None` for somebody's own."""
    return CHECKOUT / module if Path(module).parent == Path("benchmarks") else None


@cache
def version(module: Path, function: str) -> str | None:
    """Return the version of a benchmark, if there is one of that name."""
    try:
        return version_in(module, function)
    except (LookupError, SyntaxError):
        return None


def declared(
    module: Path, function: str, params: Mapping[str, object], devices: int
) -> dict[str, float]:
    """Return the operations and bytes of one call, those that the source tells plainly.

    Raises `LookupError` if the module, or a benchmark of that name in it, is not there.
    """
    known = {name: float(value) for name, value in params.items() if isinstance(value, int)}
    known |= dict.fromkeys(DEVICES, float(devices))
    calls = _measures(definitions(module)[function])
    amounts = {}
    for unit in ("flops", "bytes") if len(calls) == 1 else ():
        with suppress(_UnknownError, OverflowError):
            amounts[unit] = _work(module, calls[0], known, unit)
    return {unit: amount for unit, amount in amounts.items() if amount is not None}


def _measures(function: ast.stmt) -> list[ast.expr]:
    return [
        keyword.value
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "measure"
        for keyword in node.keywords
        if keyword.arg == "work"
    ]


def _work(module: Path, work: ast.expr, known: Known, unit: str) -> float | None:
    if not (isinstance(work, ast.Call) and isinstance(work.func, ast.Name)):
        raise _UnknownError
    if work.func.id == "Work":
        counted = [keyword.value for keyword in work.keywords if keyword.arg == unit]
        return _value(module, counted[0], known) if counted else None
    match definitions(module).get(work.func.id):
        case ast.FunctionDef(body=[*before, ast.Return(value=ast.expr() as returned)]) as helper:
            if len(before) == (ast.get_docstring(helper) is not None):
                return _work(module, returned, _bound(module, helper, work, known), unit)
    raise _UnknownError


def _bound(module: Path, helper: ast.FunctionDef, call: ast.Call, known: Known) -> Known:
    """Return the arguments that a helper is called with, its defaults among them."""
    names = [argument.arg for argument in helper.args.args]
    given = dict(zip(reversed(names), reversed(helper.args.defaults), strict=False))
    given |= dict(zip(names, call.args, strict=False))
    given |= {argument.arg: argument.value for argument in call.keywords if argument.arg}
    return {name: _value(module, value, known) for name, value in given.items()}


def _value(module: Path, expression: ast.expr, known: Known) -> float:
    match expression:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name) if name in known and name not in DEVICES:
            return known[name]
        case ast.Name(id=name):
            constant = definitions(module).get(name)
            if isinstance(constant, ast.Assign):
                return _value(module, constant.value, {})
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATIONS:
            first, second = _value(module, left, known), _value(module, right, known)
            if not isinstance(sign, ast.Pow) or 0 <= second <= MOST_POWER:
                return OPERATIONS[type(sign)](first, second)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in DEVICES:
            return known[name]
    raise _UnknownError
