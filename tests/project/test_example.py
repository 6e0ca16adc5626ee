# SPDX-License-Identifier: MIT
"""The pages that a newcomer looks at are those that the code writes, and so are their pictures."""

import json
from pathlib import Path

import pytest

from tests.project import example


@pytest.mark.golden
def test_the_example_pages_are_what_their_stored_run_gives(tmp_path: Path) -> None:
    kept, site = example.pages(example.FOLDER), example.build(example.run_shown(), tmp_path)
    advice = "`python -m tests.project.example` writes them anew, `nox -s screenshots` all"
    assert kept.keys() == site.keys(), advice
    assert all(kept[name] == content for name, content in site.items()), advice


@pytest.mark.golden
def test_the_pictures_show_the_example_pages() -> None:
    pictured = json.loads(example.PICTURED.read_text(encoding="utf-8"))
    advice = "`nox -s screenshots` takes the pictures anew"
    assert pictured == example.digests(example.pages(example.FOLDER)), advice
