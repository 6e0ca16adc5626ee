# SPDX-License-Identifier: MIT
"""The command: every verb does what its help says, and a wrong use gets one clear line."""

import errno
import io
import shlex
from contextlib import chdir, redirect_stderr
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from frobench.command import main
from frobench.endings import exits_cleanly
from frobench.suite.errors import CannotRunError, CutShortError, Interrupted, NothingMeasuredError
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion
from frobench.suite.terminal import output
from tests.end_to_end.test_options import called, takes
from tests.instruments.processes.command import ROOT, TRICKY
from tests.instruments.processes.project_files import planted
from tests.instruments.processes.warm import frobench
from tests.instruments.runs import factory


@pytest.fixture
def results(tmp_path: Path) -> list[Path]:
    """Store two runs of one machine, the second slower."""
    runs = factory.run(seed=1), factory.run(seed=2, slower=1.2)
    return [store.write(run, tmp_path / "results") for run in runs]


def test_every_verb_is_documented_and_no_other() -> None:
    documented = {
        shlex.split(line.split("`")[1])[1]
        for line in (ROOT / "README.md").read_text().splitlines()
        if line.startswith("| `frobench ")
    }
    assert documented == set(main.commands)


TRACED = '''
"""What leaves a trace?"""

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


def test_compare_with_one_file_judges_its_versions(tmp_path: Path, results: list[Path]) -> None:
    run = factory.run(launches=8)
    case = next(case for case in run.benchmarks if case.extra_info.headline)
    case.extra_info.against = [sample / 1.1 for sample in case.stats.data]
    shown = frobench("compare", store.write(run, tmp_path / "results"), folder=tmp_path)
    assert shown.returncode == 4, shown.stderr
    assert "1 case with two versions: 1 slower" in shown.stdout
    heading = shown.stdout.splitlines()[0]
    assert "other version" in heading
    assert "body / other version" in heading
    without = frobench("compare", results[0], folder=tmp_path)
    assert without.returncode == 2
    assert "measure(new, against=old, ...)" in without.stderr


@pytest.mark.parametrize(
    ("option", "taken", "refused"),
    [
        ("report FILE -o", ["FOLDER", "new"], ["FILE"]),
        ("report FILE --reference", ["FILE"], ["FOLDER", "nowhere.json"]),
        ("report FILE --prices", ["PRICES"], ["FOLDER", "FILE", "nowhere.csv"]),
        ("report --figures FILE --licence", ["MIT", "CC-BY-4.0"], ["''", "'CC 0'"]),
        ("report FILE --address", ["http://a", "https://a/b/"], ["a", "https://a?b", "'data:a'"]),
        ("show", ["FILE", "--all FILE", "--cases FILE"], ["nowhere.json", "FILE FILE"]),
        ("validate", ["FILE", "FILE FOLDER"], ["nowhere.json"]),
        ("share", ["--all FILE"], ["nowhere.json", "FOLDER"]),
        ("reproduce", ["FILE", "FILE --wait"], ["nowhere.json"]),
        ("export", ["--bencher FILE"], ["--bencher nowhere.json", "FILE"]),
        ("compare FILE", ["", "--json"], ["--purchase", "--across a", "--cases --workload decode"]),
        ("compare FILE OTHER", ["--retry 0", "--workload vision"], ["--retry -1", "--workload x"]),
        ("compare --allow-missing", ["FILE OTHER", "--json FILE OTHER"], ["FILE FILE"]),
        ("compare FILE OTHER --cases", ["--purchase", "--workload small"], [""]),
    ],
)
def test_an_option_of_what_reads_runs_takes_what_it_can_and_refuses_its_neighbours(
    tmp_path: Path, option: str, taken: list[str], refused: list[str]
) -> None:
    with chdir(tmp_path):
        takes(option, taken, refused)


def test_what_cannot_be_read_is_refused_by_the_verb_and_not_as_a_wrong_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    with chdir(tmp_path):
        for verb, taken in (("validate", ["FILE", "FOLDER FILE"]), ("show", ["FILE"])):
            takes(verb, taken, [])


BROKEN = "frobench: no page for what is not valid"
APART = "no machines side by side: "
FEWER = f"{APART}fewer than two different whole runs were given as files"
ALIKE = f"{APART}all files are runs of one device; `frobench compare` compares runs"
MORE = "and {} of earlier runs"


@pytest.mark.parametrize(
    ("words", "newest", "more"),
    [
        ("", 2, [MORE.format("2 pages")]),
        ("results --reference 0", 2, [MORE.format("2 pages"), FEWER]),
        ("0", 0, []),
        ("0 0", 0, [FEWER]),
        ("0 --figures", 0, ["figures: site/{}-figures"]),
        ("0 1", 1, [MORE.format("1 page"), ALIKE]),
        ("0 2", 2, [MORE.format("1 page"), "machines side by side: site/purchase.html"]),
        ("0 bad.json", 0, [FEWER, "bad.json: unreadable: the file is cut off", BROKEN]),
    ],
)
def test_report_names_the_index_the_newest_page_and_what_stands_side_by_side(
    tmp_path: Path, results: list[Path], words: str, newest: int, more: list[str]
) -> None:
    other = factory.run(accelerators=1, seed=3)
    files = [*results, store.write(other, tmp_path / "results")]
    (tmp_path / "bad.json").touch()
    with chdir(tmp_path):
        given = [str(files[int(word)]) if word.isdigit() else word for word in words.split()]
        shown = CliRunner().invoke(main, ["report", *given])
    page = files[newest].relative_to(tmp_path / "results").with_suffix(".html")
    assert [*shown.stdout.splitlines(), *shown.stderr.splitlines()] == [
        "site/index.html",
        f"site/{page}",
        *(line.format(page.with_suffix("")) for line in more),
    ]
    assert shown.exit_code == (BROKEN in more)
    assert (tmp_path / "site" / page).exists()
    assert "[default: CC-BY-4.0]" in called("report", "--help").stdout


RUN = ("run", "--benchmarks", TRICKY)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("report",), 2, "no stored run"),
        (("validate",), 2, "no stored run in results/"),
        (("compare", "text.json", "other.json"), 1, "JSON is malformed"),
        (("compare", "text.json", "--purchase"), 2, "--purchase compares two runs, each with"),
        (("compare", "text.json", "--across", "a"), 2, "--across compares two runs, each with"),
        (("list", "-k", "nothing_like_it"), 2, "no case matches"),
        (("measure",), 2, "No such command"),
        ((*RUN, "--devices", "warp:0"), 3, "no device 'warp:0' here; there is cpu"),
        ((*RUN, "-k", TRICKY.parent.name), 2, "no case matches 'instruments'"),  # a folder
        ((*RUN, "-k", "finee"), 2, "did you mean fine?"),
        ((*RUN, "-k", "fine and"), 2, "expression"),
        ((*RUN, "--resume", "20200101T000000Z-0000000"), 3, "no interrupted run"),
        ((*RUN, "--results", "/proc/nowhere"), 3, "/proc/nowhere"),
        (("run", "--nodes"), 3, "needs a job with a process on each node: start it on every"),
        (("run", "--once", "x", "--launches", 3, "--peak"), 2, "leave out --launches, --peak"),
        (("run", "--trace", "x.json"), 2, "--trace is of the call that --once makes"),
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


def test_doubts_begin_with_errors_and_name_a_few_cases_of_each_warning() -> None:
    run = factory.run()
    noisy = Conclusion(code="noisy-case", severity="warning", message="wide", advice="Again.")
    failed = Conclusion(code="failed-case", severity="error", message="\x1b[2J", advice="Look.")
    run.frobench.conclusions = [noisy] * 5 + [failed]
    assert [*output.doubts(run, 80)] == [
        "",
        "error: failed-case. Look.",
        "  \ufffd[2J",
        "",
        "warning: noisy-case, 5 times. Again.",
        *["  wide"] * 3,
        "  and 2 more: `frobench show FILE --cases`",
    ]
    narrow = [*output.doubts(run, 20)]
    assert max(map(len, narrow)) <= 20


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
def test_what_ends_a_verb_is_one_line_and_an_exit_code(
    error: BaseException, code: int, line: str
) -> None:
    found, told = ended(error)
    assert found == code
    assert told.startswith("frobench: ")
    assert line in told
