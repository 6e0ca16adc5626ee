# SPDX-License-Identifier: MIT
"""Any exercise without rules of its own: how long its cases take, and how that grows."""

from collections.abc import Iterator

from reports.findings.answers import VALUE, Answer, ask, estimate_of
from reports.findings.model import Axis, Finding, Plot, Point, Series
from reports.findings.select import Cases, NotMeasuredError, device_title
from reports.frame import function_of
from suite.model import Case

MOST_SERIES = 6
TIME = Axis("Time", "s")


def findings(cases: Cases) -> list[Finding]:
    """Say how long the largest case takes."""
    return [ask("time", "How long does it take?", largest, cases)]


def largest(cases: Cases) -> Answer:
    """Give the time of the last case, the largest, among those that the answers need."""
    passed = cases.passed()
    if not passed:
        raise NotMeasuredError(cases.reason())
    case = ([one for one in passed if one.extra_info.headline] or passed)[-1]
    title = case.extra_info.title.rstrip(".")
    return Answer(
        f"{title} ({_label(cases, case)}): {VALUE}.",
        (case.fullname,),
        cases.one(case=case.fullname),
        TIME.unit,
        title,
    )


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the time of each function over its first size, a line for all else that varies."""
    functions: dict[str, list[Case]] = {}
    for case in cases.passed():
        functions.setdefault(function_of(case.fullname), []).append(case)
    for function, members in functions.items():
        size = _size(members)
        if size is None:
            continue
        lines: dict[str, list[Point]] = {}
        for case in members:
            time = estimate_of(cases.one(case=case.fullname))
            point = Point(float(case.params[size] or 0), time, (case.fullname,))
            lines.setdefault(_label(cases, case, without=size), []).append(point)
        series = [Series(label, tuple(points)) for label, points in lines.items()]
        title = members[0].extra_info.title.rstrip(".")
        yield Plot(function, title, "curve", Axis(size), TIME, tuple(series[:MOST_SERIES]))


def _size(members: list[Case]) -> str | None:
    """Return the first parameter that takes several whole numbers."""
    for name in members[0].params:
        values = {case.params.get(name) for case in members}
        if len(values) > 1 and all(type(value) is int for value in values):
            return name
    return None


def _label(cases: Cases, case: Case, without: str = "") -> str:
    """Spell a case's parameters, its device by its name."""
    device = device_title(cases.run, str(case.params.get("device", case.extra_info.device)))
    given = [f"{k} = {v}" for k, v in case.params.items() if k not in {"device", without}]
    return ", ".join([device, *given])
