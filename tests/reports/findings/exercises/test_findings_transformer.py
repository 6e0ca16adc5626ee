# SPDX-License-Identifier: MIT
"""What is said of transformers, on runs whose rates and ceilings are known."""

from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.findings.finding import RATIO
from frobench.suite.stored.types import Case, Search, Work
from tests.instruments.runs.exact_runs import answer, by_name, case, left_out, plain, plot, value

GPU = "cuda:0"
PEAK, BANDWIDTH = 8e14, 4e12
SECONDS = 0.01


def ceilings(device: str = GPU, dtype: str = "bfloat16") -> list[Case]:
    """Build the fastest product and the largest copy of a device."""
    product = case("bench_product", 1e12 / PEAK, device, work=Work(flops=1e12), dtype=dtype)
    product.extra_info.search = Search(shape=[1, 1, 1], shapes=1, seconds=1.0, runner_up=None)
    size = 2**28
    copy = case("bench_within", 2 * size / BANDWIDTH, device, work=Work(bytes=2 * size), size=size)
    return [replace(product, group="attainable_peak"), replace(copy, group="copies")]


def layers(  # noqa: PLR0913 - a choice each
    function: str,
    compute: float,
    memory: float,
    *,
    device: str = GPU,
    tokens: int = 1000,
    seconds: float = SECONDS,
    **params: Any,  # noqa: ANN401 - whatever a benchmark takes
) -> Case:
    """Build layers that need parts of the peak and of the bandwidth, at `SECONDS` a call."""
    work = Work(
        flops=compute * PEAK * SECONDS, bytes=memory * BANDWIDTH * SECONDS, items=float(tokens)
    )
    given: dict[str, Any] = {"width": 4096, "layers": 1, "dtype": "bfloat16"} | params
    return case(f"bench_{function}", seconds, device, work=work, **given)


def said(*cases: Case, beside: list[Case] | None = None, accelerators: int = 1) -> Any:  # noqa: ANN401 - see `answer`
    measured = ceilings() if beside is None else beside
    return answer("transformer", cases, accelerators=accelerators, beside=measured)


def test_tokens_are_counted_for_each_layer_that_they_pass() -> None:
    section = said(layers("train", 0.4, 0.3, width=2048, layers=4), layers("train", 0.6, 0.3))
    lead = section.findings[0]
    assert lead.name == f"train-{GPU}"
    assert value(section, lead.name) == pytest.approx(1000 / SECONDS, rel=0.02)
    words = plain(lead)
    assert "100,000 tokens/s [" in words
    assert "] per layer in training (width 4,096, bfloat16); 60" in words
    wide, narrow = plot(section, "tokens").series
    assert (wide.label, narrow.label) == tuple(
        f"NVIDIA H200, width {width}, bfloat16" for width in ("4,096", "2,048")
    )
    assert narrow.points[0].y.value == pytest.approx(4000 / SECONDS, rel=0.02)


@pytest.mark.parametrize(
    ("compute", "memory", "limit", "rule"),
    [
        (0.6, 0.3, "; compute limits it.", "For training choose by the rate of bfloat16 products."),
        (0.3, 0.6, "; memory bandwidth limits it.", "For training choose by memory bandwidth."),
        (0.7, 0.6, "; compute limits it.", "For training choose by the rate of bfloat16 products."),
        (0.4, 0.3, "; none limits it alone.", ""),
    ],
)
def test_the_limit_is_what_most_of_the_time_is_needed_for(
    compute: float, memory: float, limit: str, rule: str
) -> None:
    lead = said(layers("train", compute, memory)).findings[0]
    words = plain(lead)
    assert "of the fastest bfloat16 product (800 TFLOP/s); " in words
    assert "of the memory bandwidth (4.0 TB/s)" in words
    assert words.endswith(limit)
    assert lead.rule_of_thumb == rule
    assert {name.partition("::")[2].partition("[")[0] for name in lead.cases} == {
        "bench_train",
        "bench_product",
        "bench_within",
    }


def test_decoding_answers_by_its_replay_and_names_the_batch() -> None:
    section = said(
        layers("decode", 0.01, 0.2, tokens=1, batch=1, seconds=3 * SECONDS),
        layers("decode_graph", 0.01, 0.9, tokens=1, batch=1),
        layers("decode", 0.2, 0.4, tokens=32, batch=32),
    )
    found = by_name(section)
    assert value(section, f"decode-1-{GPU}") == pytest.approx(1 / SECONDS, rel=0.02)
    words = plain(found[f"decode-1-{GPU}"])
    assert "in decoding at batch 1 (width 4,096, bfloat16, replayed from a" in words
    assert words.endswith("; memory bandwidth limits it.")
    assert value(section, f"decode-32-{GPU}") == pytest.approx(32 / SECONDS, rel=0.02)
    assert "replayed" not in found[f"decode-32-{GPU}"].answer


