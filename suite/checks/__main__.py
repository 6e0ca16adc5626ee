# SPDX-License-Identifier: MIT
"""A conclusion about a run, or about a file, has a code. This page explains each of them.

A run is judged as soon as it ends, and the conclusions are printed and stored with it. The
stored list is a record, not evidence: `validate`, `compare`, `reproduce`, `share` and `report`
judge a file anew from its facts, and no figure with an error is compared or shown as a result.

`frobench validate` refuses a file for an error, never for a warning. A fault that an honest run may
have is a warning there if the run itself reported it; the case that it names counts for nothing.

An *error* makes a number wrong or a file invalid. A *warning* makes a number less trustworthy than
it looks. An *info* explains a number and casts no doubt on it.

This page is made from the rules themselves, in [suite/checks](../suite/checks/__init__.py):
`python -m frobench.suite.checks > docs/checks.md`.
"""

import inspect
from collections.abc import Callable

from frobench.suite import checks
from frobench.suite.checks import rule
from frobench.suite.stored.types import Severity


def page() -> str:
    """Return the page in Markdown, as it is committed."""
    parts = [f"# What a check may say\n\n{__doc__}"]
    for module in checks.ALL:
        about = inspect.cleandoc(module.__doc__ or "").partition("\n")[0]
        parts.append(f"## {about.removeprefix('Rules about ').removesuffix('.').capitalize()}\n")
        parts += [entry(function, module.SEVERITY) for function in rule.rules(module).values()]
        if module is checks.OF_FILES[-1]:
            parts.append("## A stored file as a whole\n")
            whole = checks.digest_differs, checks.unreadable, checks.broken
            parts += [entry(function, "error") for function in whole]
    return "\n".join(parts)


def entry(function: Callable[..., object], severity: Severity) -> str:
    """Return what the page says of a rule."""
    summary, _, advice = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
    return f"### `{rule.code(function)}`\n\n{summary} *{severity.capitalize()}.*\n\n{advice}\n"


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201 - the page is what it is for
