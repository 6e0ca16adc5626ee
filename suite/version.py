# SPDX-License-Identifier: MIT
"""The version of a benchmark: a hash of everything that decides what it measures.

It covers the function's code, its grids of parameters, and the code of whatever else it uses
of its module, or imports by name from a helper beside that module. A helper is written for
benchmarks: it imports one of `KIT`. Every other module is code that is measured. A change of that
is what a comparison is to find, so it changes no version. Comments, docstrings and layout do not
count, nor does what only tells the checks more of a case (`DECLARATIONS`). Results of unequal
versions are not compared.
"""

import ast
import hashlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

DECLARATIONS = {"Work": "path", "measure": "control"}
"""Arguments that change nothing that is measured, by the name of the function that takes them."""
KIT = frozenset({"pytest", "suite"})
"""Packages that benchmarks and their helpers are written with, and code under test is not."""
Place = tuple[str, str]
"""A module's file, and a name in it."""


def benchmark_version(function: Callable[..., Any]) -> str:
    """Return the version of a benchmark function, twelve hexadecimal digits."""
    return version_in(Path(inspect.getsourcefile(function) or ""), function.__name__)


def version_in(module: Path, name: str) -> str:
    """Return the version of a benchmark by its module's file, which is not run.

    Raises `LookupError` if the module, or a benchmark of that name in it, is not there.
    """
    if not module.is_file() or name not in definitions(module):
        raise LookupError(f"{module.name} has no {name}")
    entries, code = [(str(module), name)], set()
    known = set(entries)
    for entry in entries:  # grows while the names that each definition uses are found
        text, used = _part(*entry)
        if text is not None:
            code.add((entry[1], text))
        entries += [other for other in used if other not in known]
        known.update(used)
    lines = (f"{word}: {text}" for word, text in sorted(code))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


@cache
def _part(path: str, name: str) -> tuple[str | None, list[Place]]:
    """Return the code that defines a name, none where it is imported, and what that uses."""
    known = definitions(Path(path))
    definition = known[name]
    if isinstance(definition, ast.ImportFrom):
        return None, _imported(definition, name, path)
    names = {node.id for node in _plain(definition) if isinstance(node, ast.Name)}
    return ast.unparse(definition), [(path, word) for word in names if word in known]


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


@cache
def definitions(path: Path) -> dict[str, ast.stmt]:
    """Return what defines each name of a module at its top level."""
    module = _parsed(path)
    definitions: dict[str, ast.stmt] = {}
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            definitions[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    definitions[target.id] = statement
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            definitions[statement.target.id] = statement
        elif isinstance(statement, ast.ImportFrom):
            definitions |= dict.fromkeys(map(_alias, statement.names), statement)
    return definitions


def _imported(statement: ast.ImportFrom, name: str, path: str) -> list[Place]:
    """Return where a module finds a name that it imports, if a helper beside it defines it.

    Names that stand in a row, as in ``A, B = 1, 2``, count neither at home nor from a helper.
    """
    sibling = Path(path).parent / f"{statement.module}.py"
    if not _is_helper(sibling):
        return []
    originals = (alias.name for alias in statement.names if _alias(alias) == name)
    return [(str(sibling), original) for original in originals if original in definitions(sibling)]


@cache
def _is_helper(path: Path) -> bool:
    """Tell whether a file is there and is a module written for benchmarks."""
    return path.is_file() and not KIT.isdisjoint(_packages(_parsed(path)))


def _packages(module: ast.Module) -> Iterator[str]:
    """Yield the top-level packages that a module imports at its top level."""
    for statement in module.body:
        if isinstance(statement, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            yield (statement.module or "").partition(".")[0]


def _alias(alias: ast.alias) -> str:
    return alias.asname or alias.name


def _plain(definition: ast.stmt) -> list[ast.AST]:
    """Take docstrings and declarations out of a definition, and return what is left in it."""
    for node in [*ast.walk(definition)]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            declared = DECLARATIONS.get(node.func.id)
            node.keywords = [
                keyword
                for keyword in node.keywords
                if keyword.arg is None or keyword.arg != declared
            ]
    return [*ast.walk(definition)]
