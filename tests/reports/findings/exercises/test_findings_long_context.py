# SPDX-License-Identifier: MIT
"""What is said of long contexts, on runs whose times are known."""

from typing import Any

import pytest

from frobench.reports.findings import Section
from frobench.suite.stored.types import Case, Work
from tests.instruments.runs.exact_runs import answer, by_name, case, left_out, plain, plot
from tests.reports.findings.exercises.test_findings_transformer import (
    BANDWIDTH,
    GPU,
    PEAK,
    ceilings,
)

WIDE: dict[str, Any] = {"width": 4096, "dtype": "bfloat16"}
PER_TOKEN, PER_PAIR, PER_CACHED, ONE = 2e-7, 4e-11, 1e-9, 2e-5
"""Seconds: products of a token; attention for each pair of tokens, and for each one in the cache;
products of a single token."""


def prefill(tokens: int) -> Case:
    seconds = PER_PAIR * tokens**2
    work = Work(flops=0.5 * PEAK * seconds, bytes=1e6, items=tokens)
    return case("bench_prefill", seconds, GPU, work=work, tokens=tokens, **WIDE)


def decode(cached: int) -> Case:
    seconds = PER_CACHED * cached
    work = Work(flops=1e6, bytes=0.8 * BANDWIDTH * seconds, items=1)
    return case("bench_decode", seconds, GPU, work=work, cached=cached, **WIDE)


def products(tokens: int) -> Case:
    seconds = ONE if tokens == 1 else PER_TOKEN * tokens
    return case("bench_products", seconds, GPU, work=Work(flops=1e9), tokens=tokens, **WIDE)


def said(*cases: Case, **more: Any) -> Section:  # noqa: ANN401 - as `answer` takes it
    section: Section = answer("long_context", cases, accelerators=1, beside=ceilings(), **more)
    return section


def all_of(*lengths: int) -> list[Case]:
    return [made(n) for n in lengths for made in (prefill, decode, products)] + [products(1)]


def test_rates_are_those_of_the_longest_with_their_share_of_what_is_allowed() -> None:
    found = by_name(said(*all_of(2048, 8192)))
    words = plain(found[f"prefill-{GPU}"])
    assert "in the causal attention of 8,192 tokens; 50" in words
    assert "of the fastest bfloat16 product (800 TFLOP/s)" in words
    words = plain(found[f"decode-{GPU}"])
    assert "from a cache of 8,192 tokens; 80" in words
    assert "of the memory bandwidth (4.0 TB/s)" in words


def test_attention_outweighs_products_from_the_length_at_which_both_take_as_long() -> None:
    found = by_name(said(*all_of(2048, 8192, 32_768)))
    for name, length in (("prefill", PER_TOKEN / PER_PAIR), ("decode", ONE / PER_CACHED)):
        value = found[f"{name}-length-{GPU}"].value
        assert value is not None
        assert value.value == pytest.approx(length, rel=1e-6)
    prefill, decode = (found[f"{name}-length-{GPU}"] for name in ("prefill", "decode"))
    assert plain(prefill) == "From somewhere between 2,048 tokens and 8,192 tokens."
    assert prefill.rule_of_thumb == "Beyond 8,192 tokens compare devices by their attention."
    assert decode.rule_of_thumb.startswith("Beyond 32,768 tokens a smaller cache")


def test_lengths_that_are_too_short_are_named() -> None:
    found = by_name(said(*all_of(512, 2048)))
    assert plain(found[f"prefill-length-{GPU}"]) == "At no size measured, up to 2,048 tokens."


def test_what_is_missing_says_why() -> None:
    reason = "attention keeps all scores here"
    missing = left_out("bench_prefill", "skipped", reason, device=GPU, tokens=2048, **WIDE)
    section = said(decode(2048), outcomes=[missing])
    assert by_name(section)[f"prefill-{GPU}"].answer == f"Not measured: {reason}."


def test_attention_and_products_are_drawn_by_length() -> None:
    section = said(*all_of(2048, 8192))
    for name in ("prefill", "decode"):
        shown = {one.label: [p.x for p in one.points] for one in plot(section, name).series}
        title = "NVIDIA H200"
        assert shown[f"{title}: attention"] == [2048, 8192]
        assert shown[f"{title}: products"][-2:] == [2048, 8192]
