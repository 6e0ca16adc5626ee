# SPDX-License-Identifier: MIT
"""What counts as the same case in two runs, and why a case is not there or not the same."""

import re
from collections.abc import Callable

from suite.stored.run import Case, Conclusion, Run
from suite.units import counted

Names = Callable[[str], str]
"""Makes those names equal that count as equal: `str` none, `kind` those of accelerators."""
_ACCELERATOR = re.compile(r"[a-z]\w*:\d+")


def kind(name: str) -> str:
    """Replace the names of accelerators, such as ``cuda:0``, by what they are."""
    return _ACCELERATOR.sub("accelerator", name)


def failures(run: Run, where: str) -> dict[str, str]:
    """Return why the samples of a case count for nothing, by the case's full name.

    where : names the run in the reason
    """
    found = {one.case: _spelled(one, where) for one in _errors(run) if one.case is not None}
    found |= {
        outcome.fullname: f"failed{where}: {outcome.reason}"
        for outcome in run.frobench.outcomes
        if outcome.status == "failed"
    }
    for case in run.benchmarks:
        check = case.extra_info.check
        if check is not None and not check.passed:
            found[case.fullname] = f"wrong result{where}: {check.compared}"
    return found


def faults(run: Run, where: str) -> list[str]:
    """Return why no sample of a run counts, a line each: the errors that name no case.

    where : as for `failures`
    """
    return [_spelled(one, where) for one in _errors(run) if one.case is None]


def other_thing(old: Case, late: Case, names: Names = str) -> str | None:
    """Say why two measurements of a case are not of the same thing, or ``None``."""
    one, other = old.extra_info, late.extra_info
    if one.version != other.version:
        return f"another version of the benchmark: {one.version} -> {other.version}"
    if [*map(names, one.devices)] != [*map(names, other.devices)]:
        return f"other devices: {', '.join(one.devices)} -> {', '.join(other.devices)}"
    if one.search and other.search and one.search.shape != other.search.shape:
        shapes = (" x ".join(map(str, found.shape)) for found in (one.search, other.search))
        return f"another shape was found: {' -> '.join(shapes)}"
    if one.check and other.check and one.check.precision != other.check.precision:
        return f"other precision: {one.check.precision} -> {other.check.precision}"
    return None


def absence(case: Case, other: Run, names: Names = str) -> str:
    """Say why another run did not measure a case."""
    needed, there = (
        sum(kind(name) == "accelerator" for name in devices)
        for devices in (case.extra_info.devices, other.frobench.settings.devices)
    )
    if needed > there:
        return f"{counted(there, 'accelerator')} measured there"
    for outcome in other.frobench.outcomes:
        if names(outcome.fullname) == names(case.fullname):
            return f"{outcome.status} there: {outcome.reason}"
    return "not selected there"


def _errors(run: Run) -> list[Conclusion]:
    return [one for one in run.frobench.conclusions if one.severity == "error"]


def _spelled(error: Conclusion, where: str) -> str:
    return f"{error.code}{where}: {error.message}"
