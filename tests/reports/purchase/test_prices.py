# SPDX-License-Identifier: MIT
"""Prices are dated, sourced, and never guessed."""

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from frobench.reports.purchase import prices
from frobench.reports.table.equipment import Equipment
from frobench.suite.datasheets import catalog
from tests.instruments.runs.factory_machine import environment

HEAD = "torch_name,memory_bytes,price,currency,date,kind,source\n"
GOOD = "^NVIDIA H200$,,30000,EUR,2026-01-02,offer,a shop\n"


def read(folder: Path, *lines: str) -> tuple[prices.Price, ...]:
    """Read a table of these lines, below the usual head."""
    path = folder / "mine.csv"
    path.write_text("".join([HEAD, *lines]), encoding="utf-8")
    return (*prices.read(path),)


def total(
    known: Sequence[prices.Price], *devices: str | tuple[str, float | None], per: str = ""
) -> prices.Price | None:
    """Return what devices cost, or what an hour of them does, by their names and memories, GiB."""
    told = environment(None, len(devices))
    for one, device in zip(told.accelerators, devices, strict=True):
        one.name, gib = (device, None) if isinstance(device, str) else device
        one.memory_bytes = None if gib is None else int(gib * 2**30)
    return prices.total(known, Equipment(told, [one.place for one in told.accelerators]), per)


def cost(*given: Any, per: str = "") -> float | None:  # noqa: ANN401 - what `total` takes
    found = total(*given, per=per)
    return found and found.price


def test_the_shipped_table_is_well_formed_and_knows_devices_of_the_catalog() -> None:
    sizes: dict[str, set[float]] = {one.torch_name: set() for one in catalog.read()}
    for figure in catalog.read():
        if figure.quantity == "memory_bytes":
            sizes[figure.torch_name].add(figure.value)
    shipped = prices.read()
    assert len(shipped) > 50
    for one in shipped:
        assert one.currency in {"USD", "EUR", "GBP", "JPY", "CNY"}
        assert date(2010, 1, 1) < date.fromisoformat(one.date) < date(2030, 1, 1)
        # Of a name with several sizes of memory a price is that of a size.
        assert len(sizes[one.torch_name]) < 2 or one.memory_bytes in sizes[one.torch_name]
        assert one.kind.startswith("rent, " if one.per else "MSRP at launch")
        assert 0.01 < one.price < 50 if one.per else 50 < one.price < 1e5
        if one.per:  # as the source says it
            assert re.search(rf'"[^"]*\b{one.price:.2f}\b[^"]*"', one.source)
            assert one.date in one.source
    keys = [(one.torch_name, one.memory_bytes, one.per) for one in shipped]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("name", "gib", "price", "hour"),
    [
        ("NVIDIA GeForce RTX 4090", None, 1599.0, 0.39),
        ("NVIDIA GeForce RTX 5060 Ti", 14.1, 429.0, None),
        ("NVIDIA GeForce RTX 5060 Ti", 8.15, 379.0, None),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", None, None, None),
        ("NVIDIA GeForce RTX 3080", 12, None, None),  # another version than the one with a price
        ("NVIDIA GeForce RTX 3080", None, None, None),  # which one is not known
        ("NVIDIA A10", None, None, 1.29),
    ],
)
def test_a_device_is_found_by_name_and_memory(
    name: str, gib: float | None, price: float | None, hour: float | None
) -> None:
    one, known = (name, gib), prices.read()
    assert (cost(known, one), cost(known, one, per=prices.HOUR)) == (price, hour)


def test_an_hour_of_a_device_is_no_price_to_buy_it(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    head, bought = HEAD.replace("source\n", "source,per\n"), GOOD.strip()
    rented = "^NVIDIA H200$,,4.5,EUR,2026-05-06,rent,a host,hour\n"
    path.write_text(f"{head}{bought},\n{rented}", encoding="utf-8")
    pair, known = ("NVIDIA H200", "NVIDIA H200"), prices.read(path)
    assert (cost(known, *pair), cost(known, *pair, per=prices.HOUR)) == (60000, 9)
    path.write_text(f"{head}{bought},day\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"both.csv:2: per 'day': .*hour"):
        prices.read(path)


def test_a_machine_costs_what_its_devices_do(tmp_path: Path) -> None:
    known = read(tmp_path, GOOD, "EPYC,,900,EUR,2026-01-02,offer,a shop\n")
    found = total(known, "NVIDIA H200", "NVIDIA H200")
    assert found is not None
    assert found[2:7] == (60000.0, "EUR", "2026-01-02", "offer", "a shop")
    assert cost(known) == 900
    # Beside another model the first counts, whose cases are compared.
    assert cost(known, "NVIDIA H200", "NVIDIA B200") == 30000


def test_versions_of_a_device_are_added_up_where_prices_are_of_a_kind(tmp_path: Path) -> None:
    versions = ("Twin", 8), ("Twin", 16)
    small, large = f"Twin,{8 * 2**30},300,EUR,", f"Twin,{16 * 2**30},500,EUR,"
    same, later = "2026-01-02,offer,a shop\n", "2026-02-03,offer,a shop\n"
    assert cost(read(tmp_path, small + same, large + same), *versions) == 800
    assert cost(read(tmp_path, small + same, large + later), *versions) is None
    dollars = large.replace("EUR", "USD")
    assert cost(read(tmp_path, small + same, dollars + same), *versions) is None
    assert cost(read(tmp_path, small + same), *versions) is None


def test_the_newest_price_counts_and_no_choice_is_made_within_a_day(tmp_path: Path) -> None:
    later = GOOD.replace("30000", "25000").replace("2026-01-02", "2026-03-04")
    assert cost(read(tmp_path, GOOD, later), "NVIDIA H200") == 25000
    twice = read(tmp_path, GOOD, GOOD.replace("30000", "31000"))
    assert cost(twice, "NVIDIA H200") is None


WRONG = {
    "torch_name": ("", "("),
    "memory_bytes": ("80 GB", "0"),
    "price": ("", "-1", "0", "nan", "1e13", "1e-300", "cheap"),
    "currency": ("€", "eur"),
    "date": ("02.01.2026", "2026-13-02"),
    "kind": (" ",),
    "source": ("",),
}
"""By columns, what is no cell of theirs."""


@pytest.mark.parametrize("column", WRONG)
def test_an_error_is_named_by_line_and_column(tmp_path: Path, column: str) -> None:
    good = dict(zip(prices.Price._fields[:-1], GOOD.strip().split(","), strict=True))
    for wrong in WRONG[column]:
        told = re.escape(f"mine.csv:3: {column} {wrong.strip()!r}: ")
        with pytest.raises(ValueError, match=told):
            read(tmp_path, GOOD, ",".join((good | {column: wrong}).values()))


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"device,price\nH200,1\n", "the columns are not torch_name, "),
        (b"", "the columns are not torch_name, "),
        ((HEAD + GOOD.replace("a shop", "a shop, in town")).encode(), "8 columns, not 7"),
        (b"\x7fELF\xd0", "no table of text: "),
    ],
)
def test_a_table_of_other_columns_is_refused(tmp_path: Path, content: bytes, error: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"mine\.csv:(2:)? {error}"):
        prices.read(path)
