# SPDX-License-Identifier: MIT
"""Small weights: what they gain when a transformer decodes, and what they lose."""

from collections.abc import Iterator
from contextlib import suppress

import pandas as pd

from frobench.reports.findings import peaks
from frobench.reports.findings.answers import Answer, ask
from frobench.reports.findings.exercises import limits
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point
from frobench.reports.findings.select import Cases, NotMeasuredError, dots
from frobench.reports.findings.values import VALUE, estimate_of, is_above, size
from frobench.suite.stored.types import Case, Estimate
from frobench.suite.units import format_value

EAGER, REPLAYED = "bench_decode", "bench_decode_graph"
WEIGHTS = ("int8", "int4", "float8_e4m3fn")
TIME, LOSS = Axis("Time for a token and layer", "s"), Axis("Error", "1")


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each device, an accelerator before the CPU, and each type of weights."""
    for device in reversed(cases.devices()):
        for weights in WEIGHTS:
            question = f"What do {weights} weights gain in decoding on {cases.the(device)}?"
            yield ask(f"{weights}-{device}", question, _gain, cases, device, weights)


def decoding(cases: Cases, device: str) -> dict[str, Case]:
    """Return the cases of a token through the widest layer by the type of its weights.

    All are replayed from a graph, or all are launched from Python where none is.
    """
    found: dict[str, dict[str, Case]] = {REPLAYED: {}, EAGER: {}}
    width = max(cases.values("width", device=device), default=0)
    for function, by_weights in found.items():
        names = cases.names(function=function, device=device, width=width)
        for case in cases.passed():
            if case.fullname in names:
                by_weights[str(case.params["weights"])] = case
    return found[REPLAYED] or found[EAGER]


def decode_seconds(cases: Cases, device: str) -> dict[str, pd.Series]:
    """Return the seconds of a token in a layer by launch, by the type of the layer's weights."""
    return {
        weights: cases.one(case=case.fullname) for weights, case in decoding(cases, device).items()
    }


def _gain(cases: Cases, device: str, weights: str) -> Answer:
    known, seconds = decoding(cases, device), decode_seconds(cases, device)
    if weights not in known:
        raise NotMeasuredError(cases.reason(device=device, weights=weights))
    case = known[weights]
    plain = peaks.precision_of(case)
    if plain not in known:
        raise NotMeasuredError(cases.reason(device=device, weights=plain))
    gain = (seconds[plain] / seconds[weights]).dropna()
    share, behind = limits.shares(cases, case.fullname, limits.MEMORY)
    lost = "".join(f"; error {_error(known[one])} with {one}" for one in (weights, plain))
    how = f"width {size(float(str(case.params['width'])))}"
    how += ", replayed from a graph" * case.fullname.count(REPLAYED)
    return Answer(
        f"{VALUE} as fast with {weights} weights as with {plain} ({how})",
        (*behind, known[plain].fullname),
        gain,
        RATIO,
        f"Decode with {weights} weights." if is_above(gain, 1.0) else "",
        f"{share}{lost}",
    )


def _error(case: Case) -> str:
    check = case.extra_info.check
    return format_value(check.error, "1") if check else "not checked"


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw time and error by the type of the weights."""
    times: dict[str, list[Point]] = {}
    errors: dict[str, list[Point]] = {}
    for device in reversed(cases.devices()):
        title = cases.title(device)
        for weights, case in decoding(cases, device).items():
            with suppress(NotMeasuredError):
                took = estimate_of(cases.one(case=case.fullname))
                times.setdefault(title, []).append(Point(weights, took, (case.fullname,)))
            if check := case.extra_info.check:
                lost = Estimate(check.error, check.error, check.error, 0)
                errors.setdefault(title, []).append(Point(weights, lost, (case.fullname,)))
    kind = Axis("weights")
    yield Plot("time", "Decoding by type of weights", "dots", kind, TIME, dots(times))
    yield Plot("error", "What small weights lose", "dots", kind, LOSS, dots(errors))
