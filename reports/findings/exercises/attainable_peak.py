# SPDX-License-Identifier: MIT
"""The attainable peak: the most that a device gives a product, and how sure that is."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from statistics import median

import pandas as pd

from frobench.reports.findings import peaks
from frobench.reports.findings.answers import Answer, ask, ask_on
from frobench.reports.findings.exercises.matmul import PLAIN, RATE, best_rates
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point
from frobench.reports.findings.select import Cases, NotMeasuredError, cases_of, dots, measured
from frobench.reports.findings.values import (
    VALUE,
    N,
    at_least,
    behind,
    estimate_of,
    is_above,
    size,
)
from frobench.reports.table.launches import SUSTAINED_RATE
from frobench.suite.stored.machine_identity import is_cpu
from frobench.suite.stored.types import Case, Run, Search
from frobench.suite.units import capital, counted, format_estimate, format_value

PRODUCTS = ("bench_product", "bench_product_narrow")
TIE = 0.995
"""The rate of the second best shape, as a part of the best, from which the two tie."""
LEADING = ("bfloat16", "float16", "float32")
"""Precisions of training; the fastest of them leads."""
SUSTAINED, BURST = "sustained", "in bursts"
BY = f"\N{NO-BREAK SPACE}{RATIO}\N{NO-BREAK SPACE}"


def findings(cases: Cases) -> Iterator[Finding]:
    """Lead with the accelerators' peaks: what is the most, how sure is it, who gets near."""
    questions = (
        ("peak", "What is the most that {} gives a matrix product?", _peak),
        ("searched", "How sure is it that no shape is faster?", _sure),
        ("square", "How much of that does a square product get from {}?", _square),
    )
    for device in reversed(cases.devices()):
        yield from ask_on(cases, device, *questions)
    if all(map(is_cpu, cases.devices())):
        most = "What is the most that an accelerator gives a matrix product?"
        yield ask("peak-accelerator", most, _peak, cases)


def _peak(cases: Cases, device: str = "") -> Answer:
    device = device or cases.accelerator()
    first, *others = _fastest(cases, device)
    typical = format_estimate(estimate_of(first.rate), RATE.unit).partition(" (")[0]
    how = first.basis
    if how == SUSTAINED:
        burst = fastest_products(cases.run, device)[first.precision]
        how += f"; {at_least(burst.rate, RATE.unit)} {BURST}"
    part = peaks.of_peak(cases.run, first.case.fullname, first.rate)
    listed = "".join(
        f"; {at_least(product.rate, RATE.unit)} in {product.precision} ({product.shape})"
        f"{peaks.of_peak(cases.run, product.case.fullname, product.rate, named=not part)}"
        for product in others
    )
    plain = [product.rate for product in others if product.precision == PLAIN]
    ratios = [ratio for rate in plain if not (ratio := (first.rate / rate).dropna()).empty]
    faster = any(is_above(ratio, 1.0) for ratio in ratios)
    return Answer(
        capital(
            f"{at_least(first.rate, RATE.unit)} (median: {typical}) in {first.precision}, {how}"
        ),
        tuple(product.case.fullname for product in (first, *others)),
        first.rate,
        RATE.unit,
        f"Use {first.precision} where its precision is enough." if faster else "",
        f"{part}; {first.shape} on {cases.the(device)}{listed}{peaks.missing(cases.run, device)}",
        f"rate of the fastest product, in {first.precision}",
        at_least=True,
    )


def _sure(cases: Cases, device: str) -> Answer:
    best = best_products(cases, device)
    efforts = [
        f"in {product.precision}: {_effort(product.case.extra_info.search)}" for product in best
    ]
    return Answer(capital("; ".join(efforts)), tuple(one.case.fullname for one in best))


def _effort(search: Search | None) -> str:
    if search is None:
        return "the shape was not searched for"
    tried = f"{counted(search.shapes, 'shape')} tried in {format_value(search.seconds, 's', 2)}"
    if search.runner_up is None:
        return tried
    if search.runner_up >= TIE:
        return f"{tried}; the runner-up ties"
    return f"{tried}; the runner-up reaches {format_value(search.runner_up, '1')} of the rate"


