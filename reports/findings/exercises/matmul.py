# SPDX-License-Identifier: MIT
"""Matrix products: how much faster an accelerator is on a large one, and on a tiny one."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Any

import pandas as pd

from reports.findings import peaks
from reports.findings.against_cpu import Compared
from reports.findings.answers import (
    VALUE,
    Answer,
    N,
    ask,
    behind,
    capital,
    size,
    smallest,
    text,
    threshold,
)
from reports.findings.cold import cold_plot, longer
from reports.findings.finding import RATIO, Axis, Finding, Plot, Series
from reports.findings.select import Cases, Curve, NotMeasuredError, device_title, the_device
from reports.table.launches import SUSTAINED_RATE
from suite.stored.names import is_cpu

SQUARE, NARROW = "bench_square", "bench_square_narrow"
COPIES, GRAPH = "bench_square_with_copies", "bench_square_graph"
COLD = "bench_square_cold"
PLAIN = "float32"
"""The precision in which devices are compared: every device has it."""
HEADLINE = 1024
"""The size n at which an accelerator is compared with the CPU: every machine measures it."""
PRECISIONS = ("float32", "tfloat32", "bfloat16", "float16", "float8_e4m3fn", "int8")
"""The order of lines in a chart, so that a precision has one colour on every device."""
SIZE, RATE, SPEED_UP = Axis("size n"), Axis("Rate", "FLOP/s"), Axis("Speed-up", RATIO)


def findings(cases: Cases) -> list[Finding]:
    """Lead with the speed-up; without an accelerator, with what the CPU does by itself."""
    compared = [
        ask("speed-up", "How much faster is an accelerator than the CPU?", speed_up, cases),
        ask(
            "speed-up-at-ends",
            "And on the largest product, and the smallest?",
            speed_up_at_ends,
            cases,
        ),
        ask("crossover", "From which size is an accelerator worth it?", crossover, cases, SQUARE),
        ask(
            "crossover-with-copies",
            "And if the matrices must be copied there, and the product back?",
            crossover,
            cases,
            COPIES,
        ),
        ask("graph", "How fast is a tiny product with CUDA graphs?", graph, cases),
    ]
    alone = []
    for device in reversed(cases.devices()):
        name = the_device(cases.run, device)
        best = f"What is the best rate of square products on {name}?"
        emptied = f"What do cold caches cost on {name}?"
        small = f"How small is too small for {name}?"
        alone += [
            ask(f"best-rate-{device}", best, best_rate, cases, device),
            ask(f"half-rate-{device}", small, half_rate, cases, device),
            ask(f"cold-product-{device}", emptied, cold, cases, device),
        ]
    return compared + alone if compared[0].value else alone + compared


def speed_up(cases: Cases) -> Answer:
    """Compare the accelerator with the CPU at the one size that all machines have."""
    compared = _compared(cases, SQUARE)
    ratio = compared.ratio
    if HEADLINE not in ratio.cases:
        raise NotMeasuredError(cases.reason(function=SQUARE, n=HEADLINE, dtype=PLAIN))
    return Answer(
        f"{VALUE} the speed of the CPU on {compared.name} in {PLAIN} at {size(HEADLINE, N)}.",
        behind(ratio.on([HEADLINE])),
        ratio.at(HEADLINE),
        RATIO,
        f"as fast as the CPU at {size(HEADLINE, N)}",
        rule_of_thumb=compared.advice(),
        brief=f"{VALUE} the CPU's speed in {PLAIN} at {size(HEADLINE, N)}.",
    )


def speed_up_at_ends(cases: Cases) -> Answer:
    """Compare the accelerator with the CPU on the largest product of both, and the smallest."""
    return _compared(cases, SQUARE).at_largest()


def crossover(cases: Cases, function: str) -> Answer:
    """Find the size from which the accelerator takes no longer than the CPU."""
    copies = "With the copies included " if function == COPIES else ""
    return _compared(cases, function).crossover(copies)


def graph(cases: Cases) -> Answer:
    """Compare the smallest product launched from Python with its replay from a graph."""
    device = cases.accelerator()
    eager, replayed = (
        cases.curve("n", function=function, device=device, dtype=PLAIN)
        for function in (SQUARE, GRAPH)
    )
    ratio = eager / replayed
    tiny = ratio.sizes[0]
    return Answer(
        f"Replayed from a graph, a product of {size(tiny, N)} is {VALUE} as fast as launched "
        "from Python.",
        ratio.cases[tiny],
        ratio.at(tiny),
        RATIO,
        f"as fast from a graph at {size(tiny, N)}",
    )


def best_rate(cases: Cases, device: str) -> Answer:
    """Name the best rate of a device in each precision, its size, and its part of the peak."""
    best = best_rates(cases, device)
    if not best:
        raise NotMeasuredError(cases.reason(function=SQUARE, device=device))
    (dtype, (rate, n)), *others = best.items()
    part = peaks.of_peak(cases.run, rate.cases[n][0], rate.at(n))
    on_end = sustained(cases, rate.cases[n][0])
    listed = "".join(
        f"; {text(curve.at(at), RATE.unit)} in {name} ({size(at, N)})"
        + peaks.of_peak(cases.run, curve.cases[at][0], curve.at(at), named=not part)
        + sustained(cases, curve.cases[at][0])
        for name, (curve, at) in others
    )
    where = the_device(cases.run, device)
    without = peaks.missing(cases.run, device)
    burst = "" if is_cpu(device) else " in bursts"
    return Answer(
        capital(
            f"{VALUE}{burst} with square products in {dtype} ({size(n, N)}) on {where}"
            f"{part}{on_end}{listed}{without}."
        ),
        behind(*(curve.on([at]) for curve, at in best.values())),
        rate.at(n),
        RATE.unit,
        f"best rate of square products on {where}, in {dtype}{burst}",
        rule_of_thumb=_large_enough(cases, device),
        brief=_best_in_brief(best, device),
    )


def _best_in_brief(best: Mapping[str, tuple[Curve, float]], device: str) -> str:
    """Name the best rate of the fastest precision, and that of the one every device has."""
    (dtype, (_, n)), *_ = best.items()
    burst = "" if is_cpu(device) else " in bursts"
    also = ""
    if PLAIN in best and dtype != PLAIN:
        curve, at = best[PLAIN]
        also = f" and {text(curve.at(at), RATE.unit)} in {PLAIN} at {size(at, N)}"
    return f"{VALUE} in {dtype} at {size(n, N)}{also}{burst}."


def sustained(cases: Cases, case: str) -> str:
    """Say which rate a product sustains for seconds, where a launch repeated it so long."""
    try:
        rate = cases.one(SUSTAINED_RATE, case=case)
    except NotMeasuredError:
        return ""
    part = peaks.of_peak(cases.run, case, rate, named=False)
    return f", and {text(rate, RATE.unit)} sustained{part}"


def _large_enough(cases: Cases, device: str) -> str:
    """Say from which measured size half of the best rate is had."""
    with suppress(NotMeasuredError):
        _, _, bracket = _half(cases, device)
        if bracket is not None:
            return f"Half of the {PLAIN} rate needs n of {size(bracket[1])} or more."
    return ""


def _half(cases: Cases, device: str) -> tuple[str, pd.Series | None, tuple[float, float] | None]:
    """Return the size from which half of a device's best rate is had, see `threshold`."""
    times = cases.curve("n", function=SQUARE, device=device, dtype=PLAIN)
    return threshold(_part(cases, device), 0.5, times, power=3)


