# SPDX-License-Identifier: MIT
"""What a network gives, from messages whose latency, bandwidth and slow links are known."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.findings import sections
from frobench.reports.findings.finding import RATIO
from frobench.reports.findings.select import device_title, the_device
from frobench.suite.stored.types import Case, NodeFacts, Work
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import (
    LAUNCHES,
    WOBBLE,
    answer,
    by_name,
    case,
    plain,
    plot,
    with_cases,
)

SIZES = (8, 2**16, 2**20, 2**24)
LATENCY, BANDWIDTH, LINK = 50e-6, 1e9, 1.25e9
"""Of a message one way, in seconds and bytes a second; and what the system tells of the link."""


def message(size: float) -> float:
    return LATENCY + size / BANDWIDTH


def trips(device: str) -> list[Case]:
    """Build round trips, of two messages each."""
    work = [Work(bytes=2 * size, path="network") for size in SIZES]
    return [
        case("bench_send_receive", 2 * message(size), device, work=counted, size=size)
        for size, counted in zip(SIZES, work, strict=True)
    ]


def sums(device: str, ranks: int, bandwidth: float = BANDWIDTH) -> list[Case]:
    """Build all-reduces whose bus bandwidth is known."""
    share = 2 * (ranks - 1) / ranks
    return [
        case(
            "bench_all_reduce",
            LATENCY + share * size / bandwidth,
            device,
            work=Work(bytes=share * size, path="network"),
            size=size,
        )
        for size in SIZES
    ]


def exchange(device: str, seconds: Sequence[float]) -> Case:
    """Build an exchange between neighbours in which each rank notes what its message took."""
    made = case(
        "bench_neighbours", max(seconds), device, work=Work(bytes=SIZES[-1]), size=SIZES[-1]
    )
    for rank, took in enumerate(seconds):
        made.extra_info.parts[f"to_rank_{rank}"] = [took * factor for factor in WOBBLE]
    return made


def across(cases: Sequence[Case], links: Sequence[float | None]) -> Any:  # noqa: ANN401 - see `answer`
    """Answer for a run of several nodes, whose links the system tells."""
    cases = [replace(one, group="collectives") for one in cases]
    run = with_cases(factory.run(accelerators=0, launches=LAUNCHES), cases)
    run.frobench.nodes = [NodeFacts(ranks=1, link=link) for link in links]
    return sections(run)[0]


def test_a_message_has_the_latency_of_half_a_round_trip_and_the_links_bandwidth() -> None:
    section = across(trips("cpu/2x1"), [LINK, 2 * LINK])
    (trip,) = section.findings
    assert trip.name == "bandwidth-send-and-receive-cpu/2x1"
    assert trip.value.value == pytest.approx(BANDWIDTH)
    assert "80% [" in plain(trip)  # of the slower link
    assert "of the link (1.25 GB/s); a latency of 50 µs [" in plain(trip)


def test_where_no_line_fits_the_smallest_message_is_timed_one_way() -> None:
    small, *_, large = trips("cpu/2x1")
    (trip,) = across([small, large], [None] * 2).findings
    assert trip.name == "rate-send-and-receive-cpu/2x1"
    assert "; 50 µs [" in plain(trip)
    assert plain(trip).endswith("] for 8 B.")


def test_the_bus_bandwidth_of_an_all_reduce_counts_what_each_link_carries() -> None:
    four = by_name(across(sums("cpu/4x1", 4), [LINK, LINK, LINK, None]))
    found = four["bandwidth-all-reduce-cpu/4x1"]
    assert found.value.value == pytest.approx(BANDWIDTH)
    assert "of the link" not in found.answer  # one node does not tell


def test_two_processes_of_one_machine_are_called_so_and_have_no_link() -> None:
    section = answer("collectives", sums("cpu/0+cpu/1", 2))
    (found,) = section.findings
    assert "between two halves of the CPU" in found.question
    assert [one.name for one in section.plots] == ["bandwidth-cpu/0+cpu/1"]


def test_without_a_group_the_reason_is_the_answer() -> None:
    section = answer("collectives", [])
    assert section.findings[0].absent


@pytest.mark.parametrize(
    ("seconds", "sentence"),
    [
        ((2.0, 1.0, 2.0), "The link of node 2 is slow: "),
        ((1.0, 2.0, 1.0), "One link is slow: 2.0"),
        ((1.0, 1.0, 1.0), "No link is slower than the others by a quarter"),
        ((1.0, 1.1, 1.2), "No link is slower than the others by a quarter"),
    ],
    ids=["a node", "a link", "none", "hardly"],
)
def test_a_slow_link_is_named(seconds: Sequence[float], sentence: str) -> None:
    found = by_name(across([exchange("cpu/3x1", seconds)], [None] * 3))["slowest-cpu/3x1"]
    assert plain(found).startswith(sentence)
    if "slow:" in sentence:
        assert found.value.value == pytest.approx(2.0)
    if sentence.startswith("One"):
        assert "; 8.4 MB/s [" in plain(found)
        assert "from node 0 to node 1" in found.answer


def test_links_within_a_node_are_not_the_networks() -> None:
    seconds = (2.0, 9.0, 1.0, 9.0)  # ranks 1 and 3 get their numbers from their own nodes
    found = by_name(across([exchange("cuda/2x2", seconds)], [None] * 2))["slowest-cuda/2x2"]
    assert "from node 1 to node 0" in found.answer
    assert found.value.value == pytest.approx(2.0)


def test_scaling_is_the_bus_bandwidth_that_more_nodes_keep() -> None:
    cases = [*sums("cpu/2x1", 2), *sums("cpu/8x1", 8, BANDWIDTH / 2)]
    found = by_name(across(cases, [None] * 8))["scaling-all-reduce"]
    assert "of 2 nodes with 8, 16 MiB" in found.answer
    assert 0.49 < found.value.value < 0.52  # the latency is a small part of 16 MiB


def steps(device: str, width: int, tokens: int = 1024, **seconds: float) -> list[Case]:
    """Build steps of training, by way; ``strong`` is that of DDP whose ranks share the tokens."""
    return [
        case(
            "bench_step",
            took,
            device,
            work=Work(items=1),
            width=width,
            tokens=0 if way == "exchange" else tokens,
            way="ddp" if way == "strong" else way,
            scaling="strong" if way == "strong" else "weak",
        )
        for way, took in seconds.items()
    ]


def test_a_step_scales_as_it_takes_longer_than_one_that_exchanges_nothing() -> None:
    cases = steps("cpu/4x1", 256, alone=1.0, ddp=1.25, fsdp=2.0, strong=0.5)
    found = by_name(across(cases, [None] * 4))
    for name, part in (("ddp-weak", 0.8), ("fsdp-weak", 0.5), ("ddp-strong", 0.5)):
        value = found[f"scaling-{name}-cpu/4x1"].value
        assert value.value == pytest.approx(part)
    assert "a layer of 786,944 parameters" in found["scaling-ddp-weak-cpu/4x1"].answer
    assert "scaling-fsdp-strong-cpu/4x1" not in found


@pytest.mark.parametrize(
    ("many", "sentence", "part"),
    [
        (2.0, "From 4,096 tokens a process on, ", 1.0),
        (2.1, "With 4,096 tokens a process, the most measured, ", 0.9),
    ],
)
def test_communication_hides_from_the_tokens_whose_step_is_no_longer_for_it(
    many: float, sentence: str, part: float
) -> None:
    narrow = steps("cpu/2x1", 256, alone=1.0, ddp=1.0, exchange=0.5)
    few = steps("cpu/2x1", 512, alone=1.0, ddp=1.5, exchange=1.0)
    more = steps("cpu/2x1", 512, 4096, alone=2.0, ddp=many)
    wider = steps("cpu/2x1", 1024, alone=1.0, ddp=1.0, exchange=0.5)
    found = by_name(across([*narrow, *few, *more, *wider], [None] * 2))["hidden-cpu/2x1"]
    assert plain(found).startswith(sentence)
    assert found.value.value == pytest.approx(part)


def batches(device: str, width: int, times: dict[int, tuple[float, float]]) -> list[Case]:
    """Build batches by micro-batches: the seconds of one process, and of a pipeline."""
    return [
        case(
            "bench_pipeline",
            took,
            device,
            work=Work(items=1),
            width=width,
            micro=micro,
            way=way,
        )
        for micro, both in times.items()
        for way, took in zip(("alone", "pipeline"), both, strict=True)
    ]


def test_a_pipeline_has_the_speedup_of_its_best_number_of_micro_batches_below_the_limit() -> None:
    narrow = batches("cpu/2x1", 256, {4: (1.0, 0.1)})
    wide = batches("cpu/2x1", 1024, {1: (1.0, 1.25), 4: (1.0, 0.8), 16: (1.0, 0.625)})
    section = across([*narrow, *wide], [None] * 2)
    found = by_name(section)["pipeline-cpu/2x1"]
    assert found.value.value == pytest.approx(1.6)
    assert "with 16 micro-batches; filling and emptying would leave 1.88" in plain(found)
    (limit,) = plot(section, "pipeline-cpu/2x1").lines
    assert [point.y.value for point in limit.points] == pytest.approx([1.0, 1.6, 32 / 17])


def test_groups_of_nodes_are_named_by_what_each_has() -> None:
    run = factory.run(accelerators=1)
    assert device_title(run, "cpu/4x1") == the_device(run, "cpu/4x1") == "4 nodes"
    assert the_device(run, "cuda/4x8") == f"4 nodes with 8{RATIO} NVIDIA H200"
