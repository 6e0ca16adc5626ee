# SPDX-License-Identifier: MIT
"""Rules about runs: what a run says of itself, and whether a stored file can be believed.

A rule is one small function in one of these modules; adding it there is all there is to do.
"""

from pathlib import Path

from suite import store
from suite.checks import failures, noise, rule, structure
from suite.model import Conclusion, Run


def conclude(run: Run) -> list[Conclusion]:
    """Say what failed in a run and what makes its numbers less trustworthy."""
    return [*rule.conclusions(failures, run), *rule.conclusions(noise, run)]


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
        return [
            Conclusion(
                code="unreadable",
                severity="error",
                message=str(fault),
                advice="Take the file again from where it was made; it was cut off or edited.",
            )
        ]
    return list(rule.conclusions(structure, run))
