# SPDX-License-Identifier: MIT
"""`frobench show`: a stored run's answers for people, at any width, and for programs."""

import csv
import io
import json
import re
import statistics
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from frobench.command import main
from frobench.reports.findings import sections
from frobench.reports.run.page import Contents
from frobench.reports.summary import plain
from frobench.reports.summary.model import device_axes
from frobench.suite import checks
from frobench.suite.printable import printable
from frobench.suite.stored import store
from frobench.suite.terminal import answers
from tests.instruments.faults.judging import keep, samples
from tests.instruments.processes.command import ROOT, python
from tests.instruments.processes.project_files import EXAMPLE_RUN
from tests.instruments.processes.warm import frobench
from tests.instruments.runs import factory

QUIET = ROOT / "results/amd-epyc-2-cores/20261120T142215Z-b2061e3.json"


@pytest.mark.parametrize("columns", [100, 80, 40])
def test_each_exercise_is_answered_within_the_width(tmp_path: Path, columns: int) -> None:
    """The terminal has so many columns; every exercise has an answer with its interval."""
    shown = frobench("show", QUIET, folder=tmp_path, environment={"COLUMNS": str(columns)})
    assert shown.returncode == 0
    assert max(map(len, shown.stdout.splitlines())) <= columns
    text = " ".join(shown.stdout.split())
    assert "Attainable peak" in text
    assert re.search(r"447 GFLOP/s \[442, 448\]", text)
    assert "No answer to 4 questions: needs two accelerators" in text
    only = "What does compiling a chain of operations gain on the CPU?"
    assert f'No answer to "{only}": the run has no such case' in text
    assert "warning: noisy-case, 67 times" in text
    assert "\x1b" not in shown.stdout


def test_the_answers_are_there_for_programs() -> None:
    def shown(*words: str) -> str:
        return CliRunner().invoke(main, ["show", str(EXAMPLE_RUN), *words]).stdout

    found = json.loads(shown("--json"))
    peak = next(one for one in found["answers"] if one["name"] == "peak-cpu")
    assert peak["leads"]
    assert peak["value"]["low"] < peak["value"]["value"] < peak["value"]["high"]
    run = store.read(EXAMPLE_RUN)
    assert len(found["cases"]) == len(run.frobench.outcomes)
    assert found["part_in_bodies"] == pytest.approx(run.frobench.part_in_bodies, abs=1e-4)
    rows = [*csv.DictReader(shown("--csv").splitlines())]
    assert [row["name"] for row in rows] == [one["name"] for one in found["answers"]]
    assert float(rows[0]["value"]) == found["answers"][0]["value"]["value"]
    cases = [*csv.DictReader(shown("--csv", "--cases").splitlines())]
    assert [row["case"] for row in cases] == [one["case"] for one in found["cases"]]
    assert "\n| axis | Intel(R) Xeon(R) Processor with 2 cores |\n" in shown("--markdown")
    assert shown("--markdown", "--cases").startswith("| case | time of a call | rate | doubts |\n")


def test_the_terminal_tells_the_axes_and_the_answers_of_the_page() -> None:
    run = checks.credible(checks.read(EXAMPLE_RUN))
    found = plain.answers(run)
    own = device_axes(run)
    assert [(one.name, one.precision, one.value) for one in found.axes] == [
        (one.name, one.precision, one.value) for one in own.axes
    ]
    page = Contents(run, sections(run))
    told = " ".join(" ".join(answers.lines(found, 10_000)).split())
    for axis in page.first.axes:
        ends = axis.note.partition(",")[0].replace(" to ", ", ")
        interval = "" if ends == answers.NOT_CONCLUSIVE else f" [{ends}]"
        assert f"{axis.figure} {axis.unit}{interval}" in told
    rows = [one.row for one in page.sections if one.row]
    assert len(rows) > 5
    for row in rows:
        assert " ".join(row.answer.split()) in told
    leads = {answer.brief: answer.doubts for answer in found.answers if answer.leads}
    assert [leads[row.answer] for row in rows] == [row.marks for row in rows]


def test_the_table_of_cases_has_the_medians_over_launches() -> None:
    run = store.read(EXAMPLE_RUN)
    rows = csv.DictReader(io.StringIO(answers.as_csv(plain.answers(run).cases)))
    seconds = {row["case"]: row["seconds"] for row in rows}
    assert len(seconds) == len(run.frobench.outcomes)
    for case in run.benchmarks:
        medians = [statistics.median(launch) for launch in samples(case) if launch]
        assert float(seconds[case.fullname]) == pytest.approx(statistics.median(medians), rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "ends", "more"),
    [
        (["show", EXAMPLE_RUN], "0", {"jinja2"}),
        (["compare", EXAMPLE_RUN, QUIET], "3", set()),
        (["validate", EXAMPLE_RUN], "0", {"numpy", "pandas"}),
    ],
)
def test_a_file_is_read_by_few_imports(arguments: list[object], ends: str, more: set[str]) -> None:
    source = (
        "import sys; from frobench.command import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as end: print(end.code, *sys.modules)"
    )
    code, *modules = python("-c", source, *arguments).stdout.splitlines()[-1].split()
    assert code == ends
    assert ({"torch", "scipy", "matplotlib", "pytest", "rich"} | more).isdisjoint(modules)


def test_a_run_ends_with_what_is_shown_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Mock(return_value=(EXAMPLE_RUN, checks.read(EXAMPLE_RUN)))
    monkeypatch.setattr("frobench.suite.run.runner.run", run)
    ended, shown = (CliRunner().invoke(main, one) for one in (["run"], ["show", str(EXAMPLE_RUN)]))
    assert ended.stderr == f"\n{shown.stdout}"


@pytest.mark.parametrize(
    ("exercise", "words", "question_first"),
    [("norm_logging", [], True), ("norm_logging", ["--cases"], False), ("copies", [], False)],
)
def test_the_question_of_a_run_without_axes_heads_its_answer(
    tmp_path: Path, exercise: str, words: list[str], *, question_first: bool
) -> None:
    run = factory.run()
    keep(run, lambda case: case.group == exercise)
    shown = CliRunner().invoke(main, ["show", *words, str(store.write(run, tmp_path))]).stdout
    first = shown.lstrip().partition("\n")[0]
    assert first.endswith("?") is question_first
    assert (" cases measured in " in first) is not question_first
    assert " cases measured in " in shown
    assert shown.splitlines().count(exercise) == bool(words)


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    run = plain.answers(checks.credible(checks.judged(factory.run())))
    case = replace(run.cases[0], case=text, exercise="-1.5e-3", reason=text)
    answer = replace(run.answers[0], question=text)
    cell = printable(f"'{text}")
    (row,) = csv.DictReader(io.StringIO(answers.as_csv([case])))
    assert (row["case"], row["exercise"], row["reason"]) == (cell, "-1.5e-3", cell)
    (told,) = csv.DictReader(io.StringIO(answers.as_csv([answer])))
    assert told["question"] == cell


def test_the_first_line_says_that_other_programs_disturbed_the_run(tmp_path: Path) -> None:
    run = factory.run(profile="quick")
    lines = {}
    for others in (0.01, 1.0):
        for launch in run.frobench.launches:
            launch.others = others
        path = tmp_path / f"{others}.json"
        path.write_bytes(store.encode(run))
        lines[others] = CliRunner().invoke(main, ["show", str(path)]).stdout.partition("\n")[0]
    assert lines[1.0] == "Other programs used 1.0 of 2 cores: do not publish this run."
    assert "programs" not in lines[0.01]
