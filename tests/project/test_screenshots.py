# SPDX-License-Identifier: MIT
"""The documents show pictures that are there, of all three kinds of page, and not heavy ones."""

import re

from tests.instruments.processes.command import ROOT

PICTURE = re.compile(r"""(?:\]\(|src(?:set)?=["'])([\w./-]+\.png)""")


def test_every_picture_that_a_document_shows_is_there() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for picture in PICTURE.findall(document.read_text(encoding="utf-8")):
            assert (document.parent / picture).is_file(), f"{document.name}: {picture}"


def test_each_kind_of_page_is_shown_in_both_themes() -> None:
    pictures = {one.name: one.stat().st_size for one in ROOT.glob("docs/screenshots/*")}
    pages = ("run", "purchase", "index")
    assert pictures.keys() == {
        f"{page}-{theme}.png" for page in pages for theme in ("light", "dark")
    }
    assert max(pictures.values()) < 300_000