def _square(cases: Cases, device: str) -> Answer:
    others = cases_of(cases.run, "matmul")
    squares = best_rates(others, device)
    parts: list[tuple[str, pd.Series]] = []
    names: list[str] = []
    for product in best_products(cases, device):
        if product.precision in squares:
            curve, n = squares[product.precision]
            parts.append((product.precision, (curve.at(n) / product.rate).dropna()))
            names += [product.case.fullname, *behind(curve.on([n]))]
    if not parts:
        raise NotMeasuredError(others.reason(device=device))
    (first, part), *_ = parts
    words = f"{VALUE} of the fastest, in {first} at {size(squares[first][1], N)}"
    return Answer(words, tuple(names), part, "1")


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the median rates of each device's fastest products by precision."""
    best = measured(lambda device: _fastest(cases, device), reversed(cases.devices()))
    rates = dots(
        {
            cases.title(device): [
                Point(product.precision, estimate_of(product.rate), (product.case.fullname,))
                for product in products
            ]
            for device, products in best.items()
        }
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
        search = self.case.extra_info.search
        if search is None and isinstance(n := self.case.params.get("n"), int):
            return size(n, N)
        return BY.join(format_value(side, "n") for side in (search.shape if search else ()))


def best_products(cases: Cases, device: str) -> list[Product]:
    """Return the products of a device, the fastest precision first."""
    wanted = {
        name for function in PRODUCTS for name in cases.names(function=function, device=device)
    }
    products = [
        Product(str(case.params["dtype"]), case, cases.one("device_flop_rate", case=case.fullname))
        for case in cases.passed()
        if case.fullname in wanted
    ]
    if not products:
        raise NotMeasuredError(cases.reason(device=device))
    return sorted(products, key=lambda product: -estimate_of(product.rate).value)


def fastest_products(run: Run, device: str) -> dict[str, Product]:
    """Return a device's fastest product in bursts by precision.

    Where no shape was searched for, that is the fastest square product of the same run.
    """
    squares = cases_of(run, "matmul")
    known = {case.fullname: case for case in squares.passed()}
    fastest = {
        dtype: Product(dtype, known[curve.cases[n][0]], curve.at(n))
        for dtype, (curve, n) in best_rates(squares, device).items()
    }
    with suppress(NotMeasuredError):
        searched = best_products(cases_of(run, "attainable_peak"), device)
        fastest |= {product.precision: product for product in searched}
    return fastest


def attained(run: Run, device: str) -> list[Product]:
    """Return a device's fastest product of each precision, the leading one first, then by rate.

    The rate is sustained where that is known. Else it is that of the fastest shape in bursts, or
    of a square product where none was searched. All that is said of what a device attains is this.
    """
    found = fastest_products(run, device)
    for exercise in ("matmul", "attainable_peak"):
        found |= _sustained(cases_of(run, exercise), device)
    products = sorted(found.values(), key=lambda product: -_typical(product))
    lead = next((one.precision for one in products if one.precision in LEADING), "")
    return sorted(products, key=lambda product: product.precision != lead)


def _fastest(cases: Cases, device: str) -> list[Product]:
    """Return what a device attains in the precisions that were searched, the fastest first."""
    searched = {product.precision for product in best_products(cases, device)}
    known = [one for one in attained(cases.run, device) if one.precision in searched]
    return sorted(known, key=lambda product: -_typical(product))


def _sustained(cases: Cases, device: str) -> dict[str, Product]:
    """Return the best rate of each precision among products that a launch repeated for seconds."""
    best: dict[str, Product] = {}
    for case in cases.passed():
        if case.params.get("device") != device or SUSTAINED not in case.extra_info.parts:
            continue
        with suppress(NotMeasuredError):
            rate = cases.one(SUSTAINED_RATE, case=case.fullname)
            product = Product(peaks.precision_of(case), case, rate, SUSTAINED)
            known = best.get(product.precision)
            if known is None or _typical(product) > _typical(known):
                best[product.precision] = product
    return best


def _typical(product: Product) -> float:
    """Return the median rate; that of pandas takes far longer for a few launches."""
    return float(median(product.rate.tolist()))
