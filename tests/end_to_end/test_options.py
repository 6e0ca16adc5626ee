# SPDX-License-Identifier: MIT
"""What each option takes and refuses, and which defaults a project sets."""

import json
import re
import shlex
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from click import UsageError
from click.testing import CliRunner, Result

from frobench.command import main
from frobench.settings import defaults
from frobench.suite.checkout import BENCHMARKS, CHECKOUT
from frobench.suite.fleet.fleet import FleetRequest
from frobench.suite.history.history import HistoryInterrupted, HistoryRequest
from frobench.suite.once import Called
from frobench.suite.profiles import settings_for
from frobench.suite.run.runner import Request
from tests.instruments.processes.project_files import planted

PRICES = CHECKOUT / "reports" / "purchase" / "prices.csv"
FLEET = ["results", "site", "auto", "3 budgets and 600", "120.0"]
TAKEN = [
    ("run", ["--seed 0", f"--seed {2**53}"], ["--seed -1", f"--seed {2**53 + 1}", "--seed x"]),
    ("run", ["--budget 1", "--budget 1.5", "--deadline 1"], ["--budget 0.9", "--deadline 0.9"]),
    ("run --launches", ["1"], ["0", "1.5"]),
    ("run --profile", ["quick", "standard", "rigorous"], ["slow"]),
    ("run --benchmarks", ["FOLDER"], ["FILE", "nowhere"]),
    ("run --project", ["FOLDER"], ["FILE", "nowhere"]),
    ("run --once x --trace", ["new.json"], ["FOLDER"]),
    ("run --label", ["'node 1'"], ["''", "' '", "\udcff"]),
    ("run", ["--peak --verbose --wait", "--resume last"], ["--once x --peak", "--trace x"]),
    ("run", [], ["--peak x", "--verbose x", "--wait x", "--nodes x"]),
    ("fleet", ["--deadline 1", "--patience 1"], ["--deadline 0.9", "--patience 0.9"]),
    ("fleet", ["--benchmarks FOLDER", "--benchmarks nowhere", "--json"], ["--json x"]),
    ("history --range", ["A..B", "A..B --wait"], ["A", "A...B", "-A..B", "A..B --wait x"]),
    ("history --launches", ["6 --range A..B"], ["5 --range A..B", "1.5 --range A..B", "6"]),
    ("report FILE -o", ["FOLDER", "new"], ["FILE"]),
    ("report FILE --reference", ["FILE"], ["FOLDER", "nowhere.json"]),
    ("report FILE --prices", ["PRICES"], ["FOLDER", "FILE", "nowhere.csv"]),
    ("report FILE --licence", ["MIT", "CC-BY-4.0"], ["''", "'CC 0'"]),
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
]


@pytest.fixture(autouse=True)
def work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Mock:
    """Interrupt what a verb does once it knows what is asked."""
    monkeypatch.chdir(tmp_path)
    done = Mock(side_effect=KeyboardInterrupt)
    for name in ("run.runner.run", "run.pilot.collect", "fleet.fleet.measure", "doctor.examine"):
        monkeypatch.setattr(f"frobench.suite.{name}", done)
    others = ("suite.history.history.history", "suite.once.run_once", "reports.site.build.build")
    for name in others:
        monkeypatch.setattr(f"frobench.{name}", done)
    return done


def called(*words: object) -> Result:
    """Call the command in this process; its lines may be long."""
    return CliRunner().invoke(main, [*map(str, words)], terminal_width=200)


def takes(option: str, taken: list[str], refused: list[str]) -> None:
    """Call a verb in an empty folder with values that an option takes, and with others."""
    places = {"FOLDER": str(Path.cwd()), "PRICES": str(PRICES)}
    for name in ("FILE", "OTHER"):
        Path(name).touch()
    for right, values in ((True, taken), (False, refused)):
        for value in values:
            words = shlex.split(f"{option} {value}")
            shown = called(*(places.get(word, word) for word in words))
            assert (shown.exit_code != 2) is right, (value, shown.output)


@pytest.mark.parametrize(("option", "taken", "refused"), TAKEN, ids=lambda value: str(value)[:20])
def test_options_take_only_what_they_can(option: str, taken: list[str], refused: list[str]) -> None:
    takes(option, taken, refused)


