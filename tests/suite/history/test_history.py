# SPDX-License-Identifier: MIT
"""A history from the repository to the stored files, with launches that are made up."""

import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Self

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from frobench.command import main
from frobench.suite import checks
from frobench.suite.compare.gate import exit_code
from frobench.suite.errors import CannotRunError
from frobench.suite.history.change_search import Findings, search
from frobench.suite.history.commits import WorkTrees, commits_of
from frobench.suite.history.history import History, HistoryRequest, history
from frobench.suite.journal import Imported, Measured, Record, Refused, Stopped
from frobench.suite.machine import environment
from frobench.suite.plan import OPTION
from frobench.suite.project.git import project_folder
from frobench.suite.project.imports import Foreign
from frobench.suite.run import runner
from frobench.suite.run.runner import Interruptions
from frobench.suite.stored import store
from frobench.suite.stored.types import Check, CommitInfo, Project
from frobench.suite.terminal import history_words
from studies.searches import MadeUpCommits, rates, step
from tests.instruments.processes.command import start
from tests.instruments.processes.git_project import commit, git, repository
from tests.instruments.runs.made_up_launches import NAMES, Launch, Quiet, identity, made_up

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

ONE, TWO = (identity(name).fullname for name in NAMES)
REAL_POPEN = subprocess.Popen
NOISE = 0.01
NUMBERS = count()
DATE = "2026-01-01T00:00:00Z"
DIFFER = "the benchmarks differ between the ends of the range"


class Commit(Launch):
    """A launch that takes as long as its commit's `mylib` says; git is started as ever.

    mylib.py : the seconds of the first case, or a word for what goes wrong
    """

    def __new__(cls, arguments: Any, **options: Any) -> Self:  # noqa: ANN401 - as Popen takes them
        """Return a made-up launch, or what was asked for if that is none."""
        if any(str(argument).startswith(OPTION) for argument in arguments):
            return super().__new__(cls)
        return REAL_POPEN(arguments, **options)  # type: ignore[return-value] # no launch at all

    def records(self) -> Iterator[Record]:
        """Yield what a launch writes into its journal, with this commit's times."""
        text = (Path(self.spec.plan.paths[0]) / "mylib.py").read_text().strip()
        if text == "broken":
            yield Stopped(message="bench_it.py:1: ImportError: no mylib\nTraceback")
            return
        launch = self.spec.launch
        flaky = text == "flaky" and launch == 3 and self.spec.mode == "measure"
        for record in super().records():
            if not isinstance(record, Measured):
                yield record
            elif record.case == ONE and (text == "fails" or flaky):
                why = "RuntimeError: broken"
                yield Refused(launch=launch, case=ONE, status="failed", reason=why)
            else:
                has_time = record.case == ONE and text[0].isdigit()
                yield self.timed(record, float(text) if has_time else 1e-3)
        foreign = Foreign("mylib", "/elsewhere", "python") if text == "elsewhere" else None
        yield Imported(launch=launch, inside=int(text != "missing"), foreign=foreign)

    def timed(self, record: Measured, seconds: float) -> Measured:
        """Return a record with times as two launches of one commit have them."""
        revision = Path(self.spec.plan.paths[0]).parent.name  # the same whenever this is called
        name = f"{revision}/{record.launch}/{record.case}"
        chance = random.Random(name)  # noqa: S311 - not for secrets
        samples = [seconds * chance.lognormvariate(0, NOISE)] * 3
        takes_time = self.spec.mode != "pilot"
        return replace(
            record,
            samples=samples,
            sampled=takes_time * sum(samples),
            warmup=takes_time * record.warmup,
            check=Check("it", error=0.0, bound=1.0),
            order=1 + (record.case == TWO),
        )


def project(folder: Path, *texts: str) -> Path:
    """Make a project whose commits have these texts in `mylib.py`."""
    tree = repository(folder / "mylib")
    (tree / "benchmarks").mkdir()
    (tree / "benchmarks" / "bench_it.py").touch()
    for number, text in enumerate(texts):
        commit(tree, f"Commit {number}", mylib=f"{text}\n")
    return tree


def searched(tree: Path, named: str = "", launches: int = 10, out: Quiet | None = None) -> History:
    """Search the history of a project; without a range, all of it."""
    first = git(tree, "rev-list", "--max-parents=0", "HEAD")
    wanted = HistoryRequest(
        range=named or f"{first}..main",
        results=tree.parent / "results",
        benchmarks=tree / "benchmarks",
        launches=launches,
        devices=["cpu"],
        expression="one",
        seed=1,
    )
    with made_up_commits(tree), Interruptions() as interruptions:
        return history(wanted, out or Quiet(), interruptions)


