# SPDX-License-Identifier: MIT
"""A run's answers as plain data, for the terminal and for programs."""

from collections.abc import Iterator

from frobench.reports.findings import RULES, findings
from frobench.reports.findings.finding import Finding, exercise_title
from frobench.reports.summary import models, short
from frobench.reports.summary.model import Axis, DeviceAxes, device_axes
from frobench.reports.summary.views import Marks, absent, doubtful, marks, own_cases
from frobench.reports.table import facts
from frobench.reports.table.launches import estimates, modes_of, rate
from frobench.suite.stored.machine_identity import benchmark_of
from frobench.suite.stored.types import Estimate, Run
from frobench.suite.terminal.answers import Answer, AxisResult, CaseResult, RunAnswers


def answers(run: Run) -> RunAnswers:
    """Answer every question of a run, the leading answer of each exercise first."""
    doubted = marks(run)
    found = findings(run)
    unanswered = absent(one for members in found.values() for one in members)
    part, own = run.frobench, device_axes(run)
    return RunAnswers(
        run=part.run,
        machine=facts.machine_title(run),
        datetime=run.datetime,
        profile=part.profile,
        complete=part.complete,
        launches=len(part.launches),
        part_in_bodies=part.part_in_bodies,
        device=own.device,
        axes=tuple(_axis(own, one, doubted) for one in own.axes),
        models=own.models,
        models_note=models.note({"": own.serving}) if own.models else "",
        answers=tuple(
            _answer(run, exercise, finding, doubted, leads=finding in leading)
            for exercise, members in found.items()
            for leading in [_leading(exercise, members)]
            for finding in members
            if not finding.absent
        ),
        absent={reason: tuple(questions) for reason, questions in unanswered.items()},
        cases=tuple(_cases(run, doubted)),
        project=part.project or None,
    )


def _leading(exercise: str, members: list[Finding]) -> list[Finding]:
    """Return the answers that lead: the first, of a user's exercise the first of each function."""
    if exercise in RULES:
        return members[:1]
    firsts: dict[str, Finding] = {}
    for finding in members:
        firsts.setdefault(benchmark_of(finding.cases[0]) if finding.cases else "", finding)
    return [*firsts.values()]


def _axis(own: DeviceAxes, axis: Axis, doubted: Marks) -> AxisResult:
    return AxisResult(
        name=axis.name,
        precision=axis.precision,
        title=axis.title,
        value=axis.value,
        unit=axis.unit,
        datasheet=axis.sheet,
        part=axis.part,
        remarks=tuple(own.remarks(axis)),
        doubts=axis.doubts(doubted),
        cases=axis.cases,
    )


def _answer(run: Run, exercise: str, finding: Finding, doubted: Marks, *, leads: bool) -> Answer:
    two_modes = any(map(modes_of, own_cases(run, exercise, finding)))
    return Answer(
        exercise=exercise_title(exercise),
        name=finding.name,
        question=finding.question,
        answer=finding.answer,
        brief=short.answer(run, finding),
        rule_of_thumb=short.rule(finding),
        label=finding.label,
        unit=finding.unit,
        value=finding.value,
        doubts=short.doubts(finding, doubtful(finding.cases, doubted), in_modes=two_modes),
        cases=finding.cases,
        leads=leads,
    )


def _cases(run: Run, doubted: Marks) -> Iterator[CaseResult]:
    known = {one.case: one for one in estimates(run)}
    for outcome in run.frobench.outcomes:
        case, seconds, found = known.get(outcome.fullname), None, None
        if case:
            seconds = Estimate(case.seconds, case.low, case.high, case.launches)
            found = rate(case.flops, case.bytes, case.medians)
        passed = outcome.status == "passed"
        yield CaseResult(
            exercise=outcome.group,
            case=outcome.fullname,
            status=outcome.status,
            seconds=seconds,
            rate=found[0] if found else None,
            rate_unit=found[1] if found else "",
            doubts=doubtful((outcome.fullname,), doubted),
            reason=None if passed else outcome.reason or "no reason was given",
        )
