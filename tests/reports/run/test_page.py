# SPDX-License-Identifier: MIT
"""Pages that can be published as they are: whole, honest, strict, and equal for equal input."""

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path

from bs4 import Tag

from frobench.reports.making.cache import slug
from frobench.reports.purchase import script
from frobench.reports.site.build import build as publish
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion, Run
from tests.browser.hostile import hostile_runs
from tests.instruments.faults.judging import add_up, samples, set_samples
from tests.instruments.runs import factory
from tests.reports.pages import attributes, parsed, text_of


def build(tmp_path: Path, *runs: Run) -> list[Path]:
    stored = [store.write(run, tmp_path / "results") for run in runs]
    return publish(stored, tmp_path / "site")


def read(tmp_path: Path, run: Run) -> Tag:
    """Return the page of a run."""
    return parsed(build(tmp_path, run)[1])


def scripts(one: Path) -> int:
    """Return how many scripts a page runs."""
    return len(script.INDEX) if one.name == "index.html" else 0


def sources(elements: Iterable[Tag]) -> str:
    digests = (hashlib.sha256(one.get_text().encode()).digest() for one in elements)
    return " ".join(f"'sha256-{b64encode(digest).decode()}'" for digest in digests)


def test_the_policy_allows_the_one_style_sheet_by_its_hash(tmp_path: Path) -> None:
    runs = factory.run(seed=1), factory.run(seed=2, accelerators=2, partial=True)
    for one in build(tmp_path, *runs):
        page = parsed(one)
        (style,), programs = page.select("style"), page.select("script:not([type])")
        assert len(programs) == scripts(one)
        allowed = f"default-src 'none'; style-src {sources([style])}; "
        allowed += f"script-src {sources(programs)}; " if programs else ""
        (policy,) = attributes(page, "content", "meta[http-equiv]")
        assert policy == f"{allowed}img-src data:; base-uri 'none'; form-action 'none'"
        links = [href for href in attributes(page, "href") if not href.startswith("data:")]
        assert not any(re.match(r"\w+:|//", link) for link in links)
        assert not page.select("[style], [src], [srcset]")
        assert not re.search(r"@import|url\((?!#)", str(page))
        assert len(page.select("link")) == 1  # the icon, which is in the page


def test_noise_and_failure_stand_beside_the_number(tmp_path: Path) -> None:
    run = factory.run()
    noisy, failed = run.benchmarks[0], run.benchmarks[1]
    by_launch = zip(samples(noisy), [1.0, 1.0, 1.4, 1.4, 1.0, 1.4, 1.0, 1.4], strict=True)
    set_samples(noisy, [[s * factor for s in launch] for launch, factor in by_launch])
    add_up(run)
    (outcome,) = (one for one in run.frobench.outcomes if one.fullname == failed.fullname)
    outcome.status, outcome.reason = "failed", "off by 3"
    found = {"code": "governor", "message": "The governor is powersave.", "advice": "Set it."}
    harmless = Conclusion(code="no-accelerator", severity="info", message="Nothing.", advice="")
    run.frobench.troubles = [Conclusion(severity="warning", **found), harmless]
    page = read(tmp_path, run)
    assert text_of(*page.select("#absent")).startswith("Not measured No accelerator: ")
    for row, word in (("case-1", "noisy"), ("case-2", "failed")):
        rows = page.select("tr[id^=case-]")
        assert [one["id"] for one in rows if f" {word} " in text_of(one)] == [row]
    text = text_of(page)
    assert "off by 3" in text
    doubts = text.partition("Cases and reasons")[2]
    assert "The governor is powersave." in doubts
    assert "Nothing." not in doubts


def test_a_partial_run_says_so(tmp_path: Path) -> None:
    text = text_of(read(tmp_path, factory.run(partial=True)))
    assert "This run is partial." in text
    assert "partial" in text_of(tmp_path / "site" / "index.html")


def test_hostile_strings_are_shown_and_do_nothing(tmp_path: Path) -> None:
    for name, run in hostile_runs(factory.run()).items():
        stored, out = tmp_path / f"{name}.json", tmp_path / "deep" / name
        stored.write_bytes(store.encode(run))
        for one in publish([stored], out):
            assert out in one.resolve().parents
            page = parsed(one)
            assert len(page.select("script:not([type])")) == scripts(one)  # others are data
            assert ("{{7*7}}" in str(page)) == (name == "told")
            assert not {"\x00", "\u202e"} & set(str(page))


def test_names_are_safe_in_paths_and_stay_apart() -> None:
    assert slug("nvidia-h200") == "nvidia-h200"
    names = ["../up", "..%2Fup", "up", "", ".", "..", "a/b", "a\\b", "x" * 300, "é"]
    slugs = [slug(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,120}", one) for one in slugs)
