# SPDX-License-Identifier: MIT
"""Draws mutants: changes of Python as cosmic-ray makes them, and changes of scripts."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from studies.mutation import javascript
from studies.mutation.trying import Mutant

FOLDERS = {
    "suite": ("suite/**/*.py", 130),
    "reports": ("reports/**/*.py", 130),
    "scripts": ("reports/web/static/*.js", 60),
    "frobench": ("frobench/**/*.py", 60),
    "benchmarks": ("benchmarks/**/*.py", 60),
}
"""Files of each part of the product, and how many mutants of it are tried."""
NOT_TRIED = re.compile(
    r"RemoveDecorator"  # most of them cache, and change no result
    r"|BinaryOperator_(\w+_)?BitOr"  # stands in the hints of types
    r"|Comparison\w+_(?!Is)\w+_Is(Not)?$"  # is the same for what is compared here
    r"|Comparison\w+_Is(Not)?_(?!Is)\w+$"
)
"""Operators of cosmic-ray whose mutants would say nothing about tests."""
NO_RESULT = re.compile(r"\b(frozen|kw_only|maxsize|strict)=[^,)]*|\bTYPE_CHECKING\b")
"""Values on which no result depends while the code is right."""


class Site(NamedTuple):
    """A position in a file and what may change there.

    place : line and column; of a script, its position in the text
    changes : operators of cosmic-ray, and which of their occurrences; of a script, its texts
    """

    path: str
    place: tuple[int, int]
    changes: list[tuple[str, int]]


def draw(checkout: Path, folder: str, number: int, random: Random, pool: Executor) -> list[Mutant]:
    """Draw so many mutants of a folder, at most one of each site: all sites are equally likely."""
    names = [path.relative_to(checkout).as_posix() for path in checkout.glob(FOLDERS[folder][0])]
    found = pool.map(partial(_sites, checkout), sorted(names), chunksize=4)
    order = [site for sites in found for site in sites]
    random.shuffle(order)
    drawn = [(site, random.choice(site.changes)) for site in order]
    mutants: list[Mutant] = []
    while drawn and (missing := number - len(mutants)) > 0:
        made = pool.map(partial(_mutant, checkout, folder), drawn[:missing])
        mutants += filter(None, made)
        del drawn[:missing]
    return mutants


def _sites(checkout: Path, path: str) -> list[Site]:
    """Return each position of a file that may change."""
    source = (checkout / path).read_text("utf-8")
    if path.endswith(".js"):
        every = javascript.changes(source)
        return [Site(path, (place, 0), [(text, 0) for text in texts]) for place, texts in every]
    kinds: dict[str, list[str]] = {}
    for name in sorted(operator_names()):
        if not (NOT_TRIED.search(name) or get_operator(name).arguments()):
            kinds.setdefault(name.rpartition("_")[0] or name, []).append(name)
    nodes, lines = [*ast_nodes(get_ast(source))], source.splitlines()
    return [
        Site(path, start, [(name, occurrence) for name in names])
        for names in kinds.values()
        for occurrence, start in enumerate(_starts(get_operator(names[0])(), nodes))
        if not any(start[1] in range(*at.span()) for at in NO_RESULT.finditer(lines[start[0] - 1]))
    ]


def _starts(operator: object, nodes: Iterable[object]) -> Iterator[tuple[int, int]]:
    positions: Callable[[object], Iterable[tuple[tuple[int, int], object]]]
    positions = operator.mutation_positions  # type: ignore[attr-defined]
    return (start for node in nodes for start, _ in positions(node))


def _mutant(checkout: Path, folder: str, drawn: tuple[Site, tuple[str, int]]) -> Mutant | None:
    """Make a mutant; none where the changed text is no Python or means the same.

    cosmic-ray cannot change an exception that a handler names as an attribute.
    """
    site, (name, occurrence) = drawn
    source = (checkout / site.path).read_text("utf-8")
    if site.path.endswith(".js"):
        line = source.count("\n", 0, site.place[0]) + 1
        return Mutant(folder, site.path, line, name, _difference(source, name))
    try:
        changed = str(mutate_code(source, get_operator(name)(), occurrence))
        same = ast.dump(ast.parse(changed)) == ast.dump(ast.parse(source))
    except (AttributeError, SyntaxError):
        return None
    if same:
        return None
    return Mutant(folder, site.path, site.place[0], changed, _difference(source, changed))


def _difference(before: str, after: str) -> str:
    """Return the lines that differ, as `before -> after`."""
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    differing = [(old.strip(), new.strip()) for old, new in pairs if old != new]
    old, new = (" ".join(lines) for lines in zip(*islice(differing, 3), strict=True))
    return f"{old} -> {new}"
