# SPDX-License-Identifier: MIT
"""A badge says what a machine reaches, wherever it is shown, and nothing that is not so."""

import xml.etree.ElementTree as ET  # our own file, just written
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.summary import card
from frobench.reports.summary.model import Axis
from frobench.suite.printable import printable
from frobench.suite.stored.types import Estimate

SVG = "{http://www.w3.org/2000/svg}"
KNOWN = Estimate(4.37e11, 4.25e11, 4.41e11, 7)


def rate(device: str = "A GPU", value: Estimate = KNOWN) -> Axis:
    known: dict[str, Any] = {"unit": "FLOP/s", "basis": "in bursts", "precision": "bfloat16"}
    return Axis(name="compute", device=device, value=value, cases=("a case",), **known)


def drawn(axis: Axis | None, doubts: tuple[str, ...] = (), *, complete: bool = True) -> ET.Element:
    marks = {"a case": doubts}
    badge = card.badge_of_run(axis, marks, "A machine", "1 May 2026", complete=complete)
    return ET.fromstring(badge)  # noqa: S314 - as above


def texts(badge: ET.Element) -> list[str]:
    return [one.text or "" for one in badge.iter(f"{SVG}text")]


def test_it_names_the_leading_rate_of_the_device_with_the_interval() -> None:
    badge = drawn(rate())
    assert texts(badge) == ["A GPU", "bfloat16 437 GFLOP/s [425, 441]"]
    told = "A machine: bfloat16 437 GFLOP/s [425, 441] on one A GPU. Measured with Frobench, "
    assert badge.findtext(f"{SVG}title") == badge.get("aria-label") == f"{told}1 May 2026."
    assert badge.get("role") == "img"


def test_of_a_wide_interval_it_names_the_ends() -> None:
    wide = replace(KNOWN, low=2e11)
    assert texts(drawn(rate(value=wide)))[1] == "bfloat16 200 to 440 GFLOP/s, not conclusive"


def test_doubt_stands_beside_the_number() -> None:
    badge = drawn(rate(), ("noisy",), complete=False)
    assert texts(badge)[1] == "bfloat16 437 GFLOP/s [425, 441], noisy, partial"
    assert "on one A GPU (noisy, partial)." in str(badge.get("aria-label"))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("<script>alert(1)</script>\"'&\x00\u202e", None),
        ("W" * 60, "W" * 60),
        ("W" * 61, "W" * 59 + "\N{HORIZONTAL ELLIPSIS}"),
    ],
)
def test_hostile_and_long_names_are_text_in_the_middle(name: str, shown: str | None) -> None:
    badge = drawn(rate(name))
    assert texts(badge)[0] == (shown or printable(name))
    assert {one.tag for one in badge.iter()} == {
        f"{SVG}{tag}" for tag in ("svg", "title", "rect", "path", "g", "text")
    }
    assert not {"style", "href", "onload"} & {key for one in badge.iter() for key in one.attrib}
    (right,) = (one.get("d", "") for one in badge.iter(f"{SVG}path"))
    middle, whole = int(right[1:].partition(" ")[0]), int(badge.get("width", ""))
    parts = zip(badge.iter(f"{SVG}text"), (0, middle), (middle, whole), strict=True)
    for one, begin, end in parts:
        left, length = (int(one.get(key, "")) for key in ("x", "textLength"))
        assert left - begin == end - left - length > 0
