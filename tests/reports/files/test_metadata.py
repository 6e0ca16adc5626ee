# SPDX-License-Identifier: MIT
"""Programs find out what a site holds, under which licence, and that it arrived whole."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from frobench.command import main
from frobench.reports.files.metadata import Publication
from frobench.reports.purchase import purchase
from frobench.reports.site import build
from frobench.suite.stored import store
from tests.instruments.runs import factory
from tests.reports.run.test_page import Reader

ADDRESS = "https://example.org/gpus/"


class Built(NamedTuple):
    """A site whose address is known, and one of the same runs whose is not, with all pages."""

    public: Path
    private: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("sites")
    runs = [
        factory.run(seed=1, profile="quick"),
        factory.run(seed=2, profile="quick", partial=True, accelerators=1),
    ]
    stored = [store.write(run, folder / "results") for run in runs]
    out = folder / "public"
    beside = purchase.Maker(stored, None, [])
    build.build(stored, out)  # what was made for no address is not taken for one with an address
    build.build(stored, out, beside=[beside], publication=Publication(ADDRESS, "CC0-1.0"))
    build.build(stored, folder / "private", beside=[beside])
    return Built(out, folder / "private")


def pages(out: Path) -> list[Path]:
    return sorted(out.glob("*/*.html"))


def every_page(out: Path) -> list[Path]:
    """Return the pages of runs, the index, and the page of machines side by side."""
    return [*pages(out), out / "index.html", out / "purchase.html"]


def told(page: Path) -> dict[str, Any]:
    """Return what a page tells programs of its data."""
    text = page.read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text)
    found: dict[str, Any] = json.loads(data)
    return found


def properties(page: Path) -> dict[str, str]:
    """Return the meta elements of a page."""
    tags = Reader(page.read_text(encoding="utf-8")).tags
    metas = [attributes for tag, attributes in tags if tag == "meta" and "content" in attributes]
    return {one.get("property", one.get("name", "")): one["content"] for one in metas}


def test_a_page_tells_programs_what_lies_beside_it(built: Built) -> None:
    for page in every_page(built.private):
        found = told(page)
        assert (found["@context"], found["@type"]) == ("https://schema.org/", "Dataset")
        assert found["license"] == "https://spdx.org/licenses/CC-BY-4.0"
        assert "under CC-BY-4.0." in Reader(page.read_text(encoding="utf-8")).text
        assert 50 <= len(found["description"]) <= 5000
        assert not {"og:url", "og:image"} & properties(page).keys()
        assert len(found["distribution"]) >= (0 if page.stem == "purchase" else 4)
        for one in found["distribution"]:
            content = (page.parent / one["contentUrl"]).read_bytes()
            assert one["sha256"] == hashlib.sha256(content).hexdigest()


def test_an_address_makes_absolute_what_must_be(built: Built) -> None:
    for page in every_page(built.public):
        about, found = properties(page), told(page)
        assert about["og:title"]
        assert about["og:description"]
        pictured = page.name != "index.html"
        assert about["twitter:card"] == ("summary_large_image" if pictured else "summary")
        lies = page.relative_to(built.public).as_posix()
        assert about["og:url"] == found["url"] == ADDRESS + lies.removesuffix("index.html")
        if pictured:
            assert about["og:image"].startswith(ADDRESS)
            assert (built.public / about["og:image"].removeprefix(ADDRESS)).is_file()
        for one in found["distribution"]:
            assert (built.public / one["contentUrl"].removeprefix(ADDRESS)).is_file()


@pytest.mark.parametrize(
    "option",
    [
        "--address=example.org",
        "--address=javascript:alert(1)",
        "--address=https://example.org/?page=",
        "--licence=CC0 1.0",
    ],
)
def test_an_address_or_a_licence_that_is_none_is_refused(option: str) -> None:
    result = CliRunner().invoke(main, ["report", option])
    assert result.exit_code == 2
    assert "such as" in result.output
