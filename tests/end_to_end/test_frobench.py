# SPDX-License-Identifier: MIT
"""The command: every verb does what its help says, and a wrong use gets one clear line."""

import errno
import io
import shlex
from contextlib import chdir, redirect_stderr
from pathlib import Path
from unittest.mock import Mock

import pytest

from frobench.command import main
from frobench.endings import exits_cleanly
from frobench.suite.errors import CannotRunError, CutShortError, Interrupted, NothingMeasuredError
from frobench.suite.stored import store
from tests.end_to_end.test_options import APART, called
from tests.instruments.processes.command import ROOT, TRICKY
from tests.instruments.processes.project_files import planted
from tests.instruments.processes.warm import frobench
from tests.instruments.runs import factory


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return store.write(factory.run(seed=1), tmp_path / "results")


def test_every_verb_is_documented_and_no_other() -> None:
    documented = {
        shlex.split(line.split("`")[1])[1]
        for line in (ROOT / "README.md").read_text().splitlines()
        if line.startswith("| `frobench ")
    }
    assert documented == set(main.commands)


TRACED = '''"""What leaves a trace?"""
from pathlib import Path

def trace(name):
    Path(__file__).with_name(name).touch()

def bench_body(measure, device):
    """Leave traces."""
    trace("set-up")
    measure(lambda: trace("body"), check=lambda _: trace("check"))
'''


def test_list_calls_nothing_of_a_benchmark(tmp_path: Path) -> None:
    planted(tmp_path, {"benchmarks/bench_traced.py": TRACED})
    shown = frobench("list", "--benchmarks", "benchmarks", folder=tmp_path)
    assert shown.returncode == 0
    assert "body[cpu" in shown.stdout
    assert "unknown" in shown.stdout
    assert [path.name for path in tmp_path.glob("benchmarks/[a-z]*")] == ["bench_traced.py"]


def test_compare_with_one_file_judges_its_versions(tmp_path: Path, stored: Path) -> None:
    run = factory.run(launches=8)
    case = next(case for case in run.benchmarks if case.extra_info.headline)
    case.extra_info.against = [sample / 1.1 for sample in case.stats.data]
    shown = frobench("compare", store.write(run, tmp_path / "results"), folder=tmp_path)
    assert shown.returncode == 4, shown.stderr
    assert "1 case with two versions: 1 slower" in shown.stdout
    assert "body / other version" in shown.stdout.splitlines()[0]
    without = frobench("compare", stored, folder=tmp_path)
    assert without.returncode == 2
    assert "measure(new, against=old, ...)" in without.stderr


@pytest.mark.parametrize(
    ("other", "more"),
    [
        (0, f"{APART}all files are runs of one device; `frobench compare` compares runs"),
        (1, "machines side by side: site/purchase.html"),
    ],
)
def test_report_writes_the_named_pages(tmp_path: Path, stored: Path, other: int, more: str) -> None:
    file = store.write(factory.run(accelerators=other, seed=3), tmp_path / "results")
    with chdir(tmp_path):
        shown = called("report", stored, file)
    page = f"site/{file.relative_to(tmp_path / 'results').with_suffix('.html')}"
    told = ["site/index.html", page, "and 1 page of earlier runs", more]
    assert shown.output.splitlines() == told
    assert (tmp_path / page).exists()


RUN = ("run", "--benchmarks", TRICKY)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("report",), 2, "no stored run"),
        (("compare", "text.json", "other.json"), 1, "JSON is malformed"),
        (("list", "-k", "nothing_like_it"), 2, "no case matches"),
        (("measure",), 2, "No such command"),
        ((*RUN, "--devices", "warp:0"), 3, "no device 'warp:0' here; there is cpu"),
        ((*RUN, "-k", TRICKY.parent.name), 2, "no case matches 'instruments'"),  # a folder
        ((*RUN, "-k", "finee"), 2, "did you mean fine?"),
        ((*RUN, "-k", "fine and"), 2, "expression"),
        ((*RUN, "--resume", "20200101T000000Z-0000000"), 3, "no interrupted run"),
        ((*RUN, "--results", "/proc/nowhere"), 3, "/proc/nowhere"),
        (("run", "--nodes"), 3, "needs a job with a process on each node: start it on every"),
    ],
)
def test_a_wrong_use_gets_one_clear_line(
    tmp_path: Path, arguments: tuple[object, ...], code: int, message: str
) -> None:
    for name in ("text.json", "other.json"):
        (tmp_path / name).write_text("Dear reader,")
    shown = frobench(*arguments, folder=tmp_path)
    assert shown.returncode == code
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr
    assert not shown.stdout
    assert not list(tmp_path.glob("results/*/*"))


NAME = "20260101T120000Z-eeeeeee"


def ended(error: BaseException, **options: object) -> tuple[object, str]:
    """Return the exit code of a verb that an error ends, and what it says."""
    shown = io.StringIO()
    with redirect_stderr(shown), pytest.raises(SystemExit) as end:
        exits_cleanly(Mock(side_effect=error))(**options)
    return end.value.code, shown.getvalue()


@pytest.mark.parametrize("results", ["results", "other", "with a space", "it's", "/a/$HOME"])
@pytest.mark.parametrize("nodes", [True, False])
@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (CutShortError("no space", NAME), 3, "no space; everything finished stays"),
        (Interrupted(NAME, None), 130, "interrupted"),
        (Interrupted(NAME, Path("a.json")), 130, "interrupted; what was finished is in a.json"),
    ],
)
def test_what_is_advised_to_resume_a_run_can_be_typed(
    results: str, *, nodes: bool, error: Exception, code: int, told: str
) -> None:
    found, line = ended(error, results=Path(results), nodes=nodes)
    before, command, after = line.split("`")
    assert (found, before, after) == (code, f"frobench: {told}; ", " goes on\n")
    words = ["--nodes"] * nodes + ["--resume", NAME]
    where = [] if results == "results" else ["--results", results]
    assert shlex.split(command) == ["frobench", "run", *words, *where]


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (CannotRunError("no\x1b\nway"), 3, "no\ufffd\nway"),
        (NothingMeasuredError("nothing", failed=False), 3, "nothing"),
        (NothingMeasuredError("all failed", failed=True), 1, "all failed"),
        (OSError(errno.ENOSPC, "No space left", "x/y"), 3, "x/y: No space left"),
        (OSError("out of luck"), 3, "cannot write: out of luck"),
        (UnicodeEncodeError("utf-8", "a\udcff", 1, 2, "no"), 3, "a\ufffd: a folder's path must be"),
        (KeyboardInterrupt(), 130, "interrupted while nothing was measured, so nothing is lost"),
        (ModuleNotFoundError("No module named 'rich'", name="rich"), 3, "no package rich; "),
    ],
)
def test_a_verb_ends_with_one_line_and_its_code(error: BaseException, code: int, line: str) -> None:
    found, told = ended(error)
    assert found == code
    assert told.startswith("frobench: ")
    assert line in told
