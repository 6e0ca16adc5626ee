# SPDX-License-Identifier: MIT
"""A picture stands for a page, whatever its machine is called."""

import io
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from PIL import Image

from frobench.reports.findings.finding import Finding
from frobench.reports.summary import card
from frobench.reports.summary.card import EDGE, HEIGHT, WIDTH, Row
from frobench.suite.stored.types import Estimate
from tests.reports.summary.test_badges import KNOWN


def answer(value: Estimate | None, case: str = "steady") -> Any:  # noqa: ANN401 - of a section
    lead = Finding("rate", "?", "It is fast.", value, "FLOP/s", "best rate", cases=(case,))
    return SimpleNamespace(title="Matmul", findings=(lead,))


def pixels(content: bytes) -> Image.Image:
    with Image.open(io.BytesIO(content)) as image:
        assert image.format == "PNG"
        return image.convert("L")


@pytest.mark.parametrize(
    "name", ["W" * 5000, "\u202e<script>\x00" * 40, "\N{CJK UNIFIED IDEOGRAPH-4E2D}" * 90, ""]
)
def test_no_text_leaves_the_picture(name: str) -> None:
    image = pixels(card.card(name, [Row(name, name)] * 9, name))
    right = image.crop((WIDTH - EDGE + 8, 20, WIDTH, HEIGHT))
    below = image.crop((0, HEIGHT - 20, WIDTH, HEIGHT))
    for empty in (right, below):
        darkest, lightest = empty.getextrema()
        assert darkest == lightest


def test_its_numbers_carry_intervals_and_doubts_and_what_has_none_or_a_wide_one_is_out() -> None:
    wide = replace(KNOWN, low=2e11, high=8e11)
    given = [answer(None), answer(wide), answer(KNOWN, "doubtful"), *[answer(KNOWN)] * 9]
    found = card.rows(given, {"doubtful": ("noisy",)})
    assert found[0] == Row("437 GFLOP/s [425, 441]", "Matmul: best rate, noisy")
    assert len(found) == card.ROWS