@contextmanager
def made_up_commits(tree: Path) -> Iterator[None]:
    """Let launches take as long as their commits say."""
    with made_up(Commit), pytest.MonkeyPatch.context() as patch:  # which ends first
        patch.setenv("FROBENCH_LOCK", str(tree.parent / "lock"))
        patch.setattr(runner, "project_folder", project_folder)
        ids = (f"{next(NUMBERS):07}{'e' * 33}" for _ in count())  # no two runs of a name
        patch.setattr(environment, "commit", lambda: CommitInfo(id=next(ids)))
        yield


def said(done: History) -> list[str]:
    return [*history_words.sentences(done)]


def rows(done: History) -> list[tuple[str, ...]]:
    return [row[1:] for table in history_words.tables(done) for row in table.rows]


def nothing_is_left(tree: Path) -> bool:
    """Tell whether only the project's own working tree is there."""
    return len(git(tree, "worktree", "list").splitlines()) == 1


Searched = tuple[Path, History]


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    """Search nine commits of which the sixth is 10% slower, and the fifth broken."""
    texts = ["1e-3"] * 4 + ["broken"] + ["1.1e-3"] * 4
    tree = project(tmp_path_factory.mktemp("slower"), *texts)
    return tree, searched(tree)


def test_the_slower_commit_is_named_after_those_that_cannot_be_measured(slower: Searched) -> None:
    _, done = slower
    commits = done.commits
    first, sentence, following = said(done)
    assert first == f'skipped: {commits[4].short} "Commit 4": bench_it.py:1: ImportError: no mylib'
    assert re.fullmatch(
        f'one\\[cpu\\] became slower between {commits[3].short} and {commits[5].short} "Commit 5": '
        r"it takes 1\.(09|10|11)\d?. \[1\.\d+, 1\.\d+\] as long\. "
        r"1 commit between them could not be measured\.",
        sentence,
    )
    assert following == f"Next: `git log {commits[3].short}..{commits[5].short}`"
    assert exit_code(done.comparison) == 4


def test_each_commit_that_was_measured_is_stored_with_its_facts(slower: Searched) -> None:
    tree, done = slower
    runs = [store.read(path) for path in done.stored]
    assert done.findings.beside_first.keys() | {0, 3, 5} == {
        place
        for stored in runs
        for place, one in enumerate(done.commits)
        if stored.frobench.project == Project(name="mylib", id=one.id, time=DATE, dirty=False)
    }
    names = {stored.frobench.run for stored in runs}
    pilots = [(one.frobench.plan_seconds, one.frobench.plan_body_seconds) for one in runs]
    assert pilots[1:] == [(0, 0)] * (len(runs) - 1)  # the first commit's is for all
    for stored in runs:
        assert {stored.frobench.run, *(stored.frobench.beside or [])} == names
        assert stored.frobench.complete
        assert len(stored.frobench.launches) == stored.frobench.settings.launches
    assert not any(checks.opened(path)[1] for path in done.stored)
    assert not [*(tree.parent / "results" / ".runs").iterdir()]


def test_no_working_tree_is_left_and_the_projects_own_is_as_it_was(slower: Searched) -> None:
    assert nothing_is_left(slower[0])
    assert git(slower[0], "status", "--porcelain") == ""


def test_the_command_tells_refusals_a_table_what_was_found_and_where_it_is(tmp_path: Path) -> None:
    tree = project(tmp_path, "1e-3", "1e-3", "fails")
    words = f"history --range main~1..main --seed 1 --launches 6 --results {tmp_path / 'there'}"
    with made_up_commits(tree):
        where = f"--devices cpu --benchmarks {tree / 'benchmarks'}"
        shown = CliRunner().invoke(main, f"{words} {where}".split())
    assert shown.exit_code == 3
    refused, heading, *_, sentence, stored = shown.stdout.splitlines()
    assert refused.endswith(": one[cpu]: RuntimeError: broken")
    assert heading.split()[-2:] == ["verdict", "finds"]
    assert re.fullmatch(r"Nothing changed beyond (0\.[1-9]\d|[1-4]\.\d)%\.", sentence)
    assert re.fullmatch(rf"2 stored runs, one a commit, in {tmp_path}/there/[^/]*/", stored)


@pytest.mark.parametrize(("texts", "at"), [(("1e-3", "fails"), 1), (("flaky", "1e-3"), 0)])
def test_a_case_that_fails_at_an_end_of_the_range_is_named_and_exits_3(
    tmp_path: Path, texts: tuple[str, str], at: int
) -> None:
    tree = project(tmp_path, *texts)
    done = searched(tree)
    failed = done.commits[at].short
    refused = f"failed in {failed}: one[cpu]: RuntimeError: broken"
    assert ([*history_words.refusals(done)], exit_code(done.comparison)) == ([refused], 3)
    assert {name for name, *_ in rows(done)} == {"two[cpu]"}


