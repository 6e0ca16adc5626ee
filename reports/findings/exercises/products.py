# SPDX-License-Identifier: MIT
"""Matrix products: against the CPU, their best rates, and the most that a device gives one."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import median

import pandas as pd

from frobench.reports.findings import peaks
from frobench.reports.findings.answers import Crossing, answered, ask, ask_on, at, threshold
from frobench.reports.findings.compared import Compared, cold_plot, longer
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.plots import dots, lines, point
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, cases_of, measured
from frobench.reports.findings.values import VALUE, N, at_least, behind, estimate_of, is_above, size
from frobench.reports.table.launches import SUSTAINED_RATE
from frobench.suite.stored.machine_identity import is_cpu
from frobench.suite.stored.types import Case, Run, Search
from frobench.suite.units import capital, counted, format_estimate, format_value

SQUARE, NARROW = "bench_square", "bench_square_narrow"
COPIES, GRAPH = "bench_square_with_copies", "bench_square_graph"
PLAIN = "float32"
"""The precision in which devices are compared: every device has it."""
HEADLINE = 1024
"""The size n at which an accelerator is compared with the CPU: every machine measures it."""
PRECISIONS = ("float32", "tfloat32", "bfloat16", "float16", "float8_e4m3fn", "int8")
"""The order of lines in a chart, so that a precision has one colour on every device."""
SIZE, RATE, SPEED_UP = Axis("size n"), Axis("Rate", "FLOP/s"), Axis("Speed-up", RATIO)


def _squares(cases: Cases) -> list[Finding]:
    """Lead with the speed-up; without an accelerator, with what the CPU does by itself."""
    faster = "How much faster is an accelerator than the CPU?"
    worth = "From which size is an accelerator worth it?"
    copied = "And if the matrices must be copied there, and the product back?"
    compared = [
        ask("speed-up", faster, _speed_up, cases),
        ask("speed-up-at-ends", "And on the largest product?", lambda: _alone(cases).at_largest()),
        ask("crossover", worth, lambda: _alone(cases).crossover()),
        ask("crossover-with-copies", copied, lambda: _compared(cases, COPIES).crossover()),
        ask("graph", "How fast is a tiny product with CUDA graphs?", _graph, cases),
    ]
    questions = (
        ("best-rate", "What is the best rate of square products on {}?", _best_rate),
        ("cold-product", "What do cold caches cost products on {}?", _cold_product),
    )
    alone = [*ask_on(cases, cases.devices(), *questions)]
    return compared + alone if compared[0].value else alone + compared


def _speed_up(cases: Cases) -> Finding:
    compared = _alone(cases)
    if HEADLINE not in compared.ratio.cases:
        raise NotMeasuredError(cases.reason(function=SQUARE, n=HEADLINE, dtype=PLAIN))
    words = f"the CPU's speed in {PLAIN} at {size(HEADLINE, N)}"
    return at(compared.ratio, HEADLINE, RATIO, words, compared.advice())


def _graph(cases: Cases) -> Finding:
    device = cases.accelerator()
    ratio = _times(cases, SQUARE, device) / _times(cases, GRAPH, device)
    return at(ratio, ratio.smallest, RATIO, f"as fast from a graph at {size(ratio.smallest, N)}")


def _best_rate(cases: Cases, device: str) -> Finding:
    best = best_rates(cases, device)
    if not best:
        raise NotMeasuredError(cases.reason(function=SQUARE, device=device))
    dtype, (rate, n) = next(iter(best.items()))
    burst, rule = "" if is_cpu(device) else " in bursts", ""
    with suppress(NotMeasuredError):
        if bracket := _half(cases, device).bracket:
            rule = f"Half of the {PLAIN} rate needs n of {size(bracket[1])} or more."
    part = peaks.of_peak(cases.run, rate.cases[n][0], rate.at(n))
    words = f"{VALUE} in {dtype} at {size(n, N)}{burst}"
    names = behind(*(curve.on([at]) for curve, at in best.values()))
    return answered(words, names, rate.at(n), RATE.unit, rule, part)


def _half(cases: Cases, device: str) -> Crossing:
    """Return the size from which half of the best rate is had."""
    rate = cases.curve("n", "flop_rate", function=SQUARE, device=device, dtype=PLAIN)
    part = rate / rate.level(rate.table.max(axis="columns"))
    return threshold(part, _times(cases, SQUARE, device), power=3, level=0.5)


def _cold_product(cases: Cases, device: str) -> Finding:
    return longer(_cold(cases, device), partial(size, pattern=N))


def _square_plots(cases: Cases) -> Iterator[Plot]:
    """Draw the speed-up, and each device's rate by size."""
    asked = (("product alone", cases, SQUARE), ("with copies", cases, COPIES))
    if ratios := lines(lambda *given: _compared(*given).ratio, asked):
        title = f"{cases.title(cases.accelerator())} against CPU, {PLAIN}"
        yield Plot("speed-up", title, "curve", SIZE, SPEED_UP, ratios, "as fast as the CPU")
    for device in cases.devices():
        title = f"Rate of a square product on {cases.the(device)}"
        rates = tuple(rate.series(dtype) for dtype, rate in _rates(cases, device).items())
        yield Plot(f"rate-{device}", title, "curve", SIZE, RATE, rates)
    yield cold_plot("product", SIZE, _cold, cases, cases.devices())


