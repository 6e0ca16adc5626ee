# SPDX-License-Identifier: MIT
"""A badge says what a machine reaches, wherever it is shown, and nothing that is not so."""

import xml.etree.ElementTree as ET  # our own file, just written

import pytest

from reports import badges
from reports.summary import Answer
from suite.model import Estimate
from tests.test_charts import contrast

SVG = "{http://www.w3.org/2000/svg}"
KNOWN = Estimate(value=4.37e11, low=4.25e11, high=4.41e11, confidence=0.95, launches=7)


def answer(value: Estimate | None, marks: tuple[str, ...] = ()) -> Answer:
    return Answer("matmul", "Matmul", "It is fast.", "best rate", value, "FLOP/s", marks)


def drawn(machine: str, *answers: Answer, complete: bool = True) -> ET.Element:
    badge = badges.of_run(machine, answers, "1 May 2026", complete=complete)
    return ET.fromstring(badge)  # noqa: S314 - as above


def texts(badge: ET.Element) -> list[str]:
    return [one.text or "" for one in badge.iter(f"{SVG}text")]


def test_it_names_the_machine_and_its_first_number_with_the_interval() -> None:
    badge = drawn("A GPU", answer(None), answer(KNOWN))
    assert texts(badge) == ["A GPU", "437 GFLOP/s [425, 441]"]
    told = "A GPU: 437 GFLOP/s [425, 441], best rate. Measured with Frobench, 1 May 2026."
    assert badge.findtext(f"{SVG}title") == badge.get("aria-label") == told
    assert badge.get("role") == "img"


def test_doubt_stands_beside_the_number() -> None:
    badge = drawn("A GPU", answer(KNOWN, ("noisy",)), complete=False)
    assert texts(badge)[1] == "437 GFLOP/s [425, 441], noisy, partial"


def test_a_machine_without_a_number_gets_none() -> None:
    assert texts(drawn("A GPU", answer(None)))[1] == "no figure"
    assert texts(drawn("A GPU"))[1] == "no figure"


@pytest.mark.parametrize("name", ["<script>alert(1)</script>\"'&\x00\u202e", "W" * 5000])
def test_hostile_and_long_names_are_text_that_fits(name: str) -> None:
    badge = drawn(name, answer(KNOWN))
    assert {one.tag for one in badge.iter()} == {
        f"{SVG}{tag}" for tag in ("svg", "title", "rect", "path", "g", "text")
    }
    assert not {"style", "href", "onload"} & {key for one in badge.iter() for key in one.attrib}
    assert len(texts(badge)[0]) <= badges.LONGEST
    written = [*badge.iter(f"{SVG}text")]
    ends = [int(one.get("x", "")) + int(one.get("textLength", "")) for one in written]
    assert ends[0] < int(written[1].get("x", ""))
    assert ends[1] < int(badge.get("width", ""))


@pytest.mark.parametrize("behind", [badges.LEFT, badges.RIGHT])
def test_it_can_be_read(behind: str) -> None:
    assert contrast(badges.TEXT, behind) >= 4.5
