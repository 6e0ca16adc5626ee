# SPDX-License-Identifier: MIT
"""Published figures: each has its source, belongs to a device, and is possible on it."""

import re
from collections import Counter
from pathlib import Path

import pytest

from frobench.suite.datasheets import catalog, published
from tests.instruments.faults import published_figures

ROWS = published.read()
KINDS = {
    "matmul": "matmul",
    "copy_to_device_pinned": "copy_h2d",
    "copy_to_host_pinned": "copy_d2h",
    "copy_within": "device_memory_bandwidth",
    "read_within": "device_memory_bandwidth",
}
"""Quantities, with what the runs that judge them call them."""


def test_each_figure_is_of_a_known_kind_and_says_where_it_is_found() -> None:
    for row in ROWS:
        assert row.quantity in KINDS
        assert (row.precision in catalog.PRECISIONS) == (row.quantity == "matmul")
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


def test_figures_are_held_to_the_ceilings_that_results_are_held_to() -> None:
    """None is an error or a doubt in a run of its device whose driver tells what drivers tell."""
    doubtful, of_listed = [], 0
    for row in ROWS:
        device = row.device.partition(" (")[0]
        asked = published_figures.Published(
            device, KINDS[row.quantity], row.precision or "float32", "", row.value
        )
        of_listed += bool(published_figures.figures_of(device))
        if codes := published_figures.codes(published_figures.attempt(asked)):
            doubtful.append((row, codes))
    assert doubtful == []
    assert of_listed > 350


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


def test_devices_that_were_measured_are_left_out_by_the_names_that_torch_gives_them() -> None:
    every = published.others([])
    left = published.others(["NVIDIA GeForce RTX 4090", "Another", "Tesla T4"])
    assert every.keys() - left.keys() == {"NVIDIA GeForce RTX 4090", "NVIDIA Tesla T4"}
    assert sum(map(len, every.values())) == len(ROWS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("device,value\n", "the columns are not device, torch_name"),
        (",".join(published.Published._fields) + "\na,b,c,d,fast,f,g,h,i\n", "table.csv:2"),
        (",".join(published.Published._fields) + "\na,b,c,d,1,f\n", "table.csv:2"),
    ],
)
def test_a_damaged_table_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        published.read(path)
