# SPDX-License-Identifier: MIT
"""Pages that can be published as they are: whole, honest, strict, and equal for equal input."""

import hashlib
import re
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.reports.findings import findings
from frobench.reports.making.cache import slug
from frobench.reports.purchase import script
from frobench.reports.site.build import build as publish
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion, Run
from tests.browser.hostile import hostile_runs
from tests.instruments.faults.judging import add_up, samples, set_samples
from tests.instruments.runs import factory


class Reader(HTMLParser):
    """Collect what a test wants to know of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self._hidden = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag and its attributes."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._hidden += tag == "style"

    def handle_endtag(self, tag: str) -> None:
        """Note that a style sheet ends."""
        self._hidden -= tag == "style"

    def handle_data(self, data: str) -> None:
        """Note words that a reader sees."""
        if not self._hidden:
            self.words.append(data)

    @property
    def text(self) -> str:
        """All words that a reader sees, on one line."""
        return " ".join(" ".join(self.words).split())

    def attributes(self, name: str) -> list[str]:
        """Return the values of an attribute, in order."""
        return [attributes[name] for _, attributes in self.tags if name in attributes]

    @property
    def programs(self) -> int:
        """How many scripts are run, and not data."""
        return sum(tag == "script" and "type" not in attrs for tag, attrs in self.tags)

    def count(self, tag: str) -> int:
        """Return how often a tag occurs."""
        return sum(one == tag for one, _ in self.tags)


def build(tmp_path: Path, *runs: Run) -> list[Path]:
    stored = [store.write(run, tmp_path / "results") for run in runs]
    return publish(stored, tmp_path / "site")


def read(tmp_path: Path, run: Run) -> tuple[str, Reader]:
    text = build(tmp_path, run)[1].read_text(encoding="utf-8")
    return text, Reader(text)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    runs = [factory.run(seed=1), factory.run(seed=2, accelerators=2, partial=True)]
    return build(tmp_path_factory.mktemp("pages"), *runs)


def scripts(one: Path) -> int:
    """Return how many scripts a page runs."""
    return len(script.INDEX) if one.name == "index.html" else 0


def test_the_policy_allows_the_one_style_sheet_by_its_hash(site: list[Path]) -> None:
    for one in site:
        text = one.read_text(encoding="utf-8")
        reader = Reader(text)
        (policy,) = [a["content"] for t, a in reader.tags if t == "meta" and "http-equiv" in a]
        for kind, count in (("style", 1), ("script", scripts(one))):
            found = re.findall(rf"<{kind}>(.*?)</{kind}>", text, flags=re.DOTALL)
            digests = (b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in found)
            assert len(found) == count
            sources = " ".join(f"'sha256-{digest}'" for digest in digests)
            assert f"; {kind}-src {sources};" in policy if found else f"{kind}-src" not in policy
        assert policy.startswith("default-src 'none'; ")
        assert reader.attributes("style") == []
        links = [href for href in reader.attributes("href") if not href.startswith("data:")]
        assert not any(re.match(r"\w+:|//", link) for link in links)
        assert reader.attributes("src") == reader.attributes("srcset") == []
        assert not re.search(r"@import|url\((?!#)", text)
        assert reader.count("link") == 1  # the icon, which is in the page


def test_all_that_was_not_measured_is_one_section_with_its_reasons(tmp_path: Path) -> None:
    run = factory.run()
    _, reader = read(tmp_path, run)
    assert reader.attributes("id").count("absent") == 1
    words = r"No accelerator: (\d+) questions\. Other reasons: (\d+) questions\."
    (counts,) = re.findall(words, reader.text)
    absent = [one for answers in findings(run).values() for one in answers if one.absent]
    assert sum(map(int, counts)) == len(absent)
    assert "the kernel offers no frequency control" in reader.text


def test_noise_and_failure_stand_beside_the_number(tmp_path: Path) -> None:
    run = factory.run()
    noisy, failed = run.benchmarks[0], run.benchmarks[1]
    slowly = [1.0, 1.0, 1.4, 1.4, 1.0, 1.4, 1.0, 1.4]
    by_launch = zip(samples(noisy), slowly, strict=True)
    set_samples(noisy, [[s * factor for s in launch] for launch, factor in by_launch])
    add_up(run)
    run.frobench.outcomes[:] = [
        replace(one, status="failed", reason="off by 3") if one.fullname == failed.fullname else one
        for one in run.frobench.outcomes
    ]
    found = {"code": "governor", "message": "The governor is powersave.", "advice": "Set it."}
    harmless = Conclusion(code="no-accelerator", severity="info", message="Nothing.", advice="")
    run.frobench.troubles = [Conclusion(severity="warning", **found), harmless]
    text, reader = read(tmp_path, run)
    rows = [
        (found[1], Reader(found[0]).text)
        for found in re.finditer(r'<tr id="case-(\d+)".*?</tr>', text, re.DOTALL)
    ]
    for place, word in (("1", "noisy"), ("2", "failed")):
        assert {at for at, row in rows if f" {word} " in row} == {place}
    assert "off by 3" in reader.text
    assert "launches differ by " in reader.text
    first = reader.text[: reader.text.index("Question")]
    assert re.search(r"cases? failed, 1 of \d+ cases noisy", first)
    doubts = reader.text.partition("Cases and reasons")[2]
    assert "The governor is powersave." in doubts
    assert "Nothing." not in doubts


def test_a_partial_run_says_so(tmp_path: Path) -> None:
    _, reader = read(tmp_path, factory.run(partial=True))
    assert "This run is partial." in reader.text
    begun = re.search(r"begun 8 launches of (\d+) cases, and measured ([\d,]+) of", reader.text)
    assert begun
    assert int(begun[2].replace(",", "")) == 7 * int(begun[1]) + (int(begun[1]) + 1) // 2
    assert "partial" in Reader((tmp_path / "site" / "index.html").read_text(encoding="utf-8")).text


def test_few_launches_show_no_interval(tmp_path: Path) -> None:
    _, reader = read(tmp_path, factory.run(launches=3))
    assert "(no interval: 3 launches)" in reader.text
    assert not re.search(r"\d \[\d", reader.text)


def test_hostile_strings_are_shown_and_do_nothing(tmp_path: Path) -> None:
    for name, run in hostile_runs(factory.run()).items():
        stored, out = tmp_path / f"{name}.json", tmp_path / "deep" / name
        stored.write_bytes(store.encode(run))
        for one in publish([stored], out):
            assert out in one.resolve().parents
            reader = Reader(one.read_text(encoding="utf-8"))
            assert reader.programs == scripts(one)
            assert ("{{7*7}}" in reader.text) == (name == "told")
            assert not {"\x00", "\u202e"} & set(reader.text)


def test_names_are_safe_in_paths_and_stay_apart() -> None:
    assert slug("nvidia-h200") == "nvidia-h200"
    names = ["../up", "..%2Fup", "up", "", ".", "..", "a/b", "a\\b", "x" * 300, "é"]
    slugs = [slug(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,120}", one) for one in slugs)