def test_what_cannot_be_read_is_refused_by_the_verb_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    Path("FILE").touch()
    for words in ("validate FILE", "validate . FILE", "show FILE"):
        assert called(*words.split()).exit_code == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("compare FILE --purchase", "--purchase compares two runs, each with an environment"),
        ("compare FILE --across a", "--across compares two runs, each with an environment"),
        ("run --once x --launches 3 --peak", "measures nothing: leave out --launches, --peak"),
        ("run --trace x.json", "--trace is of the call that --once makes"),
        ("export FILE", "choose a format: --github-action-benchmark, --bencher, --openmetrics"),
        ("report --reference FILE", "--reference is for files that are compared with it"),
    ],
)
def test_a_wrong_use_is_told_what_is_wrong(words: str, told: str) -> None:
    Path("FILE").touch()
    assert told in called(*words.split()).stderr


APART = "no machines side by side: "
FEWER = f"{APART}fewer than two different whole runs were given as files"
BROKEN = "frobench: no page for what is not valid"


@pytest.mark.parametrize(
    ("words", "pages", "more"),
    [
        ("", 4, ["and 2 pages of earlier runs"]),
        ("results --reference a.json", 3, ["and 1 page of earlier runs", FEWER]),
        ("a.json", 2, []),
        ("a.json a.json", 2, [FEWER]),
        ("a.json b.json", 2, [f"{APART}alike"]),
        ("a.json b.json -o x", 2, ["machines side by side: x/purchase.html"]),
        ("a.json --figures", 2, ["figures: a-figures", "figures: b-figures"]),
        ("bad.json", 2, [BROKEN]),
    ],
)
def test_report_prints_two_pages_and_whether_it_compares_machines(
    work: Mock, monkeypatch: pytest.MonkeyPatch, words: str, pages: int, more: list[str]
) -> None:
    def build(paths: list[Path], *_: object, tell: Callable[..., None], **__: object) -> list[Path]:
        if Path("bad.json") in paths:
            tell(*paths, [])
        return [Path(f"{number}.html") for number in range(pages)]

    planted(Path(), dict.fromkeys(("results/c.json", "a.json", "b.json", "bad.json"), ""))
    work.side_effect = build
    made, refused = "purchase.html" in str(more), "alike" if "alike" in str(more) else ""
    maker = Mock(made=made, refused=refused)
    monkeypatch.setattr("frobench.reports.purchase.purchase.Maker", lambda *_: maker)
    figures = Mock(folders=[Path("a-figures"), Path("b-figures")])
    monkeypatch.setattr("frobench.reports.figures.files.Figures", lambda _: figures)
    shown = called("report", *words.split())
    assert shown.output.splitlines() == ["0.html", "1.html", *more]
    assert shown.exit_code == (BROKEN in more)
    beside = [maker, figures] if "--figures" in words else [maker]
    assert work.call_args.kwargs["beside"] == beside


def test_a_case_that_is_called_once_is_told_with_its_trace(work: Mock) -> None:
    called_once = Called(case="b.py::bench_x[cpu]", devices=["cpu", "cuda:0"], seconds=2e-3)
    work.configure_mock(side_effect=None, return_value=called_once)
    trace = "Trace, for https://ui.perfetto.dev or chrome://tracing: t.json"
    for words, more in ((["--wait", "--trace", "t.json"], [trace]), ([], [])):
        assert called("run", "--once", "x", *words).stdout.splitlines() == [
            "x[cpu]: called once on cpu and cuda:0, after the warm-up; its result is right.",
            "The call took 2 ms. This is no measurement: nothing is stored.",
            *more,
        ]
        assert (work.call_args.kwargs["waiting"] is not None) is bool(words)
    assert work.call_args.kwargs["seed"] == 0


def test_what_is_not_told_is_as_the_help_says(work: Mock, tmp_path: Path) -> None:
    here = tmp_path / "results"
    own: dict[str, Any] = {"results": here, "benchmarks": BENCHMARKS}
    history = HistoryRequest(**own, range="A..B", launches=10, paths=("a", "b"))  # type: ignore[arg-type] # as click has it
    for verb, told, asked in (
        ("run", ["standard", "results"], Request(**own)),
        ("list", ["standard", "results"], settings_for("standard", [])),
        ("doctor", ["results"], here),
        ("share", ["results"], None),
        ("fleet", ["standard", *FLEET], FleetRequest(results=here)),
        ("history --range A..B --path a --path b", ["standard", "10", "results"], history),
    ):
        helped = called(*verb.split(), "--help").stdout
        assert re.findall(r"\[default: ([^;\]]+)", helped) == told
        if asked is not None:
            called(*verb.split())
            assert work.call_args.args[0] == asked
    assert called("fleet").stderr.endswith("; every file that arrived is in results\n")
    Path("pyproject.toml").write_text("[tool.frobench]\nbudget = 5")
    called("run")
    assert work.call_args.args[0].budget == 5
    work.side_effect = HistoryInterrupted([Path("a.json"), Path("b.json")])
    stopped = called("history", "--range", "A..B")
    assert stopped.exit_code == 130
    assert stopped.stderr.endswith(", and no working tree is left; saved: a.json; saved: b.json\n")


