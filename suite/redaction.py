# SPDX-License-Identifier: MIT
"""A stored run made ready to be published: without what names anybody, and with proof of it.

Older files may hold packages that move no number, a branch, a selection as it was typed. That is
taken out here, and what is left is searched again, for the names of this host and its user too.
Nothing is sent anywhere.
"""

import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from frobench.suite import checks, personal_data
from frobench.suite.checks import personal, rule
from frobench.suite.machine.host import public_packages, storable
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Outcome, Run
from frobench.suite.units import counted

MACHINE_INFO = {
    *("cpu", "machine", "node", "processor", "release", "system"),
    *("python_build", "python_compiler", "python_implementation"),
    *("python_implementation_version", "python_version"),
}
"""What pytest-benchmark stores of a machine; plugins may add more."""
FOLDER = "benchmarks"
MENDED = frozenset(rule.rules(personal))
"""Codes of what may be wrong with a file before it is shared: sharing mends it."""
_WORD = re.compile(r"\w+")
_PLACE = re.compile(r"\[\d+\]")
_LOGIC = {"and", "or", "not"}


class Removed(NamedTuple):
    """What is not published, in words, and its place in the file; see `pattern`."""

    where: str
    what: str


def redact(run: Run, names: Collection[str]) -> tuple[Run, list[Removed]]:
    """Return a run without what names anybody, its digest made anew, and what was taken out.

    names : of this host and its user

    Raises `suite.stored.store.InvalidResult` if what is left names somebody or is no valid run.
    """
    run = msgspec.json.decode(msgspec.json.encode(run), type=Run)
    removed = [item for part in PARTS for item in part(run)]

    def change(where: str, text: str) -> str:
        if kinds := dict.fromkeys(found.kind for found in personal_data.find(text, names, where)):
            removed.append(Removed(pattern(where), " and ".join(kinds)))
        return personal_data.hide(text, names, where)

    clean: Run = personal_data.rewritten(run, change)
    clean.frobench.digest = store.digest(clean)
    for fault in rule.conclusions(clean, *checks.OF_FILES):
        raise store.InvalidResult(f"{fault.case or 'the run'}: {fault.code}: {fault.message}")
    return clean, removed


def _host(run: Run) -> Iterator[Removed]:
    """Forget the host's name, facts of other plugins, and a branch's own name."""
    if run.machine_info.get("node"):
        run.machine_info["node"] = ""
        yield Removed("$.machine_info.node", "the host's name")
    foreign = run.machine_info.keys() - MACHINE_INFO
    for name in foreign:
        del run.machine_info[name]
    if foreign:
        yield Removed("$.machine_info", f"{counted(len(foreign), 'fact')} of another plugin")
    if run.commit_info.branch not in personal.COMMON_BRANCHES:
        run.commit_info.branch = None
        yield Removed("$.commit_info.branch", "a branch's own name")


def _software(run: Run) -> Iterator[Removed]:
    """Forget packages that move no number, and values of variables that name a person or host."""
    software = run.frobench.environment.software
    where = "$.frobench.environment.software"
    kept = public_packages(software.packages)
    if others := len(software.packages) - len(kept):
        software.packages = kept
        what = f"{counted(others, 'package')} that no number depends on"
        yield Removed(f"{where}.packages", what)
    values = {name: storable(name, value, ()) for name, value in software.variables.items()}
    if changed := sum(values[name] != value for name, value in software.variables.items()):
        software.variables = values
        what = f"{counted(changed, 'value')} with a path or an address, or somebody's"
        yield Removed(f"{where}.variables", what)


def _selection(run: Run) -> Iterator[Removed]:
    """Forget a selection as it was typed, unless its words are those of the cases' names."""
    names = " ".join(outcome.fullname for outcome in run.frobench.outcomes).lower()
    typed = run.frobench.settings.expression
    if any(word not in names for word in set(_WORD.findall(typed.lower())) - _LOGIC):
        run.frobench.settings = replace(run.frobench.settings, expression=personal_data.HIDDEN)
        yield Removed("$.frobench.settings.expression", "a selection as it was typed")


def _project(run: Run) -> Iterator[Removed]:
    """Forget the name of the project that was measured, and its benchmarks' folder."""
    project = run.frobench.project
    if project and project.name is not None:
        project.name = None
        yield Removed("$.frobench.project.name", "the name of the project that was measured")
    changed = set()

    def plain(fullname: str) -> str:
        path, separator, case = fullname.partition("::")
        folder, slash, file = path.rpartition("/")
        if not separator or not slash or folder == FOLDER:
            return fullname
        changed.add(folder)
        return f"{FOLDER}/{file}::{case}"

    entries: list[Case | Outcome] = [*run.benchmarks, *run.frobench.outcomes]
    for entry in entries:
        entry.fullname = plain(entry.fullname)
    run.frobench.conclusions = [
        replace(conclusion, case=plain(conclusion.case)) if conclusion.case else conclusion
        for conclusion in run.frobench.conclusions
    ]
    if changed:
        yield Removed("$.benchmarks[].fullname", "the benchmarks' folder")


PARTS: tuple[Callable[[Run], Iterator[Removed]], ...] = (_host, _software, _project, _selection)
"""What takes out parts of a run, in this order: a selection may hold a word of the folder."""


def pattern(where: str) -> str:
    """Return the place of a text with ``[]`` for any entry of a list."""
    return _PLACE.sub("[]", where)
