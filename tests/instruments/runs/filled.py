# SPDX-License-Identifier: MIT
"""A run that fills every place of the schema where a text may be."""

from collections.abc import Iterator
from typing import Any

from msgspec import convert, inspect

from frobench.suite.stored.types import Run

LABEL = "0" * 10


def filled(texts: Iterator[str]) -> Run:
    """Return a run with one entry in every list and table, and the next text in every place."""
    return convert(_filled(inspect.type_info(Run), texts), Run)


def _filled(kind: inspect.Type, texts: Iterator[str]) -> Any:  # noqa: ANN401 - plain JSON
    """Return a value of a type."""
    value: Any = 1
    match kind:
        case inspect.StructType():
            value = {field.encode_name: _filled(field.type, texts) for field in kind.fields}
        case inspect.DictType():
            value = {next(texts): _filled(kind.value_type, texts)}
        case inspect.ListType():
            value = [_filled(kind.item_type, texts)]
        case inspect.TupleType():
            value = [_filled(item, texts) for item in kind.item_types]
        case inspect.UnionType():
            value = _filled(max(kind.types, key=_room), texts)
        case inspect.StrType():
            value = LABEL if kind.pattern else next(texts)
        case inspect.AnyType():
            value = {next(texts): [next(texts)]}
        case inspect.LiteralType():
            value = kind.values[0]
        case inspect.BoolType():
            value = False
    return value


def _room(kind: inspect.Type) -> int:
    """Return how much text a type has room for, compared with others."""
    if isinstance(kind, inspect.StructType | inspect.DictType | inspect.ListType):
        return 3
    if isinstance(kind, inspect.StrType):
        return 2
    return int(not isinstance(kind, inspect.NoneType))


def places(kind: inspect.Type | None = None, where: str = "") -> Iterator[str]:
    """Yield every place where a text may be, as docs/sharing.md writes it.

    ``[]`` is any entry of a list and ``.*`` of a table; the place of a table is that of its names.
    """
    match kind or inspect.type_info(Run):
        case inspect.StructType(fields=fields):
            for field in fields:
                yield from places(field.type, f"{where}.{field.encode_name}".removeprefix("."))
        case inspect.DictType(value_type=value):
            yield where
            yield from places(value, f"{where}.*")
        case inspect.ListType(item_type=item):
            yield from places(item, f"{where}[]")
        case inspect.UnionType(types=kinds):
            for one in kinds:
                yield from places(one, where)
        case inspect.StrType() | inspect.AnyType():
            yield where
