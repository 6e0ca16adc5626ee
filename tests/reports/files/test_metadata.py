# SPDX-License-Identifier: MIT
"""Programs find out what a site holds, under which licence, and that it arrived whole."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from frobench.reports.files.metadata import Publication
from frobench.reports.purchase import purchase
from frobench.reports.site import build
from frobench.suite.stored import store
from tests.instruments.runs import factory
from tests.reports.pages import block, parsed, text_of

ADDRESS = "https://example.org/gpus/"
TABLES = ("", ".axes", ".cases", ".figures", ".findings", ".models", ".samples")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a site whose address is known, and one of the same runs."""
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
    return folder


def told(out: Path) -> Iterator[tuple[Path, dict[str, str], dict[str, Any]]]:
    """Yield the pages of a site, their meta elements, and what they tell programs of their data."""
    for path in [*out.glob("*/*.html"), out / "index.html", out / "purchase.html"]:
        page = parsed(path)
        metas = {
            str(one.get("property", one.get("name", ""))): str(one["content"])
            for one in page.select("meta[content]")
        }
        yield path, metas, block(page, "[type='application/ld+json']")


def test_a_page_tells_programs_what_lies_beside_it(built: Path) -> None:
    for page, metas, found in told(built / "private"):
        assert (found["@context"], found["@type"]) == ("https://schema.org/", "Dataset")
        assert found["license"] == "https://spdx.org/licenses/CC-BY-4.0"
        assert "under CC-BY-4.0." in text_of(page)
        assert 50 <= len(found["description"]) <= 5000
        assert not {"og:url", "og:image"} & metas.keys()
        of_all = {"index": ["estimates", "runs"], "purchase": []}
        tables = of_all.get(page.stem, [f"{page.stem}{table}" for table in TABLES])
        names = {f"{table}.{suffix}" for table in tables for suffix in ("csv", "parquet")}
        own = set() if page.stem in of_all else {f"{page.stem}.json"}
        assert {one["name"] for one in found["distribution"]} == names | own
        day = page.stem[:8] if own else "20260103"
        assert found["datePublished"].replace("-", "") == day
        for one in found["distribution"]:
            content = (page.parent / one["contentUrl"]).read_bytes()
            assert one["sha256"] == hashlib.sha256(content).hexdigest()


def test_an_address_makes_absolute_what_must_be(built: Path) -> None:
    out = built / "public"
    for page, about, found in told(out):
        assert about["og:title"]
        assert about["og:description"]
        pictured = page.name != "index.html"
        assert about["twitter:card"] == ("summary_large_image" if pictured else "summary")
        lies = page.relative_to(out).as_posix()
        assert about["og:url"] == found["url"] == ADDRESS + lies.removesuffix("index.html")
        cited = f"year = {{2026}}, note = {{Measured with Frobench}}, url = {{{found['url']}}}, }}"
        assert cited in text_of(page)
        files = [one["contentUrl"] for one in found["distribution"]]
        for address in [*files, *([about["og:image"]] if pictured else [])]:
            assert address.startswith(ADDRESS)
            assert (out / address.removeprefix(ADDRESS)).is_file()