def _cold(cases: Cases, device: str) -> Curve:
    """Return how many times as long a product takes with cold caches, by size."""
    warm = _times(cases, SQUARE, device)
    return cases.curve("n", function="bench_square_cold", device=device) / warm


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


def _alone(cases: Cases) -> Compared:
    return _compared(cases, SQUARE)


def _compared(cases: Cases, function: str) -> Compared:
    cpu, device = _times(cases, SQUARE, "cpu"), cases.accelerator()
    precision = {"dtype": PLAIN} if function == SQUARE else {}
    times = cases.curve("n", function=function, device=device, **precision)
    return Compared(cpu / times, times, cases.the(device), power=3, of_what=f" in {PLAIN}")


TIE = 0.995
"""The rate of the second best shape, as a part of the best, from which the two tie."""
LEADING = ("bfloat16", "float16", "float32")
"""Precisions of training; the fastest of them leads."""
SUSTAINED, BURST = "sustained", "in bursts"
BY = f"\N{NO-BREAK SPACE}{RATIO}\N{NO-BREAK SPACE}"


def _peaks(cases: Cases) -> Iterator[Finding]:
    """Lead with the accelerators' peaks: what is the most, how sure is it, who gets near."""
    questions = (
        ("peak", "What is the most that {} gives a matrix product?", _peak),
        ("searched", "How sure is it that no shape is faster?", _sure),
    )
    yield from ask_on(cases, cases.devices(), *questions)
    if all(map(is_cpu, cases.devices())):
        most = "What is the most that an accelerator gives a matrix product?"
        yield ask("peak-accelerator", most, _peak, cases)


def _peak(cases: Cases, device: str = "") -> Finding:
    device = device or cases.accelerator()
    first, *others = _fastest(cases, device)
    typical = format_estimate(estimate_of(first.rate), RATE.unit).partition(" (")[0]
    how = first.basis
    if how == SUSTAINED:
        burst = fastest_products(cases.run, device)[first.precision]
        how += f"; {at_least(burst.rate, RATE.unit)} {BURST}"
    ratios = [(first.rate / one.rate).dropna() for one in others if one.precision == PLAIN]
    faster = any(not ratio.empty and is_above(ratio) for ratio in ratios)
    part = peaks.of_peak(cases.run, first.case.fullname, first.rate)
    return answered(
        capital(
            f"{at_least(first.rate, RATE.unit)} (median: {typical}) in {first.precision}, {how}"
        ),
        (first.case.fullname,),
        first.rate,
        RATE.unit,
        f"Use {first.precision} where its precision is enough." if faster else "",
        f"{part}; {first.shape} on {cases.the(device)}",
        f"rate of the fastest product, in {first.precision}",
        at_least=True,
    )


def _sure(cases: Cases, device: str) -> Finding:
    best = best_products(cases, device)
    efforts = [f"in {one.precision}: {_effort(one.case.extra_info.search)}" for one in best]
    return answered(capital("; ".join(efforts)), tuple(one.case.fullname for one in best))


