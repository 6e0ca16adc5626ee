# SPDX-License-Identifier: MIT
"""Prices are dated, sourced, and never guessed."""

import re
from collections.abc import Sequence
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


def cost(known: Sequence[prices.Price], *devices: Accelerator, per: str = "") -> float | None:
    """Return what devices cost, or what an hour of them does."""
    found = prices.total(known, bought(*devices), per)
    return found and found.price


def test_the_shipped_table_is_well_formed_and_knows_devices_of_the_catalog() -> None:
    sizes: dict[str, set[float]] = {one.torch_name: set() for one in catalog.read()}
    for figure in catalog.read():
        if figure.quantity == "memory_bytes":
            sizes[figure.torch_name].add(figure.value)
    shipped = prices.read()
    assert len(shipped) > 50
    for one in shipped:
        assert one.currency in CURRENCIES
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
        ("NVIDIA GeForce RTX 5060 Ti", 15.5, 429.0, None),
        ("NVIDIA GeForce RTX 5060 Ti", 7.6, 379.0, None),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", None, None, None),
        ("NVIDIA GeForce RTX 3080", 12, None, None),  # another version than the one with a price
        ("NVIDIA GeForce RTX 3080", None, None, None),  # which one is not known
        ("NVIDIA A10", None, None, 1.29),
    ],
)
def test_a_device_is_found_by_name_and_memory(
    name: str, gib: float | None, price: float | None, hour: float | None
) -> None:
    one = card(name, None if gib is None else int(gib * 2**30))
    assert (cost(prices.read(), one), cost(prices.read(), one, per=prices.HOUR)) == (price, hour)


def test_an_hour_of_a_device_is_no_price_to_buy_it(tmp_path: Path) -> None:
    head = HEAD.replace("source\n", "source,per\n")
    lines = [f"{GOOD.strip()},\n", "^NVIDIA H200$,,4.5,EUR,2026-05-06,rent,a host,hour\n"]
    path = tmp_path / "both.csv"
    path.write_text(head + "".join(lines), encoding="utf-8")
    pair, known = (card("NVIDIA H200"), card("NVIDIA H200", index=1)), prices.read(path)
    assert (cost(known, *pair), cost(known, *pair, per=prices.HOUR)) == (60000, 9)
    path.write_text(head + GOOD.strip() + ",day\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"both.csv:2: per 'day': .*hour"):
        prices.read(path)


def test_a_machine_costs_what_its_devices_do(tmp_path: Path) -> None:
    known = prices.read(table(tmp_path, GOOD, "EPYC,,900,EUR,2026-01-02,offer,a shop\n"))
    found = prices.total(known, bought(card("NVIDIA H200"), card("NVIDIA H200", index=1)))
    assert found is not None
    assert found[2:7] == (60000.0, "EUR", "2026-01-02", "offer", "a shop")
    assert cost(known) == 900
    # Beside another model the first counts, whose cases are compared.
    assert cost(known, card("NVIDIA H200"), card("NVIDIA B200", index=1)) == 30000


def test_the_newest_price_counts_and_no_choice_is_made_within_a_day(tmp_path: Path) -> None:
    later = GOOD.replace("30000", "25000").replace("2026-01-02", "2026-03-04")
    assert cost(prices.read(table(tmp_path, GOOD, later)), card("NVIDIA H200")) == 25000
    twice = prices.read(table(tmp_path, GOOD, GOOD.replace("30000", "31000")))
    assert cost(twice, card("NVIDIA H200")) is None


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
