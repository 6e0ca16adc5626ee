# SPDX-License-Identifier: MIT
"""Prices are dated, sourced, and never guessed."""

import re
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.reports.purchase import prices
from frobench.reports.table.equipment import Equipment
from frobench.suite.datasheets import catalog
from frobench.suite.stored.types import Accelerator
from tests.instruments.processes.command import ROOT
from tests.instruments.runs.factory_machine import environment

HEAD = "torch_name,memory_bytes,price,currency,date,kind,source\n"
GOOD = "^NVIDIA H200$,,30000,EUR,2026-01-02,offer,a shop\n"
CURRENCIES = {"USD", "EUR", "GBP", "JPY", "CNY"}
"""Of ISO 4217, what manufacturers print."""


def table(folder: Path, *lines: str) -> Path:
    path = folder / "mine.csv"
    path.write_text(HEAD + "".join(lines), encoding="utf-8")
    return path


def bought(*devices: Accelerator) -> Equipment:
    return Equipment(
        replace(environment(None, 0), accelerators=list(devices)),
        [f"cuda:{index}" for index in range(len(devices))],
    )


def card(name: str, memory_bytes: int | None = None, index: int = 0) -> Accelerator:
    [one] = environment(None, 1).accelerators
    return replace(one, name=name, memory_bytes=memory_bytes, index=index)


def test_the_shipped_table_is_well_formed_and_knows_devices_of_the_catalog() -> None:
    patterns = {one.torch_name for one in catalog.read()}
    shipped = prices.read()
    assert len(shipped) > 50
    for one in shipped:
        assert one.currency in CURRENCIES
        assert date(2010, 1, 1) < date.fromisoformat(one.date) < date(2030, 1, 1)
        assert one.torch_name in patterns
        if one.per:
            assert one.kind.startswith("rent, ")
            assert 0.01 < one.price < 50
            assert re.search(
                rf'"[^"]*\b{one.price:.2f}\b[^"]*"', one.source
            )  # as the source says it
            assert one.date in one.source
        else:
            assert one.kind.startswith("MSRP at launch")
            assert 50 < one.price < 1e5
    keys = [(one.torch_name, one.memory_bytes, one.per) for one in shipped]
    assert len(set(keys)) == len(keys)


def test_no_shipped_price_is_for_two_versions_of_a_device() -> None:
    """A name with several sizes of memory has a price for a size, or none."""
    sizes: dict[str, set[float]] = {}
    for figure in catalog.read():
        if figure.quantity == "memory_bytes":
            sizes.setdefault(figure.torch_name, set()).add(figure.value)
    for one in prices.read():
        known = sizes.get(one.torch_name, set())
        assert len(known) < 2 or one.memory_bytes in known


def test_a_device_is_found_by_name_and_memory() -> None:
    known = prices.read()
    gib = 2**30
    for name, memory, price in (
        ("NVIDIA GeForce RTX 4090", None, 1599.0),
        ("NVIDIA GeForce RTX 5060 Ti", int(15.5 * gib), 429.0),
        ("NVIDIA GeForce RTX 5060 Ti", int(7.6 * gib), 379.0),
    ):
        found = prices.total(known, bought(card(name, memory)))
        assert found is not None
        assert (found.price, found.currency) == (price, "USD")
    for name, memory in (
        ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
        ("NVIDIA GeForce RTX 3080", 12 * gib),  # another version than the one with a price
        ("NVIDIA GeForce RTX 3080", None),  # who knows which
        ("NVIDIA H200", None),
    ):
        assert prices.total(known, bought(card(name, memory))) is None


