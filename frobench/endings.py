# SPDX-License-Identifier: MIT
"""How a verb ends: with one clear line and an exit code, whatever keeps it from its end."""

import gc
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NoReturn

import click

from frobench.options import stored_here
from frobench.suite.exit_codes import CANNOT, FAILED, INTERRUPTED, absent, absent_module
from frobench.suite.printable import printable

# ruff: noqa: PLC0415 - every verb imports its own, so that none waits for another's


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Let a verb make a million objects, most of which stay, without a search for garbage."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # then they count as old, which most searches for garbage leave out
        gc.unfreeze()
        gc.enable()


def exits_cleanly(verb: Callable[..., None]) -> Callable[..., None]:
    """Turn what keeps a verb from its end into one clear line and its exit code."""

    @wraps(verb)
    def wrapped(**options: Any) -> None:  # noqa: ANN401 - whatever the verb takes
        try:
            verb(**options)
        except ImportError as error:
            if (module := absent_module(error)) is None:
                raise
            end(CANNOT, absent(module))
        except KeyboardInterrupt:  # a run says what is saved
            end(INTERRUPTED, "interrupted while nothing was measured, so nothing is lost")
        except Exception as error:
            tell(error, options)
            raise

    return wrapped


def measures(verb: Callable[..., None]) -> Callable[..., None]:
    """Let a verb that starts launches, which run on Linux and macOS alone, exit cleanly."""

    @wraps(verb)
    def wrapped(**options: Any) -> None:  # noqa: ANN401 - whatever the verb takes
        if sys.platform == "win32":
            end(CANNOT, "measuring needs Linux or macOS; on Windows, call frobench in WSL2")
        verb(**options)

    return exits_cleanly(wrapped)


def tell(error: Exception, options: dict[str, Any]) -> None:
    """End with what kept a verb from its end, where it is known; else return."""
    from frobench.suite.errors import (
        CannotRunError,
        CutShortError,
        Interrupted,
        NothingMeasuredError,
        NothingSelectedError,
    )
    from frobench.suite.stored.store import InvalidResult

    match error:
        case NothingSelectedError():
            raise click.UsageError(str(error)) from None
        case CutShortError():
            end(CANNOT, f"{error}; everything finished stays; {resuming(error.run, options)}")
        case CannotRunError() | NothingMeasuredError(failed=False):
            end(CANNOT, str(error))
        case InvalidResult() | NothingMeasuredError():
            end(FAILED, str(error))
        case BrokenPipeError():  # the reader has read enough
            return
        case UnicodeEncodeError():  # of what a run writes down
            shown = error.object.encode(errors="surrogateescape").decode(errors="replace")
            end(CANNOT, f"{shown}: a folder's path must be UTF-8; give or move to another one")
        case OSError():
            end(CANNOT, f"{error.filename or 'cannot write'}: {error.strerror or error}")
        case Interrupted(stored=stored):
            saved = f"; what was finished is in {stored}" if stored else ""
            end(INTERRUPTED, f"interrupted{saved}; {resuming(error.run, options)}")


def resuming(run: str, options: dict[str, Any]) -> str:
    """Say how a run that was cut short is finished, with a command that can be typed."""
    results = options["results"]
    where = "" if results == stored_here() else f" --results {shlex.quote(str(results))}"
    nodes = " --nodes" if options.get("nodes") else ""
    return f"`frobench run{nodes} --resume {run}{where}` goes on"


def end(code: int, message: str) -> NoReturn:
    """Say why, and end with an exit code."""
    for line in f"frobench: {message}".splitlines():
        click.echo(printable(line), err=True)
    sys.exit(code)
