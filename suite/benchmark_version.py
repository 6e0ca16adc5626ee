# SPDX-License-Identifier: MIT
"""The version of a benchmark: a hash of everything that decides what it measures.

It covers the function's code, its grids of parameters, and the code of whatever else it uses
of its module, or imports by name from a helper beside that module. A helper is written for
benchmarks: it imports one of `KIT`. Every other module is measured code, whose changes a comparison
is to find. Comments, docstrings, layout and `DECLARATIONS` do not count. Results of unequal
versions are not compared.
"""

import ast
import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

DECLARATIONS = {"Work": "path", "measure": "control"}
"""Arguments that change nothing that is measured, by the name of the function that takes them."""
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
KIT = frozenset({"frobench", "pytest", "suite"})
"""Packages that benchmarks and their helpers are written with, and code under test is not.

Before `frobench` was the only name, benchmarks imported from `suite`.
"""


def benchmark_version(function: Callable[..., Any]) -> str:
    """Return the version of a benchmark function, twelve hexadecimal digits."""
    written = inspect.unwrap(function)  # a decorator's wrapper lies in another file
    outermost = written.__qualname__.partition(".")[0]  # the class of a method
    return version_in(Path(inspect.getsourcefile(written) or ""), outermost)


@cache
def version_in(module: Path, name: str) -> str:
    """Return the version of a benchmark by its module's file, which is not run.

    Raises `LookupError` if the module, or a benchmark of that name in it, is not there.
    """
    if not module.is_file() or name not in definitions(module):
        raise LookupError(f"{module.name} has no {name}")
    left = [(str(module), name)]
    known, code = set(left), set()
    while left:
        path, word = left.pop()
        text, used = _part(path, word)
        if text is not None:
            code.add((word, text))
        left += used - known
        known |= used
    lines = (f"{word}: {text}" for word, text in sorted(code))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


@cache
def _part(path: str, name: str) -> tuple[str | None, set[tuple[str, str]]]:
    """Return the code that defines a name, none where it is imported, and the names it uses.

    Each comes with its module's file. Names in a row, as in ``A, B = 1, 2``, do not count.
    """
    known = definitions(Path(path))
    definition = known[name]
    if not isinstance(definition, ast.ImportFrom):
        names = {node.id for node in _plain(definition) if isinstance(node, ast.Name)}
        return ast.unparse(definition), {(path, word) for word in names if word in known}
    helper = Path(path).parent / f"{definition.module}.py"
    if not _is_helper(helper):
        return None, set()
    originals = {alias.name for alias in definition.names if _alias(alias) == name}
    return None, {(str(helper), original) for original in originals & definitions(helper).keys()}


@cache
def _statements(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_bytes()).body


@cache
def definitions(path: Path) -> dict[str, ast.stmt]:
    """Return what defines each name of a module at its top level."""
    definitions: dict[str, ast.stmt] = {}
    for statement in _statements(path):
        if isinstance(statement, FUNCTIONS | ast.ClassDef):
            definitions[statement.name] = statement
        elif isinstance(statement, ast.If | ast.Try):
            inner = (node.name for node in ast.walk(statement) if isinstance(node, FUNCTIONS))
            definitions |= dict.fromkeys(inner, statement)
        elif isinstance(statement, ast.Assign):
            names = (target.id for target in statement.targets if isinstance(target, ast.Name))
            definitions |= dict.fromkeys(names, statement)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            definitions[statement.target.id] = statement
        elif isinstance(statement, ast.ImportFrom):
            definitions |= dict.fromkeys(map(_alias, statement.names), statement)
    return definitions


@cache
def _is_helper(path: Path) -> bool:
    """Tell whether a file is there and is a module written for benchmarks."""
    packages = set()
    for statement in _statements(path) if path.is_file() else ():
        if isinstance(statement, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            packages.add((statement.module or "").partition(".")[0])
    return not KIT.isdisjoint(packages)


def _alias(alias: ast.alias) -> str:
    return alias.asname or alias.name


def _plain(definition: ast.stmt) -> list[ast.AST]:
    """Take docstrings and declarations out of a definition, and return what is left in it."""
    for node in [*ast.walk(definition)]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            declared = DECLARATIONS.get(node.func.id, "")
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != declared]
    return [*ast.walk(definition)]
