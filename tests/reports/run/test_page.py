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
from frobench.suite.stored.types import Case, Exercise, Outcome, Run
from tests.instruments.faults.judging import add_up, samples, set_samples
from tests.instruments.runs import factory

HOSTILE = "<script>alert('x')</script>\"'{{7*7}}\x00\u202e"


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


def test_there_is_an_index_and_a_page_a_run_with_its_data_beside_it(site: list[Path]) -> None:
    index, newest, oldest = site
    assert index.name == "index.html"
    for one in (newest, oldest):
        assert one.parent.parent == index.parent
        assert one.with_suffix(".csv").is_file()
        assert store.read(one.with_suffix(".json")).frobench.run == one.stem


def test_the_stored_file_is_copied_byte_for_byte(tmp_path: Path) -> None:
    run = factory.run()
    source = store.write(run, tmp_path / "results")
    copy = publish([source], tmp_path / "site")[1].with_suffix(".json")
    assert copy.read_bytes() == source.read_bytes()


def scripts(one: Path) -> int:
    """Return how many scripts a page runs."""
    return len(script.INDEX) if one.name == "index.html" else 0


def test_nothing_is_asked_of_any_server(site: list[Path]) -> None:
    for one in site:
        text = one.read_text(encoding="utf-8")
        reader = Reader(text)
        links = [href for href in reader.attributes("href") if not href.startswith("data:")]
        assert not any(re.match(r"\w+:|//", link) for link in links)
        assert reader.attributes("src") == reader.attributes("srcset") == []
        assert reader.count("img") == reader.count("iframe") == 0
        assert reader.programs == scripts(one)
        assert not re.search(r"@import|url\((?!#)", text)
        assert reader.count("link") == 1  # the icon, which is in the page


def test_the_policy_allows_the_one_style_sheet_by_its_hash(site: list[Path]) -> None:
    for one in site:
        text = one.read_text(encoding="utf-8")
        (style,) = re.findall(r"<style>(.*?)</style>", text, flags=re.DOTALL)
        digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
        reader = Reader(text)
        (policy,) = [a["content"] for t, a in reader.tags if t == "meta" and "http-equiv" in a]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert f"'sha256-{digest}'" in policy
        assert reader.attributes("style") == []


def test_the_axes_come_first_then_a_row_for_each_answer(tmp_path: Path) -> None:
    run = factory.run(accelerators=1)
    text, reader = read(tmp_path, run)
    rows = [a["id"] for tag, a in reader.tags if tag == "details" and a.get("class") == "exercise"]
    assert rows == [f"exercise-{slug(name)}" for name in run.frobench.exercises]
    places = [text.index(f'id="{name}"') for name in ("answers", "absent", "doubts", "data")]
    assert text.index('class="axes"') < places[0]
    assert places == sorted(places)
    assert "as fast as" in reader.text or "the speed of the CPU" in reader.text


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
    text, reader = read(tmp_path, run)
    assert " noisy " in row(text, noisy)
    assert " failed " in row(text, failed)
    assert "noisy" not in row(text, run.benchmarks[2])
    assert "off by 3" in reader.text
    assert "launches differ by " in reader.text
    first = reader.text[: reader.text.index("Question")]
    assert re.search(r"1 case failed|cases? failed", first)
    assert re.search(r"1 of \d+ cases noisy", first)


def row(text: str, case: Case) -> str:
    """Return what the list of all cases says of a case."""
    listed = text[text.index('id="answers"') :]
    start = f"CPU, n = {case.params['n']}, dtype = {case.params['dtype']} "
    rows = [
        Reader(one).text for one in re.findall(r'<tr id="case.*?</tr>', listed, flags=re.DOTALL)
    ]
    name = case.name.partition("[")[0]
    (found,) = [one for one in rows if one.startswith(f"{name} ") and start in one]
    return found


def test_a_number_leads_to_its_case_and_the_case_to_its_samples(tmp_path: Path) -> None:
    run = factory.run()
    text, reader = read(tmp_path, run)
    place = next(
        number
        for number, case in enumerate(run.benchmarks, start=1)
        if case.name == "bench_square[cpu-256-float32]"
    )
    (chart,) = re.findall(r'<figure id="exercise-matmul-1">.*?</figure>', text, flags=re.DOTALL)
    line = next(one for one in re.findall("<tr>.*?</tr>", chart, re.DOTALL) if ">256</th>" in one)
    assert f'href="#case-{place}"' in line
    answer = text[text.index('class="answer"') :].partition("</p>")[0]
    assert re.search(r'class="source">cases? <a href="#case-\d+">', answer)
    behind = text[text.index(f'<tr id="case-{place}"') :]
    (sample_row,) = re.findall('<tr class="raw">.*?</tr>', behind, re.DOTALL)[:1]
    samples = run.benchmarks[place - 1].stats.rounds
    assert f"{samples} samples in 8 launches" in sample_row
    assert "Medians of the launches: " in sample_row
    assert run.benchmarks[place - 1].fullname in sample_row
    assert f"{run.frobench.run}.samples.csv" in reader.attributes("href")


def test_a_newcomer_is_told_what_it_comes_to_and_how_to_repeat_it(tmp_path: Path) -> None:
    run = factory.run(accelerators=1)
    _, reader = read(tmp_path, run)
    (description,) = [a["content"] for _, a in reader.tags if a.get("name") == "description"]
    machine, _, summary = description.partition(". ")
    assert machine.startswith("How fast PyTorch computes on NVIDIA H200")
    assert summary
    assert "".join(summary.split()) in "".join(reader.text.split())
    assert f"frobench reproduce {run.frobench.run}.json measures the same" in reader.text
    assert run.frobench.digest in reader.text


def test_hostile_strings_are_shown_and_do_nothing(tmp_path: Path) -> None:
    run = factory.run()
    part = run.frobench
    environment = part.environment
    case = run.benchmarks[0]
    case.extra_info.title = HOSTILE
    part.conclusions[0] = replace(part.conclusions[0], message=HOSTILE, advice=HOSTILE)
    part.outcomes.append(
        Outcome(fullname=HOSTILE, group=HOSTILE, params={}, status="failed", reason=HOSTILE)
    )
    part.exercises[HOSTILE] = Exercise(question=HOSTILE, explanation=HOSTILE)
    software = replace(environment.software, variables={HOSTILE: HOSTILE}, torch=HOSTILE)
    cpu = replace(environment.cpu, model=HOSTILE)
    run = replace(
        run,
        datetime=HOSTILE,
        frobench=replace(
            part,
            run=f"../../{HOSTILE}",
            environment=replace(environment, machine="../../up", cpu=cpu, software=software),
        ),
    )
    case.params["n"] = HOSTILE
    results, out = tmp_path / "run.json", tmp_path / "deep" / "site"
    results.write_bytes(store.encode(run))
    for one in publish([results], out):
        assert out in one.resolve().parents
        reader = Reader(one.read_text(encoding="utf-8"))
        assert reader.programs == scripts(one)
        assert "{{7*7}}" in reader.text
        assert not {"\x00", "\u202e"} & set(reader.text)
