# SPDX-License-Identifier: MIT
"""Which case a user means, and which are near it where it is none or several."""

from collections.abc import Sequence
from difflib import get_close_matches

import pytest

from suite.errors import NothingSelectedError
from suite.launch.collection import has_cases, parameters
from suite.stored.names import name_of, short_name

MOST_NAMES = 8
"""Cases that an error names."""
LIKENESS = 0.4
"""How alike names are, of 1, that an error calls near."""


def matching(wanted: str, cases: Sequence[str]) -> list[str]:
    """Return the cases with a name, in full or without file or ``bench``, or else those with it.

    cases : full names
    """
    named = [case for case in cases if wanted in {case, short_name(case), name_of(case)}]
    return named or [case for case in cases if wanted.lower() in case.lower()]


def the_case(wanted: str, cases: Sequence[str]) -> str:
    """Return the full name of the one case that a user means.

    Raises `NothingSelectedError` if no case matches, or several do; the message lists those that
    are near.
    """
    matches = matching(wanted, cases)
    if len(matches) == 1:
        return matches[0]
    if matches:
        several = f"{wanted!r} matches {len(matches)} cases; give the name of one:"
        raise NothingSelectedError("\n".join([several, *_listed(matches)]))
    names = {name_of(case): case for case in cases}
    near = [names[name] for name in get_close_matches(wanted, names, MOST_NAMES, LIKENESS)]
    if not near:
        raise NothingSelectedError(
            f"no case matches {wanted!r}; `frobench list --profile rigorous` shows what there is"
        )
    raise NothingSelectedError(
        "\n".join([f"no case matches {wanted!r}; near are:", *_listed(near)])
    )


def _listed(cases: Sequence[str]) -> list[str]:
    """Return the shortest names that tell cases apart, a line each."""
    short = [name_of(case) for case in cases]
    names = short if len(set(short)) == len(short) else cases
    more = [f"  and {len(cases) - MOST_NAMES} more"] if len(cases) > MOST_NAMES else []
    return [*(f"  {name}" for name in names[:MOST_NAMES]), *more]


class Choice:
    """A plugin of pytest that leaves one case of those that were collected.

    wanted : what the user called it
    devices : what the chosen case runs on
    error : why none is chosen
    interrupted : whether the user ended the session
    """

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.devices: list[str] = []
        self.error: NothingSelectedError | None = None
        self.interrupted = False

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the chosen case."""
        cases = {
            item.nodeid: item
            for item in items
            if isinstance(item, pytest.Function)
            if "measure" in item.fixturenames and has_cases(item)
        }
        try:
            chosen = cases[the_case(self.wanted, list(cases))]
        except NothingSelectedError as error:
            self.error = error
            items.clear()
            return
        self.devices = str(parameters(chosen)["device"]).split("+")
        items[:] = [chosen]

    def pytest_keyboard_interrupt(self) -> None:
        """Remember that the user ended the session."""
        self.interrupted = True
