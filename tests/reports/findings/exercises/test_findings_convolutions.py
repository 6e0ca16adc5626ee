# SPDX-License-Identifier: MIT
"""What is said of convolutions, on runs whose rates are known."""

from typing import Any

import pytest

from frobench.reports.findings import Section
from frobench.suite.stored.types import Case, Work
from tests.instruments.runs.exact_runs import answer, by_name, case, left_out, plain, plot
from tests.reports.findings.exercises.test_findings_transformer import GPU, PEAK, ceilings

IMAGES, SECONDS = 256, 1e-2


def block(function: str, layout: str, seconds: float = SECONDS) -> Case:
    work = Work(flops=0.4 * PEAK * SECONDS, bytes=1e9, items=IMAGES)
    shape: dict[str, Any] = {"images": IMAGES, "channels": 256, "layout": layout}
    return case(f"bench_{function}", seconds, GPU, work=work, dtype="bfloat16", **shape)


def said(*cases: Case, **more: Any) -> Section:  # noqa: ANN401 - as `answer` takes it
    section: Section = answer("convolutions", cases, accelerators=1, beside=ceilings(), **more)
    return section


BLOCKS = [
    block("step", "channels_last"),
    block("step", "contiguous", 1.5 * SECONDS),
    block("forward", "channels_last", SECONDS / 3),
    block("forward", "contiguous", SECONDS / 3),
]


def test_the_faster_layout_answers_with_its_share_of_the_peak() -> None:
    section = said(*BLOCKS)
    lead = section.findings[0]
    assert lead.name == f"step-{GPU}"
    assert lead.value is not None
    assert lead.value.value == pytest.approx(IMAGES / SECONDS, rel=0.06)
    words = plain(lead)
    assert "images/s [" in words
    assert "per block in training (channels last, 256 channels, bfloat16); 40" in words
    assert "of the fastest bfloat16 product" in words
    forward = by_name(section)[f"forward-{GPU}"].value
    assert forward is not None
    assert forward.value == pytest.approx(3 * IMAGES / SECONDS, rel=0.06)


def test_layouts_are_compared_in_training() -> None:
    layout = by_name(said(*BLOCKS))[f"layout-{GPU}"]
    assert layout.value is not None
    assert layout.value.value == pytest.approx(1.5)
    assert "as fast with channels last, in training." in plain(layout)
    assert layout.rule_of_thumb == "Keep images with channels last."


def test_what_is_missing_says_why() -> None:
    reason = "no convolution in bfloat16 here: none"
    missing = [
        left_out("bench_forward", "skipped", reason, device=GPU),
        left_out("bench_step", "skipped", reason, device=GPU, layout="contiguous"),
    ]
    found = by_name(said(block("step", "channels_last"), outcomes=missing))
    assert found[f"forward-{GPU}"].answer == f"Not measured: {reason}."
    assert found[f"layout-{GPU}"].answer == f"Not measured: {reason}."


def test_images_are_drawn_by_work_and_layout() -> None:
    labels = {one.label: [p.x for p in one.points] for one in plot(said(*BLOCKS), "images").series}
    both = ["training", "the forward pass"]
    assert labels == {"NVIDIA H200, channels last": both, "NVIDIA H200, contiguous": both}
