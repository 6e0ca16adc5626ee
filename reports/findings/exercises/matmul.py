# SPDX-License-Identifier: MIT
"""Matrix products: how much faster an accelerator is on a large one, and on a tiny one."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import product

from frobench.reports.findings import peaks
from frobench.reports.findings.against_cpu import Compared
from frobench.reports.findings.answers import Answer, Crossing, ask, ask_on, at, threshold
from frobench.reports.findings.cold import cold_plot, longer
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, lines
from frobench.reports.findings.values import VALUE, N, behind, size, text
from frobench.reports.table.launches import SUSTAINED_RATE
from frobench.suite.stored.machine_identity import is_cpu

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
    ends = "And on the largest product, and the smallest?"
    worth = "From which size is an accelerator worth it?"
    copied = "And if the matrices must be copied there, and the product back?"
    compared = [
        ask("speed-up", "How much faster is an accelerator than the CPU?", _speed_up, cases),
        ask("speed-up-at-ends", ends, lambda: _compared(cases, SQUARE).at_largest()),
        ask("crossover", worth, lambda: _compared(cases, SQUARE).crossover()),
        ask("crossover-with-copies", copied, lambda: _compared(cases, COPIES).crossover()),
        ask("graph", "How fast is a tiny product with CUDA graphs?", _graph, cases),
    ]
    alone = [
        finding
        for device in reversed(cases.devices())
        for finding in ask_on(
            cases,
            device,
            ("best-rate", "What is the best rate of square products on {}?", _best_rate),
            ("half-rate", "From which size does {} reach half of its best rate?", _half_rate),
            ("cold-product", "What do cold caches cost products on {}?", _cold_product),
        )
    ]
    return compared + alone if compared[0].value else alone + compared


def _speed_up(cases: Cases) -> Answer:
    compared = _compared(cases, SQUARE)
    if HEADLINE not in compared.ratio.cases:
        raise NotMeasuredError(cases.reason(function=SQUARE, n=HEADLINE, dtype=PLAIN))
    words = f"the CPU's speed in {PLAIN} at {size(HEADLINE, N)}"
    return at(compared.ratio, HEADLINE, RATIO, words, compared.advice())


def _graph(cases: Cases) -> Answer:
    device = cases.accelerator()
    ratio = _times(cases, SQUARE, device) / _times(cases, GRAPH, device)
    return at(ratio, ratio.sizes[0], RATIO, f"as fast from a graph at {size(ratio.sizes[0], N)}")


def _best_rate(cases: Cases, device: str) -> Answer:
    best = best_rates(cases, device)
    if not best:
        raise NotMeasuredError(cases.reason(function=SQUARE, device=device))
    (dtype, (rate, n)), *others = best.items()
    part = peaks.of_peak(cases.run, rate.cases[n][0], rate.at(n))
    listed = "".join(
        f"; {text(curve.at(at), RATE.unit)} in {name} ({size(at, N)})"
        + peaks.of_peak(cases.run, curve.cases[at][0], curve.at(at), named=not part)
        + _sustained(cases, curve.cases[at][0])
        for name, (curve, at) in others
    )
    burst, rule = "" if is_cpu(device) else " in bursts", ""
    with suppress(NotMeasuredError):
        if bracket := _half(cases, device)[0].bracket:
            rule = f"Half of the {PLAIN} rate needs n of {size(bracket[1])} or more."
    return Answer(
        f"{VALUE} in {dtype} at {size(n, N)}{burst}",
        behind(*(curve.on([at]) for curve, at in best.values())),
        rate.at(n),
        RATE.unit,
        rule,
        f"{part}{_sustained(cases, rate.cases[n][0])}{listed}{peaks.missing(cases.run, device)}",
    )


def _sustained(cases: Cases, case: str) -> str:
    """Say which rate a product sustains for seconds, where a launch repeated it so long."""
    try:
        rate = cases.one(SUSTAINED_RATE, case=case)
    except NotMeasuredError:
        return ""
    part = peaks.of_peak(cases.run, case, rate, named=False)
    return f", and {text(rate, RATE.unit)} sustained{part}"


def _half(cases: Cases, device: str) -> tuple[Crossing, Curve]:
    """Return the size from which half of the best rate is had, and the part of it by size."""
    rate = cases.curve("n", "flop_rate", function=SQUARE, device=device, dtype=PLAIN)
    part = Curve.of(rate.table.div(rate.table.max(axis="columns"), axis="index"), rate.cases)
    return threshold(part, 0.5, _times(cases, SQUARE, device), power=3), part


def _half_rate(cases: Cases, device: str) -> Answer:
    crossing, part = _half(cases, device)
    return crossing.answer(part, f"n of half the best {PLAIN} rate")


def _cold_product(cases: Cases, device: str) -> Answer:
    return longer(_cold(cases, device), partial(size, pattern=N))


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the speed-up, and each device's rate by size."""
    asked = (("product alone", cases, SQUARE), ("with copies", cases, COPIES))
    ratios = lines(lambda *given: _compared(*given).ratio, asked)
    if ratios:
        title = f"{cases.title(cases.accelerator())} against CPU, {PLAIN}"
        reference = (1.0, "as fast as the CPU")
        yield Plot("speed-up", title, "curve", SIZE, SPEED_UP, ratios, *reference)
    devices = cases.devices()[::-1]
    for device in devices:
        title = f"Rate of a square product on {cases.the(device)}"
        rates = tuple(rate.series(dtype) for dtype, rate in _rates(cases, device).items())
        yield Plot(f"rate-{device}", title, "curve", SIZE, RATE, rates)
    yield cold_plot("product", SIZE, _cold, cases, devices)


def _cold(cases: Cases, device: str) -> Curve:
    """Return how many times as long a product takes with cold caches, by size."""
    warm = _times(cases, SQUARE, device)
    return cases.curve("n", function=COLD, device=device) / warm


def _times(cases: Cases, function: str, device: str) -> Curve:
    return cases.curve("n", function=function, device=device, dtype=PLAIN)


def _rates(cases: Cases, device: str, what: str = "flop_rate") -> dict[str, Curve]:
    made = {  # asked for first, because the search for the reason of what is missing takes long
        (dtype, function)
        for function in (SQUARE, NARROW)
        for dtype in cases.values("dtype", function=function, device=device)
    }
    rates = {}
    for dtype, function in product(PRECISIONS, (SQUARE, NARROW)):
        if (dtype, function) in made:
            with suppress(NotMeasuredError):
                rates[dtype] = cases.curve("n", what, function=function, device=device, dtype=dtype)
    return rates


def best_rates(cases: Cases, device: str) -> dict[str, tuple[Curve, float]]:
    """Return the rates by precision with the size that is fastest, the fastest first.

    They are by the device's own time where that is known: a product that waits for its launch
    would be no rate of the device.
    """
    rates = _rates(cases, device, "device_flop_rate")
    best = {dtype: (rate, rate.highest) for dtype, rate in rates.items()}
    order = sorted(best, key=lambda dtype: -best[dtype][0].point(best[dtype][1]).y.value)
    return {dtype: best[dtype] for dtype in order}


def _compared(cases: Cases, function: str) -> Compared:
    cpu, device = _times(cases, SQUARE, "cpu"), cases.accelerator()
    precision = {"dtype": PLAIN} if function == SQUARE else {}
    times = cases.curve("n", function=function, device=device, **precision)
    name = cases.the(device)
    return Compared(cpu / times, times, name, power=3, of_what=f" in {PLAIN}")
