# SPDX-License-Identifier: MIT
"""Mutants: a change of one operator, number, condition or loop, as cosmic-ray makes them."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from studies.mutation.trying import Mutant

NOT_TRIED = re.compile(
    r"RemoveDecorator"  # most of them cache, and change no result
    r"|BinaryOperator_(\w+_)?BitOr"  # stands in the hints of types
    r"|Comparison\w+_(?!Is)\w+_Is(Not)?$"  # is the same for what is compared here
    r"|Comparison\w+_Is(Not)?_(?!Is)\w+$"
)
"""Operators of cosmic-ray whose mutants would say nothing about tests."""


class Site(NamedTuple):
    """A position in a file, and a kind of change there.

    path : of the file, relative to the checkout
    start, end : line from 1, column from 0
    kind : the common name of cosmic-ray's operators, for example `core/NumberReplacer`
    """

    path: str
    start: tuple[int, int]
    end: tuple[int, int]
    kind: str


def draw(checkout: Path, files: Iterable[Path], number: int, random: Random) -> list[Mutant]:
    """Draw so many mutants, at most one of each site: all sites are equally likely."""
    sites: dict[Site, list[tuple[str, int]]] = {}
    for path in sorted(files):
        for site, change in _sites(checkout, path):
            sites.setdefault(site, []).append(change)
    order = sorted(sites)
    random.shuffle(order)
    drawn = (_mutant(checkout, site, random.choice(sites[site])) for site in order)
    return [mutant for mutant, _ in zip(filter(None, drawn), range(number), strict=False)]


def _sites(checkout: Path, path: Path) -> Iterator[tuple[Site, tuple[str, int]]]:
    """Yield each change of a file: the site, and operator and occurrence as cosmic-ray counts."""
    nodes = [*ast_nodes(get_ast(path.read_text("utf-8")))]
    short = path.relative_to(checkout).as_posix()
    for name in operator_names():
        operator = get_operator(name)
        if operator.arguments() or NOT_TRIED.search(name):
            continue
        places = (at for node in nodes for at in operator().mutation_positions(node))
        for occurrence, (start, end) in enumerate(places):
            yield Site(short, start, end, name.partition("_")[0]), (name, occurrence)


def _mutant(checkout: Path, site: Site, change: tuple[str, int]) -> Mutant | None:
    """Make a mutant; none where the changed text is no Python or means the same."""
    name, occurrence = change
    source = (checkout / site.path).read_text("utf-8")
    changed = str(mutate_code(source, get_operator(name)(), occurrence))
    try:
        same = ast.dump(ast.parse(changed)) == ast.dump(ast.parse(source))
    except SyntaxError:
        return None
    return None if same else Mutant(site.path, site.start[0], changed, _difference(source, changed))


def _difference(before: str, after: str) -> str:
    """Return the lines that differ, as `before -> after`."""
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    differing = [(old.strip(), new.strip()) for old, new in pairs if old != new]
    old, new = (" ".join(lines) for lines in zip(*differing, strict=True))
    return f"{old} -> {new}"
