# SPDX-License-Identifier: MIT
"""How a verb ends: with one clear line and an exit code, whatever keeps it from its end."""

import gc
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable
from functools import wraps
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, NoReturn

import click

from frobench.hiding import HOME, hidden
from frobench.options import RESULTS
from suite.absent import absent, absent_module
from suite.printable import printable

FAILED, CANNOT, INTERRUPTED = 1, 3, 130
UNIX_ONLY = "measuring needs Linux or macOS; on Windows, call frobench in WSL2"

# ruff: noqa: PLC0415 - every verb imports its own, so that none waits for another's


def makes_much(verb: Callable[..., None]) -> Callable[..., None]:
    """Let a verb make a million objects, most of which stay, without a search for garbage.

    They count as old when it is over, so that nobody who goes on searches them at once.
    """

    @wraps(verb)
    def wrapped(**options: Any) -> None:  # noqa: ANN401 - whatever the verb takes
        enabled = gc.isenabled()
        gc.disable()
        try:
            verb(**options)
        finally:
            gc.freeze()
            gc.unfreeze()
            if enabled:
                gc.enable()

    return wrapped


def tells(verb: Callable[..., None]) -> Callable[..., None]:
    """Turn what keeps a verb from its end into one clear line and its exit code."""

    @wraps(verb)
    def wrapped(**options: Any) -> None:  # noqa: ANN401 - whatever the verb takes
        try:
            run_verb(verb, options)
        except ImportError as error:
            if (module := absent_module(error)) is None:
                raise
            end(CANNOT, absent(module))
        except KeyboardInterrupt:  # a run says what is saved
            end(INTERRUPTED, "interrupted while nothing was measured, so nothing is lost")

    return wrapped


def measures(verb: Callable[..., None]) -> Callable[..., None]:
    """Let a verb start launches, or refuse in one line where none can run.

    A launch imports modules from the current folder before all others, as `python -m` does.
    """

    @wraps(verb)
    def wrapped(**options: Any) -> None:  # noqa: ANN401 - whatever the verb takes
        if sys.platform == "win32":
            end(CANNOT, UNIX_ONLY)
        if problem := hidden(PathFinder.find_spec("suite", [str(Path.cwd()), str(HOME)])):
            end(CANNOT, problem)
        verb(**options)

    return tells(wrapped)


def run_verb(verb: Callable[..., None], options: dict[str, Any]) -> None:
    """Do as `tells` says, once everything that this takes can be imported."""
    from suite.errors import (
        CannotRunError,
        CutShortError,
        Interrupted,
        NothingMeasuredError,
        NothingSelectedError,
    )
    from suite.stored.store import InvalidResult

    try:
        verb(**options)
    except NothingSelectedError as error:
        raise click.UsageError(str(error)) from None
    except CutShortError as error:
        end(CANNOT, f"{error}; everything finished stays; {resuming(error.run, options)}")
    except CannotRunError as error:
        end(CANNOT, str(error))
    except NothingMeasuredError as error:
        end(FAILED if error.failed else CANNOT, str(error))
    except InvalidResult as error:
        end(FAILED, str(error))
    except BrokenPipeError:  # whoever reads has read enough
        raise
    except OSError as error:
        end(CANNOT, f"{error.filename or 'cannot write'}: {error.strerror or error}")
    except Interrupted as stopped:
        saved = f"; what was finished is in {stopped.stored}" if stopped.stored else ""
        if stopped.trouble:
            saved = (
                f"; no partial file is written ({stopped.trouble}), but everything finished stays"
            )
        end(INTERRUPTED, f"interrupted{saved}; {resuming(stopped.run, options)}")


def resuming(run: str, options: dict[str, Any]) -> str:
    """Say how a run that was cut short is finished, with a command that can be typed."""
    results: Path = options["results"]
    where = "" if results == RESULTS else f" --results {shlex.quote(str(results))}"
    nodes = " --nodes" if options.get("nodes") else ""
    again = f"`frobench run{nodes} --resume {run}{where}` goes on"
    if "file" in options:
        file = shlex.quote(str(options["file"]))
        again += f", and `frobench compare {file} NEW` then says what agrees"
    return again


def end(code: int, message: str) -> NoReturn:
    """Say why, and end with an exit code."""
    text = f"frobench: {message}"
    if sys.stderr.isatty():
        text = "\n".join(map(fitted, text.splitlines()))
    for line in text.splitlines():
        click.echo(printable(line), err=True)
    sys.exit(code)


def spelled(folder: Path) -> Path:
    """Return the whole path of a folder, which a run writes down: it must be UTF-8 for that."""
    whole = folder.resolve()
    try:
        str(whole).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(whole).decode(errors="replace")
        end(CANNOT, f"{shown}: a folder's path must be UTF-8; give or move to another one")
    return whole


def fitted(line: str) -> str:
    """Return a line in as many as the terminal's width asks for, with no command cut in two."""
    whole = re.sub("`[^`]*`", lambda command: command[0].replace(" ", "\0"), line)
    lines = textwrap.wrap(
        whole,
        shutil.get_terminal_size().columns,
        break_long_words=False,
        break_on_hyphens=False,
        subsequent_indent="  ",
    )
    return "\n".join(lines).replace("\0", " ")
