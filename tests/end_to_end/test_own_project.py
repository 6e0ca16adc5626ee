# SPDX-License-Identifier: MIT
"""An engineer measures her own project: her question, her answer, her commit, and no torch."""

import re
import subprocess
from pathlib import Path

import pytest

from frobench.suite.compare.runs import compare_runs
from frobench.suite.stored import store
from frobench.suite.stored.types import Telemetry
from tests.instruments.faults.spoiling import put
from tests.instruments.processes import git_project
from tests.instruments.processes.command import found_first, frobench
from tests.instruments.processes.project_files import planted
from tests.project.test_absent import BLOCKER

QUESTION = "How long does sorting take?"
BENCHMARK = f'''"""{QUESTION}

Numbers in reverse order are sorted.
"""

import pytest

def bench_mine(measure):
    """Sort numbers."""
    numbers = list(range(1000, 0, -1))
    measure(lambda: sorted(numbers))

def bench_raises(measure):
    """Raise an error in the body."""
    def body():
        raise ValueError("the engineer's own words")
    measure(body)
'''
SETTINGS = '[tool.frobench]\nprofile = "quick"\nlaunches = 6\n'


class Engineer:
    """A repository with a benchmark; each call of the command is on a machine without torch."""

    def __init__(self, folder: Path) -> None:
        files = {"benchmarks/bench_mine.py": BENCHMARK, "pyproject.toml": SETTINGS}
        self.folder = planted(git_project.repository(folder / "mine"), files)
        self.commit = git_project.commit(self.folder, "Sort numbers")
        blocker = planted(folder / "blocker", {"sitecustomize.py": BLOCKER})
        self.ran = self.call("run", ABSENT="torch pandas", **found_first(blocker))
        (self.path,) = self.folder.glob("results/*/*.json")

    def call(self, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        """Call the command in the repository."""
        return frobench(*words, folder=self.folder, environment=variables)


@pytest.fixture(scope="module")
def engineer(tmp_path_factory: pytest.TempPathFactory) -> Engineer:
    return Engineer(tmp_path_factory.mktemp("engineer"))


def test_all_is_measured_without_torch_and_not_answered_without_pandas(engineer: Engineer) -> None:
    assert engineer.ran.returncode == 1, engineer.ran.stderr  # one of the two cases fails
    assert "no answers here: " in engineer.ran.stderr
    assert " has no package pandas; " in engineer.ran.stderr
    run = store.read(engineer.path)
    assert [case.name for case in run.benchmarks] == ["bench_mine"]
    assert run.frobench.settings.devices == ["cpu"]
    here = run.frobench.environment
    assert (here.software.torch, here.software.threads) == (None, None)
    assert here.unknown["software.torch"] == "not imported"
    assert engineer.call("validate", engineer.path).returncode == 0


def test_sensors_were_read_meanwhile_at_little_cost(engineer: Engineer) -> None:
    run = store.read(engineer.path).frobench
    told = run.telemetry
    assert isinstance(told, Telemetry)
    known = {name for name, series in told.series["cpu"].items() if series is not None}
    assert known
    assert {f"cpu.{name}" for name in set(told.series["cpu"]) - known} <= set(told.unknown)
    assert len(told.launches) == 6
    assert told.begun <= told.launches[0] < told.launches[1] < run.seconds
    assert 0 < told.cost < 0.05


def test_a_torch_that_was_not_imported_is_no_difference(engineer: Engineer) -> None:
    run, other = store.read(engineer.path), store.read(engineer.path)
    flags = {"default_dtype": "torch.float32"}
    put(other.frobench.environment.software, torch="2.13.0", threads=2, flags=flags)
    assert compare_runs(run, other).differences == []


def test_the_commit_of_the_project_names_the_file(engineer: Engineer) -> None:
    assert re.fullmatch(rf"\d+T\d+Z-{engineer.commit[:7]}\.json", engineer.path.name)


def test_the_question_and_its_answer_head_the_page(engineer: Engineer) -> None:
    engineer.call("report", engineer.path)
    (page,) = (engineer.folder / "site").rglob(f"{engineer.path.stem}.html")
    text = page.read_text()
    assert f"<h1>{QUESTION}</h1>" in text
    assert "No axis was measured" not in text
    (lead,) = re.findall(r'<p class="lead">(.*)</p>', text)
    assert "Sort numbers" in lead
    index = (engineer.folder / "site" / "index.html").read_text()
    assert "<h1>Stored runs</h1>" in index
    assert f" at {engineer.commit[:12]}<" in index
    assert "Published figures" not in index
    assert "<script>" not in index


def test_a_failure_is_told_once_in_the_lines_of_the_engineer(engineer: Engineer) -> None:
    said = engineer.ran.stderr
    assert said.count("ValueError: the engineer's own words") == 1
    places = re.findall(r'File "([^"]+)"', said)
    assert places
    assert {Path(place).name for place in places} == {"bench_mine.py"}
