# SPDX-License-Identifier: MIT
"""Why a case has no samples, in words that name nobody."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

from suite.checks import raised
from suite.errors import LostRankError, WrongResultError
from suite.personal import private
from suite.stored.run import Check

LONGEST_REASON, LONGEST_MESSAGE = 300, 3_000
"""Characters of a stored reason, and of an error's message that are looked at: ten times as many,
so that nothing is cut in half before it is hidden."""
IN_WORDS = (pytest.skip.Exception, pytest.fail.Exception, WrongResultError, LostRankError)
"""Errors whose text is a reason by itself."""
_PATH = re.compile(r"(?<![\w.])(?:[A-Za-z]:\\|~?/)[^\s'\",;:)]+")


class Refusal(NamedTuple):
    """Why a case has no samples; see `suite.journal.records.Refused`."""

    status: Literal["failed", "skipped"]
    reason: str
    check: Check | None = None
    details: str = ""
    lost: bool = False


def refusal(status: Literal["skipped", "failed"], error: BaseException, folder: Path) -> Refusal:
    """Return why a case has no samples; what it raised itself with the file and the line.

    folder : that of the case's file
    """
    reason = reason_of(error)
    if isinstance(error, WrongResultError):
        return Refusal(status, reason, error.check)
    if isinstance(error, pytest.skip.Exception | pytest.fail.Exception):
        return Refusal(status, reason)
    if isinstance(error, LostRankError):
        return Refusal(status, reason, lost=True)
    where = raised.where(error, folder)
    return Refusal(
        status, f"{reason} ({where})" if where else reason, details=raised.whole(error, folder)
    )


def reason_of(error: BaseException) -> str:
    """Return the first line of an error, without what names anybody, as the reason of a refusal."""
    line = _message(error).strip().partition("\n")[0][:LONGEST_MESSAGE]
    line = _PATH.sub(private.HIDDEN, line)
    line = private.hide(line, private.own_names())[:LONGEST_REASON]
    if isinstance(error, IN_WORDS):
        return line
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


def _message(error: BaseException) -> str:
    """Return what an error says; nothing where its own text raises another one."""
    with suppress(Exception):
        return str(getattr(error, "msg", None) or error)
    return ""
