# SPDX-License-Identifier: MIT
"""Tables as CSV and Parquet: the same bytes on every Python, and no cell that is a formula."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

from frobench.reports.summary.model import Summary
from frobench.reports.table.launches import CaseEstimate
from frobench.suite.printable import FORMULA, SIGNED_NUMBER
from frobench.suite.stored.types import Run

RUNS = (
    *("run", "machine", "title", "device", "count", "datetime", "profile", "complete"),
    *("launches", "cases", "failed", "skipped", "commit", "href", "sha256"),
)
"""Columns of the table of runs, as `reports.summary.model.Summary` explains them."""
ESTIMATES = pa.schema(
    {
        **dict.fromkeys(("run", "machine"), pa.string()),
        **dict.fromkeys(("exercise", "case", "function", "params", "device"), pa.string()),
        "status": pa.string(),
        "headline": pa.bool_(),
        **dict.fromkeys(("seconds", "low", "high", "log_seconds"), pa.float64()),
        "launches": pa.int64(),
        **dict.fromkeys(("flops", "bytes", "flop_rate", "byte_rate"), pa.float64()),
        "version": pa.string(),
    }
)
"""Columns of the table of estimates, as `reports.summary.model.Summary` and
`reports.table.launches.CaseEstimate` explain them; the parameters are one JSON object, sorted
by name.
"""


def table_of(frame: pd.DataFrame) -> pa.Table:
    """Return a frame as a table without pandas' own remarks, which differ between versions.

    A column in which cases have values of several kinds holds their texts.
    """
    return pa.table({str(name): _column(values) for name, values in frame.items()})


def _column(values: "pd.Series[Any]") -> pa.Array:
    try:
        column = pa.Array.from_pandas(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        texts = [None if pd.isna(value) else str(value) for value in values]
        return pa.array(texts, pa.string())
    # How pandas holds texts depends on its version.
    return column.cast(pa.string()) if pa.types.is_large_string(column.type) else column


def runs(summaries: Sequence[Summary]) -> pa.Table:
    """Return the table of runs: a row a run."""
    return pa.table({name: list(map(attrgetter(name), summaries)) for name in RUNS})


def rows(run: Run, estimated: Sequence[CaseEstimate]) -> bytes:
    """Return a run's part of the table of estimates, a row a case, as an Arrow stream."""
    names = {"run": run.frobench.run, "machine": run.frobench.environment.machine}
    columns: dict[str, list[Any]] = {name: [text] * len(estimated) for name, text in names.items()}
    columns |= {
        name: list(map(attrgetter(name), estimated)) for name in ESTIMATES.names[len(names) :]
    }
    columns["params"] = [msgspec.json.encode(one, order="sorted") for one in columns["params"]]
    table = pa.table(columns, schema=ESTIMATES)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, ESTIMATES) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def joined(parts: Iterable[bytes]) -> pa.Table:
    """Return the table of estimates of many runs, which takes little memory of its own."""
    tables = (pa.ipc.open_stream(part).read_all() for part in parts)
    return pa.concat_tables([ESTIMATES.empty_table(), *tables])


def both(name: str, table: pa.Table) -> dict[str, bytes]:
    """Return a table in both formats, as files of this name."""
    return {f"{name}.csv": as_csv(table), f"{name}.parquet": as_parquet(table)}


def as_csv(table: pa.Table) -> bytes:
    """Return a table as CSV in UTF-8; what a spreadsheet would take for a formula begins with '."""
    names = _harmless(pa.array(table.column_names, pa.string())).to_pylist()
    columns = [
        _harmless(column) if pa.types.is_string(column.type) else column for column in table.columns
    ]
    sink = pa.BufferOutputStream()
    csv.write_csv(pa.table(columns, names=names), sink)
    return bytes(sink.getvalue())


def _harmless(texts: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    begins = pc.match_substring_regex(texts, FORMULA)
    if not pc.any(begins).as_py():  # as mostly
        return texts
    formulas = pc.and_not(begins, pc.match_substring_regex(texts, SIGNED_NUMBER))
    return pc.if_else(formulas, pc.binary_join_element_wise("'", texts, ""), texts)


def as_parquet(table: pa.Table) -> bytes:
    """Return a table as Parquet."""
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd", store_schema=False)
    return bytes(sink.getvalue())
