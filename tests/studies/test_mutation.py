# SPDX-License-Identifier: MIT
"""The sampled mutation study: what it catches, what it counts, and what the documents say of it."""

import json
from pathlib import Path

import msgspec
import pytest

from studies.mutation.document import Study, Tried, interval, lower, scored, scores
from tests.instruments.processes.command import ROOT, python
from tests.instruments.processes.project_files import planted

FILES = {
    **dict.fromkeys(("frobench/__init__.py", "suite/__init__.py"), ""),
    "suite/small.py": """
def larger(first, second):
    return first if first > second else second

def never_called(number):
    return number + 1
""",
    "tests/test_small.py": """
import subprocess, sys
import pytest
from frobench.suite.small import larger

def test_larger_in_another_process():
    code = "from frobench.suite.small import larger; assert larger(1, 2) == 2"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0

@pytest.mark.golden
def test_the_text():
    assert "-" not in open("suite/small.py").read()

def test_broken():
    assert larger(2, 2) == 3
""",
    "pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['golden']",
}
CHANGES = [
    ("suite/small.py", 3, ">", "<"),
    ("suite/small.py", 3, ">", ">="),
    ("suite/small.py", 6, "+", "-"),
]
TRY = """
import json, sys
from pathlib import Path
import msgspec
from studies.mutation.recording import Recorded, choose, record
from studies.mutation.trying import Copy, Mutant, adopt_orphans, attempt

adopt_orphans()
checkout, kept = Path.cwd() / "checkout", Path("recorded.json")
copy = Copy(checkout, Path.cwd() / "none")
record(copy, "tests/test_small.py", kept)
records = {"tests/test_small.py": msgspec.json.decode(kept.read_bytes(), type=Recorded)}
for path, line, old, new in json.loads(sys.argv[1]):
    source = (checkout / path).read_text()
    mutant = Mutant("", path, line, source.replace(old, new), "")
    chosen = choose(checkout, records, mutant)
    found = attempt(copy, mutant, chosen) if chosen else "not run"
    print(json.dumps([[test.name for test in chosen], found]))
    assert (checkout / path).read_text() == source
"""


def study() -> Study:
    return msgspec.json.decode((ROOT / "docs" / "mutation.json").read_bytes(), type=Study)


def test_contributing_says_what_is_stored_of_400_mutants_or_more_60_of_each_folder() -> None:
    written, found = (ROOT / "CONTRIBUTING.md").read_text("utf-8"), scores(study().mutants)
    assert scored(written, study()) == written
    tried = {name: number for name, (_, number) in found.items()}
    assert len(tried) in {0, 6}
    assert all(number >= (400 if name == "all" else 60) for name, number in tried.items())


def test_no_score_fell() -> None:
    assert lower(scores(study().mutants), study().earlier) == []


def test_a_score_fell_where_its_wilson_interval_lies_below_the_earlier_one() -> None:
    mutants = [Tried("suite", "", 0, "", "caught")] * 33 + [Tried("suite", "", 0, "", "missed")] * 7
    assert scores(mutants) == {"suite": (33, 40), "all": (33, 40)}
    assert interval((33, 40)) == pytest.approx((0.6805, 0.9125), abs=1e-4)  # by hand
    assert lower({"suite": (20, 40)}, {"suite": (33, 40)}) == ["suite"]  # 0.352 to 0.648
    assert lower({"suite": (22, 40)}, {"suite": (33, 40)}) == []  # 0.398 to 0.693


def test_a_mutant_is_caught_in_any_process_or_missed_or_not_run(tmp_path: Path) -> None:
    planted(tmp_path / "checkout", FILES)
    (tmp_path / "checkout" / "frobench" / "suite").symlink_to("../suite")
    variables = {"PYTHONPATH": str(ROOT)}
    done = python("-c", TRY, json.dumps(CHANGES), folder=tmp_path, variables=variables)
    assert done.returncode == 0, done.stderr
    process = "tests/test_small.py::test_larger_in_another_process"
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        [[process], ["caught", process]],
        [[process], ["missed", ""]],
        [[], "not run"],
    ]
