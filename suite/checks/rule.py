# SPDX-License-Identifier: MIT
"""What a rule is: a function that yields faults, about a run, about a case or about a machine.

Its name is the code (``noisy_case`` is ``noisy-case``). Its docstring is the user's help: the
first line says what the rule reports, the rest what to do about it. All public functions of a
module about runs are rules of the module's ``SEVERITY``. A rule with a parameter ``case`` is
applied to each case of the run, and yields only messages.
"""

import inspect
from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from types import ModuleType
from typing import Any, NamedTuple

from frobench.suite.stored.types import Conclusion, Run, Severity


class Fault(NamedTuple):
    """What a rule found.

    case : full name of the case that the fault is about, if it is about one
    advice : what mends the fault, where the rule's docstring does not say it
    """

    message: str
    case: str | None = None
    advice: str = ""


Rule = Callable[..., Iterator[Any]]


@cache
def rules(module: ModuleType) -> dict[str, Rule]:
    """Return the rules of a module by their codes, in the order they are written."""
    return {
        code(function): function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
    }


def code(rule: Callable[..., object]) -> str:
    """Return the code of what a rule finds."""
    return rule.__name__.replace("_", "-")


def advice(rule: Callable[..., object]) -> str:
    """Return what a rule's docstring says to do, on one line."""
    _, _, rest = inspect.cleandoc(rule.__doc__ or "").partition("\n\n")
    return " ".join(rest.split())


def conclusion(rule: Callable[..., object], severity: Severity, fault: Fault) -> Conclusion:
    """Return what follows from a fault that a rule found."""
    message, case, mend = fault
    mend = mend or advice(rule)
    return Conclusion(code=code(rule), severity=severity, message=message, advice=mend, case=case)


def conclusions(run: Run, *modules: ModuleType, but: Collection[Rule] = ()) -> Iterator[Conclusion]:
    """Apply every rule of some modules to a run, but a few."""
    for module in modules:
        for rule in [rule for rule in rules(module).values() if rule not in but]:
            asked = parameters(rule)
            faults = () if "case" in asked else rule(run)
            if "case" in asked:
                of_case = partial(rule, run) if "run" in asked else rule
                faults = (
                    Fault(text, case.fullname) for case in run.benchmarks for text in of_case(case)
                )
            yield from (conclusion(rule, module.SEVERITY, fault) for fault in faults)


@cache
def parameters(rule: Rule) -> frozenset[str]:
    """Return the names of what a rule asks for."""
    return frozenset(inspect.signature(rule).parameters)