def test_a_comparison_that_is_too_noisy_is_measured_again_as_often_as_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = project(tmp_path, "1e-3", "1.2e-3")
    monkeypatch.setenv("FROBENCH_RESULTS", str(tmp_path / "results"))
    with monkeypatch.context() as noisy:
        noisy.setattr(f"{__name__}.NOISE", 1.0)
        files = searched(tree, launches=6).stored
        where = ["--project", str(tree), "--benchmarks", str(tree / "benchmarks")]
        command = ["compare", *map(str, files), *where]
        with made_up_commits(tree):
            once = CliRunner().invoke(main, command)
            still_noisy = CliRunner().invoke(main, [*command, "--retry", "2"])
    with made_up_commits(tree):
        calm = CliRunner().invoke(main, [*command, "--retry", "2"])
    assert (once.exit_code, still_noisy.exit_code, calm.exit_code) == (3, 3, 4), calm.output
    again = "the runs were disturbed or too noisy; both are measured again"
    assert [one.stderr.count(again) for one in (once, still_noisy, calm)] == [0, 2, 1]
    assert re.search(r"one\[cpu\].* slower", calm.stdout)
    assert len([*(tmp_path / "results").glob("*/*.json")]) == 2 * (1 + 2 + 1)
    assert nothing_is_left(tree)


NO_END = "commit of the range, cannot be measured: bench_it.py:1: ImportError: no mylib; choose"
ELSEWHERE = "mylib was imported from /elsewhere, "


@pytest.mark.parametrize(
    ("texts", "revisions", "message"),
    [
        (["broken", "1e-3"], "", f'"Commit 0", the first {NO_END}'),
        (["1e-3", "broken"], "", f'"Commit 1", the last {NO_END}'),
        (["elsewhere"] * 3, "", f"{ELSEWHERE}and not from mylib at "),
        (
            ["1e-3", "elsewhere"],
            "",
            f"{ELSEWHERE}.* name its folder in the commit: `--path python ",
        ),
        (["1e-3"] * 2, "main..main", "no commit is in it"),
        (["1e-3"] * 2, "main", "no commit comes before [0-9a-f]{9}$"),
        (["1e-3"] * 2, "nowhere..main", "git says: "),
    ],
)
def test_a_range_without_commits_or_with_an_end_that_cannot_be_measured_is_refused(
    tmp_path: Path, texts: list[str], revisions: str, message: str
) -> None:
    tree = project(tmp_path, *texts)
    with pytest.raises(CannotRunError, match=message):
        searched(tree, revisions)
    assert not [*(tmp_path / "results").glob("*/*.json")]
    assert nothing_is_left(tree)


def test_a_commit_from_which_nothing_is_imported_is_skipped(tmp_path: Path) -> None:
    tree, reporter = project(tmp_path, "1e-3", "1e-3", "missing"), Quiet()
    commit(tree, "Last", mylib="1.2e-3\n", **{"benchmarks/bench_it": "it = 1\n"})
    (tree / "mylib.py").write_text("9")
    done = searched(tree, out=reporter)
    first, last = done.commits[0].short, done.commits[-1].short
    assert reporter.lines[:4] == [
        f"3 commits after {first}",
        f"{DIFFER} (benchmarks/bench_it.py); every commit is measured by those of the working tree",
        "the project has uncommitted changes, which are not measured",
        f"{first} beside {last}: 10 launches each",
    ]
    assert "nothing was imported from mylib at " in said(done)[0]
    assert [*done.findings.broken] == [2]


@pytest.mark.parametrize("text", ["main", "--all..", "main~1...main"])
def test_what_is_no_range_ends_with_2_and_what_to_type(text: str) -> None:
    shown = CliRunner().invoke(main, ["history", "--range", text])
    assert shown.exit_code == 2
    assert f"'{text}' is no range of commits. A range is A..B, " in shown.output
    assert "`--range HEAD^..HEAD` compares a commit" in shown.output


def test_a_build_that_fails_breaks_its_commit_alone(tmp_path: Path) -> None:
    tree = project(tmp_path, "good", "bad")
    good, bad = commits_of(tree, "main~1..main")
    build = "grep -q good mylib.py && touch built || { echo no recipe; exit 2; }"
    (tree / "conftest.py").touch()
    with pytest.raises(CannotRunError, match="holds the code that it measures; put"):
        WorkTrees(tree, tree.parent, build)
    with WorkTrees(tree, tree / "benchmarks", build) as trees:
        copy, names = trees.benchmarks(), {"benchmarks", "bench_it.py", "conftest.py"}
        assert {path.name for path in copy.parent.rglob("*")} == names
        lines: list[str] = []
        made = trees.at(good, lines.append)
        assert (made / "built").exists()
        assert trees.sources(made) == [str(made)]  # there is no folder `src`
        assert (trees.at(good, lines.append), lines) == (made, [f"building {good.short}"])
        with pytest.raises(CannotRunError, match="--build ended with 2: no recipe"):
            trees.at(bad, lines.append)
    assert not made.exists()
    assert nothing_is_left(tree)


