# SPDX-License-Identifier: MIT
"""Rules about runs: what a run says of itself, and whether a stored file can be believed.

A rule is one small function in one of these modules; adding it there is all there is to do.
`python -m suite.checks` prints them all, as `docs/checks.md` has them.
"""

import json
from pathlib import Path

from msgspec.structs import replace

from suite import private, store
from suite.checks import (
    clock,
    failures,
    inputs,
    integrity,
    launches,
    noise,
    privacy,
    rule,
    settings,
    steadiness,
    structure,
    timing,
    work,
)
from suite.model import Conclusion, Run

OF_NUMBERS = (timing, work, inputs, clock, settings, launches, noise, steadiness)
"""Modules of rules about what was measured."""
OF_FILES = (structure, privacy, integrity)
"""Modules of rules that say whether a stored file is valid."""


def conclude(run: Run) -> list[Conclusion]:
    """Say what failed in a run, what is wrong with its numbers, and what makes them doubtful.

    A case whose structure is wrong is not judged by its numbers.
    """
    broken = list(rule.conclusions(structure, run))
    named = {found.case for found in broken}
    sound = replace(run, benchmarks=[one for one in run.benchmarks if one.fullname not in named])
    doubts = [found for module in OF_NUMBERS for found in rule.conclusions(module, sound)]
    named_in = rule.conclusions(privacy, run)
    return [*rule.conclusions(failures, run), *broken, *named_in, *doubts]


def validate(path: Path) -> list[Conclusion]:
    """Return the faults of a stored file, none if it is as Frobench writes it.

    Raises
    ------
    OSError
        The file cannot be opened.
    """
    try:
        run = store.read(path)
    except store.InvalidResult as fault:
        return [unreadable(fault)]
    found = [one for module in OF_FILES for one in rule.conclusions(module, run)]
    return [*found, *_unread(path, found)]


def _unread(path: Path, found: list[Conclusion]) -> list[Conclusion]:
    """Say what fields name somebody that no reader knows, and no rule sees."""
    known = {one.message for one in found}
    more = dict.fromkeys(private.told(json.loads(path.read_bytes())))
    code, advice = "personal-data", rule.advice(privacy.personal_data)
    return [
        Conclusion(code=code, severity=privacy.SEVERITY, message=message, advice=advice)
        for message in more
        if message not in known
    ]


def unreadable(fault: store.InvalidResult) -> Conclusion:
    """The file is no stored run, or not a whole one.

    Take the file again from where it was made; it was cut off or edited.
    """  # noqa: D401 - as in a rule, the first line is the user's
    return Conclusion(
        code="unreadable", severity="error", message=str(fault), advice=rule.advice(unreadable)
    )
