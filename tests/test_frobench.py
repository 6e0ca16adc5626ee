# SPDX-License-Identifier: MIT
"""The command: every verb does what its help says, and a wrong use gets one clear line."""

import json
import shlex
from pathlib import Path

import pytest

from suite import store
from tests import factory
from tests.command import ROOT, TRICKY, frobench

VERBS = ("run", "list", "validate", "compare", "report")


@pytest.fixture
def results(tmp_path: Path) -> list[Path]:
    """Store two runs of one machine, the second slower."""
    runs = [factory.run(seed=1), factory.run(seed=2, slower=1.2)]
    for number, run in enumerate(runs):
        run.frobench.run = f"{run.frobench.run}-{number}"
    return [store.write(run, tmp_path / "results") for run in runs]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(tmp_path: Path, verb: str) -> None:
    shown = frobench(verb, "--help", folder=tmp_path)
    assert shown.returncode == 0
    assert shown.stdout.startswith(f"Usage: frobench {verb}")


def test_every_verb_is_documented_and_no_other() -> None:
    documented = {
        shlex.split(line.split("`")[1])[1]
        for line in (ROOT / "README.md").read_text().splitlines()
        if line.startswith("| `frobench ")
    }
    assert documented == set(VERBS)


def test_list_names_every_case_and_its_question(tmp_path: Path) -> None:
    shown = frobench("list", "--benchmarks", TRICKY, "--devices", "cpu", folder=tmp_path)
    assert shown.returncode == 0
    assert "Does a run survive what goes wrong?" in shown.stdout
    assert "bench_fine[cpu-16]" in shown.stdout
    assert "Multiply two small matrices." in shown.stdout


def test_list_is_there_for_programs_too(tmp_path: Path) -> None:
    arguments = ("list", "--benchmarks", TRICKY, "--devices", "cpu", "-k", "fine", "--json")
    found = json.loads(frobench(*arguments, folder=tmp_path).stdout)
    assert [case["params"] for case in found["cases"]] == [
        {"device": "cpu", "n": 8},
        {"device": "cpu", "n": 16},
    ]


def test_validate_accepts_a_good_file_and_names_the_place_of_a_fault(
    tmp_path: Path, results: list[Path]
) -> None:
    good, bad = results
    bad.write_text(bad.read_text().replace('"rounds":', '"round":', 1))
    shown = frobench("validate", good.parent, folder=tmp_path)
    assert shown.returncode == 1
    lines = shown.stdout.splitlines()
    assert f"results/{good.parent.name}/{good.name}: valid" in lines
    [fault] = [line for line in lines if bad.name in line]
    assert "unreadable: $.benchmarks[0].stats.rounds: the required field is missing" in fault


def test_compare_names_what_is_slower_counts_the_overlap_and_exits_4(
    tmp_path: Path, results: list[Path]
) -> None:
    shown = frobench("compare", *results, folder=tmp_path)
    assert shown.returncode == 4
    assert "slower" in shown.stdout
    assert "intervals overlap in 0 of" in shown.stdout
    same = frobench("compare", results[0], results[0], folder=tmp_path)
    assert same.returncode == 0
    assert "(100%)" in same.stdout


def test_report_writes_the_pages_and_names_them(tmp_path: Path, results: list[Path]) -> None:
    shown = frobench("report", folder=tmp_path)
    assert shown.returncode == 0
    pages = [tmp_path / line for line in shown.stdout.splitlines()]
    assert pages[0] == tmp_path / "site" / "index.html"
    assert len(pages) == 1 + len(results)
    assert all(page.is_file() for page in pages)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("report",), 2, "no stored run"),
        (("validate",), 2, "no stored run in results/"),
        (("validate", "nowhere.json"), 2, "does not exist"),
        (("compare", "text.json", "text.json"), 1, "not JSON"),
        (("report", "text.json"), 1, "not JSON"),
        (("list", "-k", "nothing_like_it"), 2, "no case matches"),
        (("measure",), 2, "No such command"),
    ],
)
def test_a_wrong_use_gets_one_clear_line(
    tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    (tmp_path / "text.json").write_text("Dear reader,")
    shown = frobench(*arguments, folder=tmp_path)
    assert shown.returncode == code
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr
