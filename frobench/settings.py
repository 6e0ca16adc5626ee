# SPDX-License-Identifier: MIT
"""The settings of a project, from the table `[tool.frobench]` of its pyproject.toml.

They are defaults of options: an option comes before an environment variable, and this before the
table. A path is relative to the folder of the file.
"""

import socket
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from frobench.options import PROFILES

PATHS = ("benchmarks", "project", "results")
FORMS: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(PATHS, (str, "a folder")),
    "budget": ((int, float), "a number of seconds"),
    "devices": (list, 'a list such as ["cpu", "cuda:0"]'),
    "labels": (dict, 'a table such as {"name-of-the-host" = "label"}'),
    "launches": (int, "a whole number"),
    "profile": (str, '"quick", "standard" or "rigorous"'),
}
"""What each setting is, for Python and for people."""


def defaults(verb: str) -> dict[str, Any]:
    """Return the defaults of a verb's options, from the nearest pyproject.toml.

    Raises click.UsageError if a key is unknown or a value has another type.
    """
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the folder was removed, as the verb says
        return {}
    files = (folder / "pyproject.toml" for folder in (here, *here.parents))
    path = next(filter(Path.is_file, files), None)
    if path is None or (table := _table(path)) is None:
        return {}
    root = path.parent
    usual = {"benchmarks": (root / "benchmarks").is_dir(), "results": root in here.parents}
    found: dict[str, Any] = {name: root / name for name, holds in usual.items() if holds}
    for key, value in table.items():
        place = f"{path}: [tool.frobench] {key}"
        if key not in FORMS:
            near = next(iter(get_close_matches(key, FORMS)), None)
            meant = f"did you mean {near}?" if near else f"there are {', '.join(sorted(FORMS))}"
            raise click.UsageError(f"{place}: no such setting; {meant}")
        kind, form = FORMS[key]
        fits = isinstance(value, kind) and not isinstance(value, bool)
        if not fits or (key == "profile" and value not in PROFILES):
            raise click.UsageError(f"{place}: {form} is expected")
        if key in PATHS:
            found[key] = root / value
        elif key == "devices":
            found[key] = ",".join(map(str, value))
        elif key == "labels":
            found["label"] = value.get(socket.gethostname())
        elif (key, verb) != ("launches", "history"):  # there the number is of one commit
            found[key] = value
    return found


def _table(path: Path) -> dict[str, Any] | None:
    import tomllib  # noqa: PLC0415 - for those who have such a file

    try:
        tables = tomllib.loads(path.read_text("utf-8"))["tool"]
    except (OSError, ValueError, KeyError):  # other tools report a damaged pyproject.toml
        return None
    near = next(iter(get_close_matches("frobench", tables, cutoff=0.8)), "frobench")
    if near != "frobench":
        raise click.UsageError(f"{path}: [tool.{near}]: did you mean [tool.frobench]?")
    table = tables.get("frobench")
    return table if isinstance(table, dict) else None
