# SPDX-License-Identifier: MIT
"""What a rule is: a public function of a module of rules, found by being there.

Its name is the code (``fixed_order`` is ``fixed-order``). Its docstring is the user's help:
the first line says what the rule reports, the rest what to do about it. The module says
with ``SEVERITY`` how bad that is.
"""

import inspect
from collections.abc import Callable, Collection, Iterator
from types import ModuleType
from typing import NamedTuple

from suite.stored.run import Conclusion, Run, Severity


class Fault(NamedTuple):
    """What a rule found, of the whole run or of the case with this full name."""

    message: str
    case: str | None = None


Rule = Callable[[Run], Iterator[Fault]]


def rules(module: ModuleType) -> dict[str, Rule]:
    """Return the rules of a module by their codes, in the order they are written."""
    return {
        name.replace("_", "-"): function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
    }


def advice(rule: Callable[..., object]) -> str:
    """Return what a rule's docstring says to do, on one line."""
    _, _, rest = inspect.cleandoc(rule.__doc__ or "").partition("\n\n")
    return " ".join(rest.split())


def conclusions(module: ModuleType, run: Run, but: Collection[str] = ()) -> Iterator[Conclusion]:
    """Apply every rule of a module to a run, but those of some codes."""
    severity: Severity = module.SEVERITY
    for code, rule in rules(module).items():
        for fault in rule(run) if code not in but else ():
            yield Conclusion(
                code=code,
                severity=severity,
                message=fault.message,
                advice=advice(rule),
                case=fault.case,
            )
