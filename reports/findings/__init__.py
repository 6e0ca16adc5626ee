# SPDX-License-Identifier: MIT
"""Cases to answers with intervals: a module for each exercise that has rules of its own."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from frobench.reports.findings import own
from frobench.reports.findings.exercises import (
    collectives,
    copies,
    devices,
    layers,
    loops,
    products,
    training,
)
from frobench.reports.findings.finding import Finding, Plot, exercise_title
from frobench.reports.findings.select import Cases, NotMeasuredError, cases_of
from frobench.suite.stored.machine_identity import is_cpu
from frobench.suite.stored.types import Run


class Rules(NamedTuple):
    """How an exercise is answered, and which plots show it."""

    findings: Callable[[Cases], Iterable[Finding]]
    plots: Callable[[Cases], Iterable[Plot]]


OWN = Rules(own.findings, own.plots)
_MODULES = products, loops, devices, copies, training, layers, collectives
_KNOWN = {name: rules for module in _MODULES for name, rules in module.RULES.items()}
_ORDER = """
    matmul attainable_peak norm_logging parallel_matmul parameters placement copies many_or_one
    loss_reporting data_parallel split_model transformer long_context small_weights
    compiled_training convolutions collectives
"""
RULES = {name: Rules(*_KNOWN[name]) for name in _ORDER.split()}
"""Exercises in the order in which the report answers them; those without rules follow."""
NEEDS_TWO = {"efficiency-accelerators", "speed-up-accelerators"}
"""Answers that say that two accelerators are needed: they lead where there is exactly one."""


class Section:
    """One exercise of the report: its question, its answers with the leading one first, its plots.

    explanation : what was measured and why it is so, in plain words
    """

    def __init__(self, cases: Cases) -> None:
        asked = cases.run.frobench.exercises[cases.exercise]
        rules, answers = _findings(cases)
        self.exercise, self.title = cases.exercise, exercise_title(cases.exercise)
        self.question, self.explanation = asked.question, asked.explanation
        self.findings = tuple(answers)
        self.plots = tuple(plot for plot in _plots(rules, cases) if plot.shows_more_than_one)


def sections(run: Run) -> list[Section]:
    """Answer every exercise of a run."""
    return [Section(cases_of(run, exercise)) for exercise in _order(run)]


def findings(run: Run) -> dict[str, list[Finding]]:
    """Return what `sections` answers by exercise, without the plots, in half the time.

    The first finding of an exercise leads.
    """
    return {exercise: _findings(cases_of(run, exercise))[1] for exercise in _order(run)}


def _order(run: Run) -> list[str]:
    asked = run.frobench.exercises
    known = [exercise for exercise in RULES if exercise in asked]
    return [*known, *(exercise for exercise in asked if exercise not in RULES)]


def _answers(cases: Cases) -> tuple[Rules, list[Finding]]:
    """Return the rules of an exercise and what they answer.

    Rules that answer and draw nothing are those of another file with that name, or lack most of
    their cases: then the cases are answered as any others are, and what is missing keeps its
    reason.
    """
    rules = RULES.get(cases.exercise, OWN)
    answers = list(rules.findings(cases))
    lacking = cases.where() and all(finding.absent for finding in answers)
    if rules is OWN or not lacking or any(_plots(rules, cases)):
        return rules, answers
    told = tuple(reason for reason, _ in cases.missing)
    unanswered = (finding for finding in answers if finding.absent.startswith(told))
    return OWN, [*own.findings(cases), *unanswered]


def _plots(rules: Rules, cases: Cases) -> Iterator[Plot]:
    """Yield the plots of an exercise that show something, up to one whose cases are missing."""
    with suppress(NotMeasuredError):
        yield from (plot for plot in rules.plots(cases) if plot.series)


def _findings(cases: Cases) -> tuple[Rules, list[Finding]]:
    """Return the rules of an exercise, and all its answers with the leading one first.

    Without rules of its own the question that leads is that of the exercise.
    """
    rules, answers = _answers(cases)
    answered = {name for finding in answers for name in finding.cases if rules is not OWN}
    beside = own.beside_versions(cases.run, cases.exercise)
    answers = [*answers, *(finding for finding in beside if not answered.issuperset(finding.cases))]
    asked = cases.run.frobench.exercises[cases.exercise]
    if not answers:
        return rules, [Finding.missing("absent", asked.question, cases.reason())]
    lead = next((finding for finding in answers if finding.value), answers[0])
    if sum(not is_cpu(device) for device in cases.run.frobench.settings.devices) == 1:
        lead = next((finding for finding in answers if finding.name in NEEDS_TWO), lead)
    others = [finding for finding in answers if finding is not lead]
    if rules is OWN and asked.question:
        lead = replace(lead, question=asked.question)
    return rules, [lead, *others]
