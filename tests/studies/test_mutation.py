# SPDX-License-Identifier: MIT
"""The sampled mutation test: what it counts, and what the documents say of it."""

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import msgspec
import pytest

from studies.mutation.document import Figures, Result, filled, interval
from studies.mutation.subjects import SUBJECTS, SUBJECTS_BEFORE, Subject
from tests.instruments.processes.command import ROOT

CODE = """
def larger(first, second):
    return first if first > second else second

def never_called(number):
    return number + 1
"""
TEST = """
from suite.small import larger

def test_larger():
    assert larger(1, 2) == 2

def test_nothing():
    pass
"""
TRY = """
import json
from pathlib import Path
from studies.mutation.trying import Mutant, examine, reaching, survives

checkout = Path.cwd() / "checkout"
source = (checkout / "suite/small.py").read_text()
files = ["tests/test_broken.py", "tests/test_small.py"]
tests = examine(checkout, [checkout / "suite/small.py"], files)
came_to = [tests.files]
for line, old, new in [(3, ">", "<"), (3, ">", ">="), (6, "+", "-")]:
    mutant = Mutant("suite/small.py", line, source.replace(old, new), "")
    able = sorted(reaching(checkout, mutant, tests))
    came_to.append([able, survives(checkout, mutant, tests, able) if able else None])
assert (checkout / "suite/small.py").read_text() == source
print(json.dumps(came_to))
"""


def figures() -> Figures:
    return msgspec.json.decode((ROOT / "docs" / "mutation.json").read_bytes(), type=Figures)


def test_contributing_says_what_is_stored() -> None:
    written = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert filled(written, figures()) == written
    assert "mutants: " in written


def test_both_scores_are_of_the_same_parts_and_of_100_mutants_or_more() -> None:
    assert SUBJECTS.keys() == SUBJECTS_BEFORE.keys()
    for score in (figures().before, figures().now):
        if score is not None:
            assert score.results.keys() == SUBJECTS.keys()
            assert sum(result.tried for result in score.results.values()) >= 100
            for result in score.results.values():
                assert result.killed + len(result.survivors) == result.tried


def test_the_score_is_not_conclusively_lower_than_before() -> None:
    before, now = figures().before.results.values(), figures().now
    share = sum(each.killed for each in before) / sum(each.tried for each in before)
    assert now is None or interval(now.results.values())[1] >= share


def test_the_interval_is_wilsons() -> None:
    low, high = interval([Result(20, 15, 0, []), Result(20, 18, 2, [])])  # by hand: 33 of 40
    assert low == pytest.approx(0.6805, abs=1e-4)
    assert high == pytest.approx(0.9125, abs=1e-4)


@pytest.mark.parametrize("subject", SUBJECTS.values())
def test_every_pattern_names_something(subject: Subject) -> None:
    assert all([*ROOT.glob(pattern)] for pattern in (*subject.code, *subject.tests))


def test_a_mutant_is_caught_survives_or_is_never_reached(tmp_path: Path) -> None:
    files = {
        "suite/__init__.py": "",
        "suite/small.py": CODE,
        "reports/__init__.py": "",
        "tests/test_small.py": TEST,
        "tests/test_broken.py": "def test_broken():\n    assert False\n",
    }
    for name, text in files.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", TRY],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "left out, since it fails without a mutant: tests/test_broken.py" in done.stdout
    assert json.loads(done.stdout.splitlines()[-1]) == [
        ["tests/test_small.py"],
        [["tests/test_small.py::test_larger"], False],
        [["tests/test_small.py::test_larger"], True],
        [[], None],
    ]


def test_a_seed_draws_the_same_mutants_each_of_another_site(tmp_path: Path) -> None:
    pytest.importorskip("cosmic_ray")  # only `nox -s mutation` installs it
    from studies.mutation.drawing import draw  # noqa: PLC0415 - it needs cosmic-ray

    path = tmp_path / "small.py"
    path.write_text(CODE)
    first, again = (draw(tmp_path, [path], 10, Random(1)) for _ in range(2))  # noqa: S311
    assert first == again
    assert len({mutant.source for mutant in first}) == len(first) > 2
    assert {mutant.line for mutant in first} == {3, 6}
    other = draw(tmp_path, [path], 10, Random(2))  # noqa: S311
    assert first != other
