# SPDX-License-Identifier: MIT
"""Tables of figures that people extend by hand, a row a figure."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path


def rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a table below its header, each behind where it stands (``file:line``).

    Raises
    ------
    ValueError
        It is no table of text, its header does not name these columns, or a row does not have as
        many.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:  # spreadsheets begin with a mark
            header, *lines = [*csv.reader(file)] or [[]]
    except (UnicodeError, csv.Error) as error:
        raise ValueError(f"{path.name}: no table of text: {error}") from error
    if header != list(columns):
        raise ValueError(f"{path.name}: the columns are not {', '.join(columns)}")
    for number, row in enumerate(lines, 2):
        if len(row) != len(columns):
            raise ValueError(f"{path.name}:{number}: {len(row)} columns, not {len(columns)}")
        yield f"{path.name}:{number}", row
