# SPDX-License-Identifier: MIT
"""Where in the benchmarks an error was raised, and everything that it says."""

import traceback
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

LONGEST = 20_000
"""Characters of an error with its traceback, of which the end is kept."""


def where(error: BaseException, folder: Path) -> str:
    """Return the file and line below a folder that an error comes from, or nothing."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return _named(Path(error.filename), error.lineno, folder)
    frames = traceback.extract_tb(error.__traceback__)
    lines = (_named(Path(frame.filename), frame.lineno, folder) for frame in frames)
    return next(filter(None, reversed([*lines])), "")


def last_place(error: BaseException) -> str:
    """Return the file's name and the line in which an error was raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"in {Path(frame.filename).name}, line {frame.lineno}"


def whole(error: BaseException, folder: Path) -> str:
    """Return an error's traceback, from the first line below a folder on, and its whole message."""
    trace: TracebackType | None = error.__traceback__
    while trace and not Path(trace.tb_frame.f_code.co_filename).is_relative_to(folder):
        trace = trace.tb_next
    lines = traceback.format_exception(type(error), error, trace or error.__traceback__)
    return "".join(lines)[-LONGEST:].rstrip()


def _named(file: Path, line: int | None, folder: Path) -> str:
    return f"{file.relative_to(folder)}:{line}" if file.is_relative_to(folder) else ""