BENCH = '''"""How long does it take?"""
import mylib
from frobench import Device, Measure, Work, cases, close_to

@cases("quick", n=[10])
def bench_one(measure: Measure, device: Device, n: int) -> None:
    """Do it."""
    numbers = device.uniform(n)
    measure(lambda: mylib.work(numbers), work=Work(items=n), check=close_to(numbers, 0.0, "them"))
'''
WORK = "def work(numbers):\n    return numbers\n"


@pytest.mark.long
def test_ctrl_c_ends_real_launches_of_commits_and_leaves_no_working_tree(tmp_path: Path) -> None:
    """Launch where Python looks for modules first, and where none can be imported."""
    tree = project(tmp_path, "1e-3")
    (tree / "benchmarks" / "__init__.py").touch()
    (tree / "benchmarks" / "bench_it.py").write_text(BENCH)
    commit(tree, "Work", mylib=WORK)
    commit(tree, "Work on", mylib=f"{WORK}\n")
    (tree / "mylib.py").write_text("raise ImportError('the working copy')\n")
    process = start(
        *("history", "--range", "main~1..main", "--benchmarks", "benchmarks", "--devices", "cpu"),
        *("--profile", "quick", "--launches", 7, "--results", tmp_path / "results"),
        folder=tree,
    )
    journals = tmp_path / "results" / ".runs"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if any('"imported"' in path.read_text() for path in journals.glob("*/launches.jsonl")):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted, and no working tree is left; saved: " in err
    assert not out
    saved = (tmp_path / "results").glob("[!.]*/*.json")
    assert {store.read(path).frobench.complete for path in saved} == {False}
    assert nothing_is_left(tree)


COMMITS, LAUNCHES = 9, 10


def found(commits: MadeUpCommits, launches: int = LAUNCHES) -> Findings:
    return search(COMMITS, commits, launches)


@pytest.mark.parametrize(("ratio", "least"), [(1.0, 0), (1.05, 95)])
def test_a_slower_commit_is_found_and_no_other_is_blamed(ratio: float, least: int) -> None:
    told = re.findall(r"([\d.]+)% (right|false|wrong)", rates(120, 3, ratio, COMMITS, LAUNCHES))
    right, *errors = (float(part) for part, _ in told)
    assert right >= least
    assert max(errors) <= 7  # 5% are allowed, and of 120 searches rarely more than 7%


def test_the_ratio_comes_from_launches_made_for_it_alone() -> None:
    commits = MadeUpCommits({"slow": step(COMMITS, 6, 1.1)})
    (culprit,) = found(commits).culprits
    assert (culprit.before, culprit.at) == (5, 6)
    assert commits.pairs == [(0, 8, LAUNCHES), (0, 4, 6), (0, 6, 6), (0, 5, 6), (5, 6, LAUNCHES)]
    assert culprit.ratio is not None
    assert culprit.ratio.launches == LAUNCHES
    assert culprit.ratio.value == pytest.approx(1.1, rel=0.02)


@pytest.mark.parametrize(("ratio", "at", "launches"), [(1.03, 6, 17), (1.04, 6, 12), (0.96, 3, 20)])
def test_small_changes_take_up_to_twice_the_launches(ratio: float, at: int, launches: int) -> None:
    commits = MadeUpCommits({"slow": step(COMMITS, at, ratio)})
    found(commits)
    assert [each for *_, each in commits.pairs[1:-1]] == [launches] * 3


def test_a_broken_commit_is_skipped_and_the_change_then_lies_in_a_range() -> None:
    findings = found(MadeUpCommits({"slow": step(COMMITS, 4, 1.1)}, broken={3, 4}))
    (culprit,) = findings.culprits
    assert (culprit.before, culprit.at) == (2, 5)
    assert culprit.ratio is not None
    assert findings.broken == {3: "ImportError: no module", 4: "ImportError: no module"}


def test_commits_that_are_found_share_the_false_alarms_of_one() -> None:
    launches = 6  # if all agree, the p-value is 2/64: below 5%, above half of it
    one, other = step(COMMITS, 2, 1.5), step(COMMITS, 7, 0.5)

    def confirmed(**times: list[float]) -> list[bool]:
        culprits = found(MadeUpCommits(times), launches).culprits
        return [culprit.ratio is not None for culprit in culprits]

    assert (confirmed(one=one), confirmed(one=one, other=other)) == ([True], [False, False])
