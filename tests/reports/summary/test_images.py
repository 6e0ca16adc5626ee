# SPDX-License-Identifier: MIT
"""A picture stands for a page, whatever its machine is called."""

import io
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from PIL import Image

from frobench.reports.findings.finding import Finding
from frobench.reports.summary import card
from frobench.reports.summary.card import EDGE, WIDTH, Row
from frobench.reports.web.theme import LIGHT
from frobench.suite.stored.types import Estimate
from tests.reports.summary.test_badges import KNOWN


def answer(value: Estimate | None, case: str = "steady") -> Any:  # noqa: ANN401 - of a section
    lead = Finding("rate", "?", "It is fast.", value, "FLOP/s", "best rate", cases=(case,))
    return SimpleNamespace(title="Matmul", findings=(lead,))


def pixels(content: bytes) -> Any:  # noqa: ANN401 - an array
    """Return the colours of a picture, row by row."""
    with Image.open(io.BytesIO(content)) as image:
        assert (image.format, image.size) == ("PNG", (1200, 630))  # as the pages declare
        return np.asarray(image.convert("RGB")).astype(int) @ (1 << 16, 1 << 8, 1)


@pytest.mark.parametrize(
    ("name", "lines"), [("W" * 5000, 10), ("\u202e<script>\x00" * 40, 10), ("", 1)]
)
def test_texts_have_lines_of_their_own_and_are_cut_at_the_edge(name: str, lines: int) -> None:
    image = pixels(card.card(name, [Row(name, name)] * 9, name))
    paper = image[-1, -1]
    for begin, count in ((EDGE, lines), (WIDTH - EDGE - 60, lines if name else 0)):
        ink = (image[14:] != paper)[:, begin:].any(axis=1)
        assert np.count_nonzero(np.diff(ink.astype(int)) == 1) == count + 1  # and a rule
    assert (image[20:, -EDGE + 8 :] == paper).all()
    assert (image[-20:] == paper).all()


def test_bars_begin_at_the_edge_and_have_their_shares_of_the_room() -> None:
    image = pixels(card.card("A", [Row("A", "", 1.0), Row("B", "", 0.25)], "C"))
    bars = image == int(LIGHT["c1"].removeprefix("#"), 16)
    ends = {(int(row.argmax()), int(row.sum())) for row in bars if row.any()}
    assert ends == {(EDGE, WIDTH - 2 * EDGE), (EDGE, (WIDTH - 2 * EDGE) // 4)}


def test_its_numbers_carry_intervals_and_doubts_and_what_has_none_or_a_wide_one_is_out() -> None:
    wide = replace(KNOWN, low=2e11, high=8e11)
    given = [answer(None), answer(wide), answer(KNOWN, "doubtful"), *[answer(KNOWN)] * 9]
    found = card.rows(given, {"doubtful": ("noisy",)})
    assert found[0] == Row("437 GFLOP/s [425, 441]", "Matmul: best rate, noisy")
    assert len(found) == card.ROWS
