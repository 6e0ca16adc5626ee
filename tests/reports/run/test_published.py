# SPDX-License-Identifier: MIT
"""Published figures: each has its source, belongs to a device, and is possible on it."""

import re
from collections import Counter
from pathlib import Path

import pytest

from frobench.reports.run import published
from frobench.suite.datasheets import catalog

ROWS = published.read()
KINDS = {
    "matmul",
    "copy_between",
    "copy_to_device_pageable",
    "copy_to_device_pinned",
    "copy_to_host_pageable",
    "copy_to_host_pinned",
    "copy_within",
}


def test_each_figure_is_of_a_known_kind_and_says_where_it_is_found() -> None:
    for row in ROWS:
        assert row.quantity in KINDS
        assert (row.precision in catalog.PRECISIONS) == (row.quantity == "matmul")
        assert row.unit == ("FLOP/s" if row.quantity == "matmul" else "B/s")
        assert row.value > 0
        assert row.method
        assert re.fullmatch(r"https://[\w.-]+\.\w+/[^\s\"'<>]+", row.address), row
        assert re.fullmatch(r"(\d{4}(-\d\d){0,2})?", row.as_of)


def test_no_figure_is_there_twice() -> None:
    assert [row for row, count in Counter(ROWS).items() if count > 1] == []


def test_a_device_has_one_pattern_which_names_it_whole() -> None:
    patterns: dict[str, set[str]] = {}
    for row in ROWS:
        patterns.setdefault(row.device, set()).add(row.torch_name)
        assert row.torch_name.startswith("^")
        assert row.torch_name.endswith("$")
    assert [device for device, found in patterns.items() if len(found) > 1] == []


def test_no_product_is_faster_than_its_device_can_be() -> None:
    """Cards run above the clock of their datasheet; a fifth covers that, and no wrong unit."""
    peaks = {
        (one.torch_name, one.quantity.removeprefix("peak_")): one.value
        for one in catalog.read()
        if one.quantity.startswith("peak_")
    }
    known = [row for row in ROWS if (row.torch_name, row.precision) in peaks]
    assert len(known) > 50
    above = [row for row in known if row.value > 1.2 * peaks[row.torch_name, row.precision]]
    assert above == []


def test_a_device_is_found_by_the_name_that_torch_gives_it() -> None:
    found = published.of("NVIDIA GeForce RTX 4090", "matmul", "bfloat16")
    assert len(found) > 1
    assert [row.value for row in found] == sorted(row.value for row in found)
    assert {row.precision for row in found} == {"bfloat16"}
    assert published.of("NVIDIA GeForce RTX 4090 D", "matmul", "bfloat16") != found
    assert published.of("NVIDIA Tesla T4", "matmul", "float16")
    assert published.of("Tesla T4", "matmul", "float16")
    assert published.of("Another", "matmul", "bfloat16") == []
    assert published.of("NVIDIA GeForce RTX 4090", "launch") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("device,value\n", "the columns are not device, torch_name"),
        (",".join(published.Published._fields) + "\na,b,c,d,fast,f,g,h,i,j\n", "table.csv:2"),
        (",".join(published.Published._fields) + "\na,b,c,d,1,f\n", "table.csv:2"),
    ],
)
def test_a_damaged_table_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        published.read(path)
