# SPDX-License-Identifier: MIT
"""Tables of figures that people extend by hand, a row a figure."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path


def rows(
    path: Path, columns: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a table below its header, each behind where it stands (``file:line``).

    optional : columns that a table may have behind the others; without them their cells are empty

    Raises `ValueError` if it is no table of text, its header does not name these columns, or a row
    does not have as many.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:  # spreadsheets begin with a mark
            header, *lines = [*csv.reader(file)] or [[]]
    except (UnicodeError, csv.Error) as error:
        raise ValueError(f"{path.name}: no table of text: {error}") from error
    if header not in ([*columns], [*columns, *optional]):
        raise ValueError(f"{path.name}: the columns are not {', '.join((*columns, *optional))}")
    for number, row in enumerate(lines, 2):
        if len(row) != len(header):
            raise ValueError(f"{path.name}:{number}: {len(row)} columns, not {len(header)}")
        yield f"{path.name}:{number}", row + [""] * (len(columns) + len(optional) - len(row))
