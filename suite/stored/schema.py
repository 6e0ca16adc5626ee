# SPDX-License-Identifier: MIT
"""The JSON Schema of the stored file: ``python -m frobench.suite.stored.schema``."""

import inspect
from pathlib import Path

import msgspec

from frobench.suite.stored.types import Run

SCHEMA_PATH = Path(__file__).with_name("schema.json")


def schema_text() -> str:
    """Return the JSON Schema (draft 2020-12) of a stored run, as it is committed."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A stored run of Frobench",
        **msgspec.json.schema(Run),
    }
    for definition in schema["$defs"].values():  # Python 3.13 is the first to clean them itself
        definition["description"] = inspect.cleandoc(definition["description"])
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"


if __name__ == "__main__":
    SCHEMA_PATH.write_text(schema_text(), encoding="utf-8")
