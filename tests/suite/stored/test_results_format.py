# SPDX-License-Identifier: MIT
"""What `docs/results-format.md` tells a reader is so."""

import json
import re
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from frobench.suite import checks
from frobench.suite.stored import store
from tests.instruments.faults.judging import validate_file
from tests.instruments.runs import factory

TEXT = Path(__file__).parents[3].joinpath("docs", "results-format.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def example() -> Any:  # noqa: ANN401 - JSON
    (block,) = blocks("jsonc")
    return json.loads(re.sub(r" // .*", "", block))


def test_the_example_has_every_field(example: Any, tmp_path: Path) -> None:  # noqa: ANN401
    path = tmp_path / "run.json"
    path.write_text(json.dumps(example))
    written = json.loads(store.encode(store.read(path)))
    optional = {"time", "author_time", "project", "branch", "items"}
    assert fields(written) - fields(example) <= optional


def fields(value: Any) -> set[str]:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return set().union(*map(fields, value))
    if isinstance(value, dict):
        return value.keys() | set().union(*map(fields, value.values()))
    return set()


def test_the_python_lines_read_a_stored_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = factory.run(partial=True)
    store.write(run, tmp_path).rename(tmp_path / "run.json")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec("\n".join(blocks("python")), names)  # noqa: S102 - the page's own lines

    first = run.benchmarks[0]
    size = first.extra_info.launches[0]
    medians = [median(first.stats.data[start : start + size]) for start in range(0, size * 8, size)]
    assert len(names["samples"]) == sum(case.stats.rounds for case in run.benchmarks)
    assert names["launches"][first.fullname].to_list() == medians
    assert names["estimates"][first.fullname] == median(medians)
    assert names["rates"][first.fullname] == 2 * 16**3 / median(medians)
    assert set(names["missing"]["status"]) == {"skipped", "failed"}
    assert names["intact"]


def test_the_example_is_a_sound_run(example: Any, tmp_path: Path) -> None:  # noqa: ANN401
    path = tmp_path / "run.json"
    path.write_text(json.dumps(example))
    run = store.read(path)
    assert validate_file(store.write(run, tmp_path)) == run.frobench.conclusions
    assert checks.conclude(run) == run.frobench.conclusions