def _part(cases: Cases, device: str) -> Curve:
    """Return the rate by size as a part of the best."""
    rate = _rate(cases, SQUARE, device, PLAIN)
    return Curve.of(rate.table.div(rate.table.max(axis="columns"), axis="index"), rate.cases)


def half_rate(cases: Cases, device: str) -> Answer:
    """Find the size from which half of the best rate is had, and what the smallest one gets."""
    part = _part(cases, device)
    where, by_launch, bracket = _half(cases, device)
    tiny = smallest(part, "1", "; a product of {size} gets {value} of it")
    return Answer(
        f"Half of the best {PLAIN} rate is reached from {where}{tiny}.",
        behind(part),
        by_launch,
        "n",
        "n of half the best rate",
        bracket,
    )


def cold(cases: Cases, device: str) -> Answer:
    """Compare products that find nothing in the caches with those that find their factors."""
    where = the_device(cases.run, device)
    return longer(f"A product of {{}} on {where}", _cold(cases, device), partial(size, pattern=N))


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the speed-up, each device's rate by size, and the best rate of each precision."""
    ratios = []
    for label, function in (("product alone", SQUARE), ("with copies", COPIES)):
        with suppress(NotMeasuredError):
            ratios.append(_compared(cases, function).ratio.series(label))
    if ratios:
        title = f"{device_title(cases.run, cases.accelerator())} against CPU, {PLAIN}"
        reference = (1.0, "as fast as the CPU")
        yield Plot("speed-up", title, "curve", SIZE, SPEED_UP, tuple(ratios), *reference)
    devices = cases.devices()[::-1]
    for device in devices:
        rates = _rates(cases, device)
        if rates:
            title = f"Rate of a square product on {the_device(cases.run, device)}"
            lines = tuple(rate.series(dtype) for dtype, rate in rates.items())
            yield Plot(f"rate-{device}", title, "curve", SIZE, RATE, lines)
    best = {device: best_rates(cases, device) for device in devices}
    dots = tuple(
        Series(
            device_title(cases.run, device),
            tuple(rate.point(n, dtype) for dtype, (rate, n) in rates.items()),
        )
        for device, rates in best.items()
        if rates
    )
    if dots:
        title = "Best rate by precision"
        yield Plot("best-rate", title, "dots", Axis("precision"), RATE, dots)
    yield from cold_plot("product", SIZE, _cold, cases, devices)