def _effort(search: Search | None) -> str:
    if search is None:
        return "the shape was not searched for"
    tried = f"{counted(search.shapes, 'shape')} tried in {format_value(search.seconds, 's', 2)}"
    if search.runner_up is None:
        return tried
    if search.runner_up >= TIE:
        return f"{tried}; the runner-up ties"
    return f"{tried}; the runner-up reaches {format_value(search.runner_up, '1')} of the rate"


def _peak_plots(cases: Cases) -> Iterator[Plot]:
    """Draw the median rates of each device's fastest products by precision."""
    best = measured(lambda device: _fastest(cases, device), cases.devices())
    rates = dots(
        (cases.title(device), point(one.precision, one.rate, one.case.fullname))
        for device, products in best.items()
        for one in products
    )
    yield Plot("peak", "Fastest product by precision", "dots", Axis("precision"), RATE, rates)


@dataclass(frozen=True)
class Product:
    """The fastest product of a precision.

    rate : FLOP/s by launch, in bursts or sustained
    """

    precision: str
    case: Case
    rate: pd.Series
    basis: str = BURST

    @property
    def shape(self) -> str:
        """The shape, such as 8,192 x 4,096 x 8,192, or of a square product n = 8,192."""
        if isinstance(n := self.case.params.get("n"), int):
            return size(n, N)
        search = self.case.extra_info.search
        return BY.join(format_value(side, "n") for side in (search.shape if search else ()))

    @property
    def typical(self) -> float:
        """The median rate; that of pandas takes far longer for a few launches."""
        return float(median(self.rate.tolist()))


def best_products(cases: Cases, device: str) -> list[Product]:
    """Return the products of a device, the fastest precision first."""
    products = [
        Product(str(case.params["dtype"]), case, cases.one("device_flop_rate", case=case.fullname))
        for function in ("bench_product", "bench_product_narrow")
        for case in cases.where(function=function, device=device)
    ]
    if not products:
        raise NotMeasuredError(cases.reason(device=device))
    return sorted(products, key=lambda one: -one.typical)


def fastest_products(run: Run, device: str) -> dict[str, Product]:
    """Return a device's fastest product in bursts by precision.

    Where no shape was searched for, that is the fastest square product of the same run.
    """
    squares = cases_of(run, "matmul")
    fastest = {
        dtype: Product(dtype, case, curve.at(n))
        for dtype, (curve, n) in best_rates(squares, device).items()
        for name in curve.cases[n]
        for case in squares.where(case=name)
    }
    with suppress(NotMeasuredError):
        searched = best_products(cases_of(run, "attainable_peak"), device)
        fastest |= {one.precision: one for one in searched}
    return fastest


def attained(run: Run, device: str) -> list[Product]:
    """Return a device's fastest product of each precision, the leading one first, then by rate.

    The rate is sustained where that is known. Else it is that of the fastest shape in bursts, or
    of a square product where none was searched. All that is said of what a device attains is this.
    """
    found = fastest_products(run, device)
    for exercise in ("matmul", "attainable_peak"):
        found |= _sustained(cases_of(run, exercise), device)
    products = sorted(found.values(), key=lambda one: -one.typical)
    lead = next((one.precision for one in products if one.precision in LEADING), "")
    return sorted(products, key=lambda one: one.precision != lead)


def _fastest(cases: Cases, device: str) -> list[Product]:
    """Return what a device attains in the precisions that were searched, the fastest first."""
    searched = {one.precision for one in best_products(cases, device)}
    known = [one for one in attained(cases.run, device) if one.precision in searched]
    return sorted(known, key=lambda one: -one.typical)


def _sustained(cases: Cases, device: str) -> dict[str, Product]:
    """Return the best rate of each precision among products that a launch repeated for seconds."""
    products = []
    for case in cases.where(device=device):
        if SUSTAINED in case.extra_info.parts:
            with suppress(NotMeasuredError):
                rate = cases.one(SUSTAINED_RATE, case=case.fullname)
                products.append(Product(peaks.precision_of(case), case, rate, SUSTAINED))
    return {one.precision: one for one in sorted(products, key=lambda one: one.typical)}


RULES = {"matmul": (_squares, _square_plots), "attainable_peak": (_peaks, _peak_plots)}