def test_work_that_a_graph_more_than_halves_is_limited_by_launching() -> None:
    section = said(
        layers("prefill", 0.2, 0.1, seconds=4 * SECONDS), layers("prefill_graph", 0.8, 0.4)
    )
    lead = by_name(section)[f"prefill-{GPU}"]
    assert plain(lead).endswith("; launching limits it.")
    assert lead.rule_of_thumb == "Replay prefill from a graph."
    assert "prefill_graph" in " ".join(lead.cases)


def test_a_graph_leads_with_what_it_gains_most() -> None:
    section = said(
        layers("train", 0.6, 0.3),
        layers("train_graph", 0.6, 0.3),
        layers("decode", 0.1, 0.2, tokens=1, batch=1, seconds=3 * SECONDS),
        layers("decode_graph", 0.1, 0.6, tokens=1, batch=1),
    )
    assert value(section, "replay") == pytest.approx(3)
    words = plain(by_name(section)["replay"])
    assert f"3.000{RATIO} [3.000, 3.000] as fast replayed, in decoding at batch 1" in words
    assert words.endswith("(width 4,096, bfloat16).")
    assert by_name(section)["replay"].rule_of_thumb == "Replay decoding at batch 1 from a graph."


def test_a_graph_that_gains_nothing_advises_nothing() -> None:
    section = said(layers("train", 0.6, 0.3), layers("train_graph", 0.6, 0.3))
    assert by_name(section)["replay"].rule_of_thumb == ""


def test_bytes_that_come_faster_than_from_memory_come_from_caches_and_limit_nothing() -> None:
    narrow = layers("decode_narrow", 0.1, 3.0, device="cpu", width=256, batch=1, dtype="float32")
    section = said(narrow, beside=ceilings("cpu", "float32"), accelerators=0)
    words = plain(by_name(section)["decode-1-cpu"])
    assert "of the memory bandwidth" in words
    assert words.endswith("TB/s), from caches.")


def test_a_machine_without_an_accelerator_answers_for_its_cpu_and_says_so() -> None:
    narrow: dict[str, Any] = {"device": "cpu", "width": 256, "dtype": "float32"}
    section = said(
        layers("train_narrow", 0.6, 0.1, **narrow),
        layers("prefill_narrow", 0.6, 0.1, **narrow),
        layers("decode_narrow", 0.1, 0.6, tokens=32, batch=32, **narrow),
        beside=ceilings("cpu", "float32"),
        accelerators=0,
    )
    found = by_name(section)
    assert section.findings[0].name == "train-cpu"
    assert "per layer in training (width 256, float32)" in plain(section.findings[0])
    assert plain(found["decode-32-cpu"]).endswith("; memory bandwidth limits it.")
    assert found["decode-1-cpu"].absent
    for name in ("train-accelerator", "replay"):
        assert found[name].answer == "Not measured: no accelerator."


def test_without_ceilings_in_the_run_those_of_the_datasheet_serve() -> None:
    words = plain(said(layers("train", 0.5, 0.3), beside=[]).findings[0])
    assert "dense bfloat16 peak" in words
    assert "datasheet" in words


def test_where_no_ceiling_is_known_the_rate_stands_alone() -> None:
    narrow = layers("train_narrow", 0.6, 0.1, device="cpu", width=256, dtype="float32")
    words = plain(said(narrow, beside=[], accelerators=0).findings[0])
    assert words.endswith("per layer in training (width 256, float32).")


def test_what_is_missing_says_why() -> None:
    reason = "needs 5.9 GiB; cuda:0 has 4.0 GiB free"
    missing = [
        left_out("bench_train", "skipped", reason, device=GPU, width=4096, layers=1),
        left_out("bench_decode_graph", "skipped", "no graphs here: none", device=GPU, batch=1),
    ]
    section = answer("transformer", [layers("prefill", 0.6, 0.3)], missing, accelerators=1)
    found = by_name(section)
    assert found[f"train-{GPU}"].answer == f"Not measured: {reason}."
    assert found["replay"].answer == "Not measured: no graphs here: none."


def test_rates_are_drawn_for_each_work() -> None:
    section = said(
        layers("train", 0.6, 0.3),
        layers("prefill", 0.7, 0.2, width=2048, layers=4),
        layers("decode", 0.1, 0.2, tokens=1, batch=1, seconds=3 * SECONDS),
        layers("decode_graph", 0.1, 0.6, tokens=1, batch=1),
    )
    speeds = {one.label: [p.x for p in one.points] for one in plot(section, "tokens").series}
    assert speeds == {
        "NVIDIA H200, width 4,096, bfloat16": ["training", "decoding at batch 1"],
        "NVIDIA H200, width 2,048, bfloat16": ["prefill"],
        "NVIDIA H200, width 4,096, bfloat16, replayed": ["decoding at batch 1"],
    }
