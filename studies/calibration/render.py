# SPDX-License-Identifier: MIT
"""Tables of figures as text: the same cells for a terminal and for a document."""

from collections.abc import Iterable

from frobench.suite.units import format_value
from studies.calibration.figures import RATIO, Figure, Goal, Study, Table
from studies.tables import table


def cells(found: Table) -> list[list[str]]:
    """Return the rows of a table, headings first; a goal that is missed is marked so.

    The last column holds the goals of a row, in the order of its figures, if any row has one.
    """
    columns = list(dict.fromkeys(one.column for one in found.figures))
    rows: dict[str, dict[str, Figure]] = {}
    for one in found.figures:
        rows.setdefault(one.row, {})[one.column] = one
    lines = [
        [found.rows, *columns, "goal"],
        *(
            [name, *(_cell(row.get(column)) for column in columns), _goals(row.values())]
            for name, row in rows.items()
        ),
    ]
    aimed = any(one.goal for one in found.figures)
    return lines if aimed else [row[:-1] for row in lines]


def shown(found: Table) -> str:
    """Return a table with its title and its note."""
    heading, *rows = cells(found)
    return "\n\n".join(filter(None, (f"{found.title}:", table(heading, rows, 1), found.note)))


def markdown(study: Study) -> str:
    """Return what a study found, its tables and where they come from, for a document."""
    made = (
        f"Made on {study.date} on `{study.machine}` with revision `{study.commit}`, "
        f"in {study.seconds:.0f} s."
    )
    return "\n\n".join([*map(shown, study.tables), made])


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return ""
    return _number(figure.value, figure.unit) + (" (missed)" if figure.met is False else "")


def _goals(row: Iterable[Figure]) -> str:
    texts = [_goal(one.goal, one.unit) for one in row if one.goal is not None]
    return ", ".join(dict.fromkeys(texts))


def _goal(goal: Goal, unit: str) -> str:
    least, most = (
        None if limit is None else _number(limit, unit) for limit in (goal.least, goal.most)
    )
    if least is not None and most is not None:
        return f"{least} to {most}"
    return f"at least {least}" if most is None else f"at most {most}"


def _number(value: float, unit: str) -> str:
    return format_value(value, unit, digits=4 if unit == RATIO else 3)
