# SPDX-License-Identifier: MIT
"""Why a case has no samples, in words that name nobody."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Literal

import pytest

from suite.checks import raised
from suite.errors import LostRankError, WrongResultError
from suite.journal.records import Refused
from suite.personal import private

LONGEST_REASON, LONGEST_MESSAGE = 300, 3_000
"""Characters of a stored reason, and of an error's message that are looked at: ten times as many,
so that nothing is cut in half before it is hidden."""
IN_WORDS = (pytest.skip.Exception, pytest.fail.Exception, WrongResultError, LostRankError)
"""Errors whose text is a reason by itself."""
_PATH = re.compile(r"(?<![\w.])(?:[A-Za-z]:\\|~?/)[^\s'\",;:)]+")


def refusal(
    launch: int,
    case: str,
    status: Literal["skipped", "failed"],
    error: BaseException,
    folder: Path,
) -> Refused:
    """Return why a case has no samples; what it raised itself with the file and the line.

    folder : that of the case's file
    """
    refused = Refused(launch=launch, case=case, status=status, reason=reason_of(error))
    if isinstance(error, WrongResultError):
        refused.check = error.check
    elif isinstance(error, LostRankError):
        refused.lost = True
    elif not isinstance(error, IN_WORDS):
        if where := raised.where(error, folder):
            refused.reason += f" ({where})"
        refused.details = raised.whole(error, folder)
    return refused


def reason_of(error: BaseException) -> str:
    """Return the first line of an error, without what names anybody, as the reason of a refusal."""
    message = ""
    with suppress(Exception):  # the text of an error may itself raise another one
        message = str(getattr(error, "msg", None) or error)
    line = _PATH.sub(private.HIDDEN, message.strip().partition("\n")[0][:LONGEST_MESSAGE])
    line = private.hide(line, private.own_names())[:LONGEST_REASON]
    if isinstance(error, IN_WORDS):
        return line
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
