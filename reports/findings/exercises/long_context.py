# SPDX-License-Identifier: MIT
"""Long contexts: rates of attention, and the length from which it outweighs a layer's products."""

from collections.abc import Iterator
from dataclasses import replace

from frobench.reports.findings.answers import Answer, ask_on, threshold
from frobench.reports.findings.exercises import limits
from frobench.reports.findings.finding import Axis, Finding, Plot, Series
from frobench.reports.findings.select import Cases, Curve, lines
from frobench.reports.findings.values import SIZE, VALUE, size
from frobench.suite.stored.types import Scalar

PREFILL, DECODE, PRODUCTS = "bench_prefill", "bench_decode", "bench_products"
CACHED = "cached"
"""The parameter of decoding that is its size; the others have ``tokens``."""
TOKENS = f"{SIZE} tokens"


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each device, an accelerator before the CPU."""
    outweighs = "From which length does attention outweigh a layer's products in"
    for device in reversed(cases.devices()):
        yield from ask_on(
            cases,
            device,
            ("prefill", "How fast is attention over a long prompt on {}?", _prefill),
            ("decode", "How fast is attention to a long cache on {}?", _decode),
            ("prefill-length", f"{outweighs} prefill on {{}}?", _prefill_length),
            ("decode-length", f"{outweighs} decoding on {{}}?", _decode_length),
        )


def _prefill(cases: Cases, device: str) -> Answer:
    rate = _curve(cases, device, PREFILL, "flop_rate")
    words = f"{VALUE} in the causal attention of {size(rate.sizes[-1], TOKENS)}"
    return _of_longest(cases, rate, "FLOP/s", words, limits.COMPUTE)


def _decode(cases: Cases, device: str) -> Answer:
    rate = _curve(cases, device, DECODE, "byte_rate")
    words = f"{VALUE} from a cache of {size(rate.sizes[-1], TOKENS)}"
    return _of_longest(cases, rate, "B/s", words, limits.MEMORY)


def _of_longest(cases: Cases, rate: Curve, unit: str, words: str, limit: str) -> Answer:
    longest = rate.sizes[-1]
    more, behind = limits.shares(cases, rate.cases[longest][0], limit)
    return Answer(words, behind, rate.at(longest), unit, more=more)


def _prefill_length(cases: Cases, device: str) -> Answer:
    attention, products = (_curve(cases, device, name) for name in (PREFILL, PRODUCTS))
    # By token the one grows with the length, and the other does not.
    by_token = Curve(products.numbers / products.sizes, products.launches, products.cases)
    return _length(attention, products, by_token, "Beyond {} compare devices by their attention.")


def _decode_length(cases: Cases, device: str) -> Answer:
    attention, products = _curve(cases, device, DECODE), _one_token(cases, device)
    rule = "Beyond {} a smaller cache gains more than smaller weights."
    return _length(attention, products, products, rule)


def _length(attention: Curve, products: Curve, weight: Curve, rule: str) -> Answer:
    ratio = attention / products
    crossing = threshold(ratio, 1.0, weight, power=1, pattern=TOKENS)
    answer = crossing.answer(ratio, "tokens from which attention outweighs products")
    if crossing.bracket is None:
        return answer
    return replace(answer, rule_of_thumb=rule.format(size(crossing.bracket[1], TOKENS)))


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the times of attention and of products by length."""
    ways = (
        ("prefill", "A layer's attention and products in a prefill", PREFILL, _curve),
        ("decode", "A layer's attention and products in decoding", DECODE, _one_token),
    )
    for name, title, function, products in ways:
        shown: tuple[Series, ...] = ()
        for device in reversed(cases.devices()):
            shown += lines(_curve, [(f"{cases.title(device)}: attention", cases, device, function)])
            shown += lines(
                products, [(f"{cases.title(device)}: products", cases, device, PRODUCTS)]
            )
        yield Plot(name, title, "curve", Axis("tokens"), Axis("Time", "s"), shown)


def _curve(cases: Cases, device: str, function: str, what: str = "device_seconds") -> Curve:
    """Return a number of the widest layers by launch and length."""
    over = CACHED if function == DECODE else "tokens"
    return cases.curve(over, what, function=function, **_widest(cases, device))


def _one_token(cases: Cases, device: str, _function: str = PRODUCTS) -> Curve:
    """Return the time of one token's products at every length of the cache."""
    cached = _curve(cases, device, DECODE)
    one = cases.one("device_seconds", function=PRODUCTS, tokens=1, **_widest(cases, device))
    (behind,) = cases.names(function=PRODUCTS, tokens=1, **_widest(cases, device))
    table = cached.table.mul(0).add(one, axis="index")
    return Curve.of(table, dict.fromkeys(cached.sizes, (behind,)))


def _widest(cases: Cases, device: str) -> dict[str, Scalar]:
    return {"device": device, "width": max(cases.values("width", device=device), default=0)}
