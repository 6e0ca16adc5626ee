# SPDX-License-Identifier: MIT
"""Compiled training: what torch.compile gains in a step, and from when it pays."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from frobench.reports.findings.answers import Answer, ask_on
from frobench.reports.findings.exercises.transformer import GRAPH, TRAINING
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point
from frobench.reports.findings.select import Cases, NotMeasuredError, cases_of, dots
from frobench.reports.findings.values import VALUE, estimate_of, is_above, is_below, size, text
from frobench.suite.compare.runs import launch_ratios
from frobench.suite.stored.types import Case
from frobench.suite.units import format_point

STEP, REPLAYED = "bench_step", f"{TRAINING.function}{GRAPH}"
WAYS = {"eager": "launched from Python", "replayed": "replayed", "compiled": "compiled"}


@dataclass(frozen=True)
class Step:
    """A compiled step, and the same step launched from Python and replayed, in seconds by launch.

    ratio : times of the compiled step to those of the one beside it
    spent : seconds of compiling
    """

    case: Case
    ratio: pd.Series
    spent: pd.Series
    seconds: dict[str, pd.Series]
    replayed: tuple[str, ...]

    @property
    def words(self) -> str:
        """What is trained."""
        width, dtype = (self.case.params[name] for name in ("width", "dtype"))
        return f"width {size(float(str(width)))}, {dtype}"


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each device, an accelerator before the CPU."""
    devices = list(reversed(cases.devices())) or cases.run.frobench.settings.devices[::-1]
    for device in devices:
        yield from ask_on(
            cases,
            device,
            ("gain", "What does torch.compile gain in a training step on {}?", _gain),
            ("pays", "From when does compiling a training step pay on {}?", _pays),
        )


def _step(cases: Cases, device: str) -> Step:
    """Return the widest step on a device."""
    found = [
        case
        for case in cases.passed()
        if case.params["device"] == device and case.extra_info.against
    ]
    if not found:
        raise NotMeasuredError(cases.reason(function=STEP, device=device))
    case = max(found, key=lambda case: float(str(case.params.get("width", 0))))
    ratio = pd.Series(launch_ratios(case, case.extra_info.against or []), dtype=float).dropna()
    took = cases.one(case=case.fullname)
    seconds = {"eager": (took / ratio).dropna(), "compiled": took}
    others = cases_of(cases.run, "transformer")
    replayed = others.names(function=REPLAYED, **case.params)
    if replayed:
        seconds["replayed"] = others.one(case=replayed[0])
    spent = cases.one("part_compile", case=case.fullname)
    return Step(case, ratio, spent, seconds, replayed)


def _gain(cases: Cases, device: str) -> Answer:
    step, more = _step(cases, device), ""
    if "replayed" in step.seconds:
        replay = (step.seconds["eager"] / step.seconds["replayed"]).dropna()
        more = f"; {text(replay, RATIO)} replayed"
    gain = 1 / step.ratio
    rule = "Compile long trainings." if is_above(gain, 1.0) else ""
    words = f"{VALUE} as fast compiled, in training ({step.words})"
    return Answer(words, (step.case.fullname, *step.replayed), gain, RATIO, rule, more)


def _pays(cases: Cases, device: str) -> Answer:
    step = _step(cases, device)
    behind = (step.case.fullname,)
    compiling = f"compiling takes {text(step.spent, 's')}"
    if not is_below(step.ratio, 1.0):
        return Answer(f"Never, as far as this run shows: {compiling}", behind)
    until = (step.spent / (1 - step.ratio)).dropna()
    rule = f"Compile trainings of more than {format_point(estimate_of(until), 's')}."
    words = f"{VALUE} of training until compiling pays ({step.words})"
    return Answer(words, behind, until, "s", rule, f"; {compiling}")


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the time of a step by how it is launched."""
    ways: dict[str, list[Point]] = {}
    for device in reversed(cases.devices()):
        step = _step(cases, device)
        for way, words in WAYS.items():
            if way in step.seconds:
                behind = step.replayed if way == "replayed" else (step.case.fullname,)
                point = Point(words, estimate_of(step.seconds[way]), behind)
                ways.setdefault(f"{cases.title(device)}, {step.words}", []).append(point)
    yield Plot("step", "A training step", "dots", Axis("step"), Axis("Time", "s"), dots(ways))
