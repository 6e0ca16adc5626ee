# SPDX-License-Identifier: MIT
"""The scripts of the purchase page, run without a browser.

Scores, sentences and tables of machines side by side exist once, in `reports/web/static`. A page
runs these scripts in the reader's browser. The build runs them here, so that the page is complete
before a script runs, and so does the command, so that it prints the page's numbers.
"""

import json
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from frobench.reports.web.render import harmless, static
from frobench.suite.exit_codes import absent

if TYPE_CHECKING:
    import quickjs

PAGE = ("lib.js", "score.js", "charts.js", "compare.js")
"""What a page runs that shows machines side by side, in this order."""
INDEX = (*PAGE, "index.js")
"""The same, and what the index adds to it."""


class MissingEngineError(Exception):
    """No JavaScript engine is installed; the message says which package to install."""


def call(function: str, *arguments: object) -> object:
    """Call a function of the scripts, such as ``built.page``, and return what it returns.

    arguments : what JSON can hold, and structs of such; control characters are made visible

    Raises `MissingEngineError` if there is no engine on this machine.
    """
    given = json.dumps(harmless(msgspec.to_builtins(arguments)), allow_nan=False)
    answer = context().get("called")(function, given)
    return json.loads(answer)


def missing() -> str:
    """Return why no script can be run, with what to install; empty where one can."""
    try:
        context()
    except MissingEngineError as error:
        return str(error)
    return ""


@cache
def context() -> "quickjs.Context":
    """Return the engine with all scripts in it; raises as `call` does."""
    try:
        import quickjs  # noqa: PLC0415 - there are machines without it
    except ImportError as error:
        raise MissingEngineError(absent("quickjs")) from error
    context = quickjs.Context()
    for name in ("document.js", *INDEX):
        context.eval(static(name))
    context.eval(
        "function called(name, given) {"
        " return JSON.stringify((0, eval)(`(${name})`)(...JSON.parse(given))); }"
    )
    return context