def test_an_hour_of_a_device_is_no_price_to_buy_it(tmp_path: Path) -> None:
    head = HEAD.replace("source\n", "source,per\n")
    lines = [f"{GOOD.strip()},\n", "^NVIDIA H200$,,4.5,EUR,2026-05-06,rent,a host,hour\n"]
    path = tmp_path / "both.csv"
    path.write_text(head + "".join(lines), encoding="utf-8")
    pair = bought(card("NVIDIA H200"), card("NVIDIA H200", index=1))
    known = prices.read(path)
    price, rent = prices.total(known, pair), prices.total(known, pair, prices.HOUR)
    assert price is not None
    assert rent is not None
    assert (price.price, price.date) == (60000, "2026-01-02")
    assert (rent.price, rent.date) == (9, "2026-05-06")
    path.write_text(head + GOOD.strip() + ",day\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"both.csv:2: per 'day': .*hour"):
        prices.read(path)


def test_data_centre_cards_have_an_hour_and_no_price_to_buy() -> None:
    known = prices.read()
    for name, hour in (("NVIDIA A10", 1.29), ("NVIDIA A100-SXM4-40GB", 1.99)):
        one = bought(card(name))
        rent = prices.total(known, one, prices.HOUR)
        assert prices.total(known, one) is None
        assert rent is not None
        assert (rent.price, rent.currency) == (hour, "USD")


def test_a_machine_costs_what_its_devices_do(tmp_path: Path) -> None:
    known = prices.read(table(tmp_path, GOOD, "EPYC,,900,EUR,2026-01-02,offer,a shop\n"))
    pair = bought(card("NVIDIA H200"), card("NVIDIA H200", index=1))
    found = prices.total(known, pair)
    assert found is not None
    assert found[2:7] == (60000.0, "EUR", "2026-01-02", "offer", "a shop")
    processor = prices.total(known, bought())
    assert processor is not None
    assert processor.price == 900
    mixed = prices.total(known, bought(card("NVIDIA H200"), card("NVIDIA B200", index=1)))
    assert mixed is not None
    assert mixed.price == 30000  # ratios are those of the first model


def test_versions_of_a_device_are_added_up_only_where_all_prices_are_of_a_kind(
    tmp_path: Path,
) -> None:
    versions = bought(card("Twin", 8 * 2**30), card("Twin", 16 * 2**30, index=1))
    small, large = f"Twin,{8 * 2**30},300,EUR,", f"Twin,{16 * 2**30},500,EUR,"
    same, later = "2026-01-02,offer,a shop\n", "2026-02-03,offer,a shop\n"
    both = prices.total(prices.read(table(tmp_path, small + same, large + same)), versions)
    assert both is not None
    assert both.price == 800
    assert prices.total(prices.read(table(tmp_path, small + same, large + later)), versions) is None
    assert prices.total(prices.read(table(tmp_path, small + same)), versions) is None


def test_the_newest_price_counts_and_no_choice_is_made_within_a_day(tmp_path: Path) -> None:
    later = GOOD.replace("30000", "25000").replace("2026-01-02", "2026-03-04")
    known = prices.read(table(tmp_path, GOOD, later))
    found = prices.total(known, bought(card("NVIDIA H200")))
    assert found is not None
    assert found.price == 25000
    twice = prices.read(table(tmp_path, GOOD, GOOD.replace("30000", "31000")))
    assert prices.total(twice, bought(card("NVIDIA H200"))) is None


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
        path = table(tmp_path, GOOD, ",".join((good | {column: wrong}).values()))
        told = re.escape(f"mine.csv:3: {column} {wrong.strip()!r}: ")
        with pytest.raises(ValueError, match=told):
            prices.read(path)


def test_a_table_of_other_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("device,price\nH200,1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"mine\.csv: the columns are not torch_name, "):
        prices.read(path)
    with pytest.raises(ValueError, match=r"mine\.csv:2: 8 columns, not 7"):
        prices.read(table(tmp_path, GOOD.replace("a shop", "a shop, in town")))


@pytest.mark.parametrize("content", [b"\x7fELF\xd0", b"x" * 200_000], ids=["binary", "no-table"])
def test_what_is_no_table_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"mine\.csv: no table of text: "):
        prices.read(path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"mine\.csv: the columns are not torch_name, "):
        prices.read(path)


def test_the_example_of_the_documents_is_read(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "prices.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```csv\n(.*?)```", text, re.DOTALL)
    path = tmp_path / "example.csv"
    path.write_text(example, encoding="utf-8")
    assert [(one.currency, one.per) for one in prices.read(path)] == [
        ("EUR", ""),
        ("EUR", "hour"),
        ("EUR", ""),
    ]
