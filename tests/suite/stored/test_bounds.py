# SPDX-License-Identifier: MIT
"""No number of values and no text of a stored file makes its reader hang or grow."""

import json
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import msgspec
import pytest

from frobench.suite import checks
from frobench.suite.stored import store
from frobench.suite.stored.types import LONGEST_NAME, LONGEST_TEXT, Run
from tests.instruments.faults.judging import made, put

Plain = dict[str, Any]
FIRST = "benchmarks.0"
SECONDS = 15
"""Of processor time; three times what a file may take, as tests share a processor."""


EXCESSIVE: dict[str, tuple[str, object, str]] = {
    "values": ("unknown", [1] * store.MOST_VALUES, "more than 1,000,000 values"),
    "lists": ("unknown", [[]] * store.MOST_VALUES, "more than 1,000,000 values"),
    "a depth that none can read": ("unknown", "DEEP", ""),
    "a long text": (
        f"{FIRST}.group",
        "x" * (LONGEST_TEXT + 1),
        "Expected `str` of length <= 20000 - at `$.benchmarks[0].group`",
    ),
    "a long name": (
        f"{FIRST}.params.{'x' * (LONGEST_NAME + 1)}",
        1,
        "Expected `str` of length <= 2000",
    ),
    "many calls in a sample": (f"{FIRST}.extra_info.iterations", [10**400], "$"),
    "much work": (f"{FIRST}.extra_info.work", {"bytes": 1e308}, "[0].extra_info.work.bytes"),
    "much energy": (
        f"{FIRST}.extra_info.energy",
        {"joules": [1e308], "seconds": [1.0]},
        "$.benchmarks[0].extra_info.energy.joules[0]",
    ),
}
"""What a file holds too much of: its place, the value and the message."""


@pytest.mark.parametrize("name", EXCESSIVE)
def test_a_file_that_holds_too_much_is_refused_with_the_place(name: str, tmp_path: Path) -> None:
    place, value, message = EXCESSIVE[name]
    plain = msgspec.to_builtins(made())
    put(plain, place, value)
    path = tmp_path / "run.json"
    text = json.dumps(plain).replace('"DEEP"', "[" * 50_000 + "]" * 50_000)
    path.write_text(text, encoding="utf-8")
    begun = process_time()
    (found,) = checks.review(path)
    assert process_time() - begun < SECONDS
    assert found.code == "unreadable"
    assert message in found.message


def strings(schema: Any) -> Iterator[Plain]:  # noqa: ANN401 - any part of a JSON Schema
    """Yield what a JSON Schema says of each text that may be any."""
    if isinstance(schema, dict):
        if schema.get("type") == "string" or (
            isinstance(schema.get("type"), list) and "string" in schema["type"]
        ):
            yield schema
        for inner in schema.values():
            yield from strings(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from strings(inner)


def test_every_text_of_the_schema_has_a_bound() -> None:
    schema = msgspec.json.schema(Run)
    texts = [*strings(schema)]
    assert len(texts) > 50
    assert [one for one in texts if "maxLength" not in one and "enum" not in one] == []