def settings(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(f"[tool.frobench]\n{text}\n")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('resutls = "speed"', "resutls: no such setting; did you mean results?"),
        ("xyz = 1", "xyz: no such setting; there are benchmarks, budget, devices, "),
        ('launches = "6"', "launches: a whole number is expected"),
        ("launches = true", "launches: a whole number is expected"),
        ('budget = "1"', "budget: a number of seconds is expected"),
        ('profile = "fast"', 'profile: "quick", "standard" or "rigorous" is expected'),
        ('devices = "cpu"', 'devices: a list such as ["cpu", "cuda:0"] is expected'),
    ],
)
def test_what_is_no_setting_is_refused(tmp_path: Path, text: str, named: str) -> None:
    settings(tmp_path, text)
    refused = called("list")
    assert refused.exit_code == 2
    assert f"{tmp_path / 'pyproject.toml'}: [tool.frobench] {named}" in refused.stderr


@pytest.mark.parametrize("name", ["frobnech", "fobench"])
def test_a_table_whose_name_is_misspelt_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.{name}]")
    with pytest.raises(UsageError, match=rf"\[tool.{name}\]: did you mean \[tool.frobench\]\?$"):
        defaults("run")


def test_each_setting_is_the_default_of_an_option_and_a_path_is_relative(tmp_path: Path) -> None:
    host = json.dumps(socket.gethostname())
    one = f'budget = 60.5\ndevices = ["cpu", "cuda:0"]\nlabels.{host} = "mine"\nprofile = "quick"'
    two = 'benchmarks = "a"\nlaunches = 3\nproject = "b"\nresults = "c"'
    settings(tmp_path, f"{one}\n{two}")
    told = {"budget": 60.5, "devices": "cpu,cuda:0", "label": "mine", "profile": "quick"}
    paths = {"benchmarks": tmp_path / "a", "project": tmp_path / "b", "results": tmp_path / "c"}
    assert defaults("history") == {**told, **paths}
    assert defaults("run") == {**told, **paths, "launches": 3}


def test_an_option_comes_before_the_environment_and_that_before_the_table(
    work: Mock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = json.dumps(socket.gethostname())
    settings(tmp_path, f'profile = "rigorous"\nresults = "speed"\nlabels.{host} = "mine"')
    nothing = "no stored run in {}/; `frobench run` makes one\n"
    for results, options, profile in (
        (tmp_path / "speed", (), "rigorous"),
        ("other", (), "standard"),
        ("other", ("--profile", "quick"), "quick"),
    ):
        called("run", *options)
        request = work.call_args.args[0]
        assert (request.profile, request.label) == (profile, "mine")
        assert called("validate").stderr.endswith(nothing.format(results))
        monkeypatch.setenv("FROBENCH_PROFILE", "standard")
        monkeypatch.setenv("FROBENCH_RESULTS", "other")


def test_the_folders_of_a_project_are_found_from_any_folder_below_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("", "[tool", "[tool]\nfrobench = 3", "[tool.pytest]", "[tool]\nxyz = 3"):
        (tmp_path / "pyproject.toml").write_text(text)
        assert defaults("run") == {}
    settings(tmp_path, "")
    (tmp_path / "benchmarks").mkdir()
    assert defaults("run") == {"benchmarks": tmp_path / "benchmarks"}
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    found = {"benchmarks": tmp_path / "benchmarks", "results": tmp_path / "results"}
    assert defaults("run") == found
    with monkeypatch.context() as unreadable:
        unreadable.setattr(Path, "read_text", Mock(side_effect=PermissionError))
        assert defaults("run") == {}
    (tmp_path / "docs").rmdir()
    assert defaults("run") == {}