def _cold(cases: Cases, device: str) -> Curve:
    """Return how many times as long a product takes with cold caches, by size."""
    warm = cases.curve("n", function=SQUARE, device=device, dtype=PLAIN)
    return cases.curve("n", function=COLD, device=device) / warm


def _rate(cases: Cases, function: str, device: str, dtype: str, what: str = "flop_rate") -> Curve:
    return cases.curve("n", what, function=function, device=device, dtype=dtype)


def _rates(cases: Cases, device: str, what: str = "flop_rate") -> dict[str, Curve]:
    """Return the rate by size for each precision that was measured."""
    rates = {}
    measured = {
        function: cases.values("dtype", function=function, device=device)
        for function in (SQUARE, NARROW)
    }
    for dtype, function in product(PRECISIONS, measured):
        if dtype not in measured[function]:
            continue  # without a search for the reason, which takes long
        with suppress(NotMeasuredError):
            rates[dtype] = _rate(cases, function, device, dtype, what)
    return rates


def best_rates(cases: Cases, device: str) -> dict[str, tuple[Curve, float]]:
    """Return the rates by precision with the size that is fastest, the fastest first.

    They are by the device's own time where that is known: a product that waits for its launch
    would be no rate of the device.
    """
    rates = _rates(cases, device, "device_flop_rate")
    best = {dtype: (rate, rate.highest()) for dtype, rate in rates.items()}
    order = sorted(best, key=lambda dtype: -best[dtype][0].point(best[dtype][1]).y.value)
    return {dtype: best[dtype] for dtype in order}


def _compared(cases: Cases, function: str) -> Compared:
    """Return the times of products on the CPU and on the accelerator, by size."""
    cpu = cases.curve("n", function=SQUARE, device="cpu", dtype=PLAIN)
    there = _there(cases, function)
    name = the_device(cases.run, cases.accelerator())
    return Compared(cpu, there, name, power=3, of_what=f" in {PLAIN}")


def _there(cases: Cases, function: str) -> Curve:
    """Return the time of a product on the accelerator, by size."""
    precision: dict[str, Any] = {"dtype": PLAIN} if function == SQUARE else {}
    return cases.curve("n", function=function, device=cases.accelerator(), **precision)
