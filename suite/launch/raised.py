# SPDX-License-Identifier: MIT
"""Where in the benchmarks an error was raised, and everything that it says."""

import traceback
from pathlib import Path

LONGEST = 20_000
"""Characters of an error with its traceback, of which the end is kept."""


def where(error: BaseException, folder: Path) -> str:
    """Return the file and line below a folder that an error comes from, or nothing."""
    lines = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename is not None:
        lines = [(error.filename, error.lineno)]
    for filename, line in reversed(lines):
        if Path(filename).is_relative_to(folder):
            return f"{Path(filename).relative_to(folder)}:{line}"
    return ""


def whole(error: BaseException, folder: Path) -> str:
    """Return an error's traceback, from the first line below a folder on, and its whole message."""
    trace = error.__traceback__
    while trace and not Path(trace.tb_frame.f_code.co_filename).is_relative_to(folder):
        trace = trace.tb_next
    lines = traceback.format_exception(type(error), error, trace or error.__traceback__)
    return "".join(lines)[-LONGEST:].rstrip()
