# SPDX-License-Identifier: MIT
"""The committed JSON Schema describes the files that are written."""

import json
from typing import Any

import pytest

from frobench.suite.stored import store
from frobench.suite.stored.schema import SCHEMA_PATH, schema_text
from tests.instruments.runs import factory

SCHEMA: dict[str, Any] = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
TYPES: dict[str, type | tuple[type, ...]] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "null": type(None),
    "number": (int, float),
    "object": dict,
    "string": str,
}


def fits(value: Any, schema: dict[str, Any]) -> bool:  # noqa: ANN401 - JSON
    """Tell whether JSON fits a schema made of the few keywords that ours has."""
    if "$ref" in schema:
        return fits(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return any(fits(value, option) for option in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    kind = schema["type"]
    if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return False
    if isinstance(value, list):
        return all(fits(item, schema["items"]) for item in value)
    return not isinstance(value, dict) or object_fits(value, schema)


def object_fits(value: dict[str, Any], schema: dict[str, Any]) -> bool:
    """Tell whether an object has what it must and nothing that is unknown."""
    if "properties" in schema:
        known = schema["properties"]
        return set(schema["required"]) <= value.keys() <= known.keys() and all(
            fits(item, known[key]) for key, item in value.items()
        )
    items = schema.get("additionalProperties")
    return items is None or all(fits(item, items) for item in value.values())


@pytest.fixture
def content() -> Any:  # noqa: ANN401 - JSON
    return json.loads(store.encode(factory.run(accelerators=1, partial=True, profile="quick")))


@pytest.mark.golden
def test_the_committed_schema_is_that_of_the_types() -> None:
    committed = SCHEMA_PATH.read_text(encoding="utf-8")
    assert committed == schema_text(), "`python -m frobench.suite.stored.schema` writes it anew"


def test_a_stored_run_fits_the_schema(content: Any) -> None:  # noqa: ANN401 - JSON
    assert fits(content, SCHEMA)


def test_the_schema_describes_every_struct_of_the_file() -> None:
    assert {"Run", "Case", "CaseInfo", "Frobench", "Environment"} <= SCHEMA["$defs"].keys()
    for definition in SCHEMA["$defs"].values():
        assert definition["description"]
