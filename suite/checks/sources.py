# SPDX-License-Identifier: MIT
"""What the source of a benchmark of this checkout says today, without running it.

Declared work is understood where it is arithmetic over parameters, numbers and constants of the
module, in the call of `measure` or in a function of the module that only returns the work.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from frobench.suite.checkout import BENCHMARKS
from frobench.suite.version import definitions, version_in

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


@cache
def source(module: str) -> Path | None:
    """Return the file of a module of the suite's benchmarks; `None` for somebody's own."""
    folder, _, name = module.rpartition("/")
    return BENCHMARKS / name if folder == BENCHMARKS.name else None


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
    """Return the operations and bytes of one call, those that can be read from the source.

    Raises `LookupError` if the module, or a benchmark of that name in it, is not there.
    """
    known = {name: float(value) for name, value in params.items() if isinstance(value, int)}
    known |= dict.fromkeys(DEVICES, float(devices))
    works: list[ast.expr] = []
    for node in ast.walk(definitions(module)[function]):
        match node:
            case ast.Call(func=ast.Name(id="measure"), keywords=keywords):
                works += [keyword.value for keyword in keywords if keyword.arg == "work"]
    amounts = {}
    for unit in ("flops", "bytes") if len(works) == 1 else ():
        with suppress(LookupError, OverflowError):
            amounts[unit] = _work(module, works[0], known, unit)
    return amounts


def _work(module: Path, work: ast.expr, known: Known, unit: str) -> float:
    """Return the declared work; raises `LookupError` where it is missing or not understood."""
    match work:
        case ast.Call(func=ast.Name(id="Work"), keywords=keywords):
            counted = [keyword.value for keyword in keywords if keyword.arg == unit]
            return _value(module, counted[0], known)
        case ast.Call(func=ast.Name(id=name)):
            helper = definitions(module)[name]
            match helper:
                case ast.FunctionDef(body=[*before, ast.Return(value=ast.expr() as returned)]):
                    if len(before) == (ast.get_docstring(helper) is not None):
                        return _work(module, returned, _bound(module, helper, work, known), unit)
    raise LookupError


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
            constant = definitions(module)[name]
            if isinstance(constant, ast.Assign):
                return _value(module, constant.value, {})
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATIONS:
            first, second = _value(module, left, known), _value(module, right, known)
            if not isinstance(sign, ast.Pow) or 0 <= second <= MOST_POWER:
                return OPERATIONS[type(sign)](first, second)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in DEVICES:
            return known[name]
    raise LookupError
