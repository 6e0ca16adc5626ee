# SPDX-License-Identifier: MIT
"""The version of a benchmark: a hash of everything that decides what it measures.

It covers the function's code, its grids of parameters, and the code of whatever else of
its module it uses; comments, docstrings and layout do not count. Results of unequal
versions are not compared.
"""

import ast
import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any


def benchmark_version(function: Callable[..., Any]) -> str:
    """Return the version of a benchmark function, twelve hexadecimal digits."""
    definitions = _definitions(inspect.getsourcefile(function) or "")
    used = [function.__name__]
    for name in used:  # grows while the names that each definition uses are found
        used += [
            node.id
            for node in ast.walk(definitions[name])
            if isinstance(node, ast.Name) and node.id in definitions and node.id not in used
        ]
        used = list(dict.fromkeys(used))
    code = "\n".join(f"{name}: {ast.unparse(definitions[name])}" for name in sorted(set(used)))
    return hashlib.sha256(code.encode()).hexdigest()[:12]


@cache
def _definitions(path: str) -> dict[str, ast.stmt]:
    """Return the top-level definitions of a module by name, their docstrings taken out."""
    module = ast.parse(Path(path).read_text(encoding="utf-8"))
    definitions: dict[str, ast.stmt] = {}
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            definitions[statement.name] = _without_docstrings(statement)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    definitions[target.id] = statement
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            definitions[statement.target.id] = statement
    return definitions


def _without_docstrings(statement: ast.stmt) -> ast.stmt:
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return statement
