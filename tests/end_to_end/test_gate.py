# SPDX-License-Identifier: MIT
"""What a program that waits for the exit code of a comparison is told, and why."""

import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner
from msgspec import UNSET

from frobench.command import main
from frobench.reports.compare import verdicts
from frobench.suite.compare.gate import exit_code, may_pass_again
from frobench.suite.compare.runs import compare_runs
from frobench.suite.errors import Interrupted
from frobench.suite.history.history import HistoryInterrupted
from frobench.suite.stored import store
from frobench.suite.stored.machine_identity import name_of
from frobench.suite.stored.types import Case, Conclusion, Project, Run
from frobench.suite.terminal import comparison as words
from frobench.suite.terminal import output
from tests.instruments.faults.judging import keep, made, put, resample, samples, set_samples
from tests.instruments.faults.spoiling import take

Spoil = Callable[[Run, Case], None]


def _case(run: Run, *, headline: bool = True) -> Case:
    return next(case for case in run.benchmarks if case.extra_info.headline is headline)


def _pair(spoil: Spoil, *, headline: bool = True) -> tuple[Run, Run]:
    """Return two runs of the same code, the second with a case spoiled."""
    base, new = made(seed=1), made(seed=2)
    spoil(new, _case(new, headline=headline))
    return base, new


def _fail(run: Run, *cases: Case) -> None:
    for case in cases:
        run.benchmarks.remove(case)
        outcome = next(one for one in run.frobench.outcomes if one.fullname == case.fullname)
        outcome.status, outcome.reason = "failed", "RuntimeError: out of luck"


def _drop(run: Run, case: Case) -> None:
    keep(run, lambda one: one is not case)


def _cut_short(_run: Run, case: Case) -> None:
    set_samples(case, [*samples(case)[:5], [], [], []])


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_fail, "failed there: RuntimeError: out of luck"),
        (_drop, "not selected there"),
        (lambda _, one: put(one, "extra_info.version", "new"), "another version of the benchmark"),
        (_cut_short, "fewer than 6 launches measured it"),
    ],
)
def test_a_case_that_is_not_compared_exits_3_if_it_leads(spoil: Spoil, reason: str) -> None:
    base, new = _pair(spoil)
    comparison = compare_runs(base, new)
    assert (exit_code(comparison), exit_code(comparison, allow_missing=True)) == (3, 0)
    name, hint = words.refusals(comparison)
    assert name.startswith(f"not compared, headline: {name_of(_case(base).fullname)}: {reason}")
    assert "--allow-missing" in hint
    assert words.refusals(comparison, allow_missing=True) == [name]
    of_no_lead = compare_runs(*_pair(spoil, headline=False))
    assert (exit_code(of_no_lead), words.refusals(of_no_lead)) == (0, [])


def _other_torch(new: Run) -> None:
    software = new.frobench.environment.software
    software.torch = software.packages["torch"] = "2.14.0"


FAILED = "59 of 60 cases failed in new"
TORCH = "software.torch differs, which moves numbers; to compare across that, add `--across soft"


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (lambda new: _fail(new, *new.benchmarks[1:]), "59 of 60 cases failed in new"),
        (_other_torch, TORCH),
    ],
)
def test_where_almost_nothing_is_compared_the_first_line_says_why_and_it_exits_3(
    spoil: Callable[[Run], None], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    base, new = made(seed=1), made(seed=2)
    put(base, "benchmarks.*.extra_info.headline", value=False)
    spoil(new)
    comparison = compare_runs(base, new)
    for as_json, allow_missing in product((False, True), repeat=2):
        code = verdicts.runs(base, new, comparison, as_json=as_json, allow_missing=allow_missing)
        told = capsys.readouterr()
        assert code == 3
        assert (told.err if as_json else told.out).startswith(f"cannot say: {line}")
        if as_json:
            assert (json.loads(told.out)["counts"], told.err.count("\n")) == (comparison.counts, 1)


def test_a_difference_that_is_the_question_makes_no_case_incomparable_and_any_other_does() -> None:
    base, new = made(seed=1), made(seed=2, slower=1.2)
    _other_torch(new)
    comparison = compare_runs(base, new, across=["software.torch"])
    assert (comparison.counts, comparison.differences) == ({"slower": len(base.benchmarks)}, [])
    assert words.of_runs(comparison)[0] == "compared across software.torch: 2.13.0 -> 2.14.0"
    assert exit_code(comparison) == 4
    new.frobench.environment.software.threads = 1
    comparison = compare_runs(base, new, across=["software.torch"])
    assert [each.fact for each in comparison.differences] == ["software.threads"]
    assert comparison.counts == {"incomparable": len(base.benchmarks)}


def _said(*arguments: object) -> tuple[int, str]:
    """Call the command in this process; return its exit code and what it prints."""
    shown = CliRunner().invoke(main, [*map(str, arguments)])
    return shown.exit_code, shown.output


def test_the_command_compares_across_facts_and_lets_cases_be_missing(tmp_path: Path) -> None:
    base, new = _pair(_drop)
    _other_torch(new)
    files = [store.write(run, tmp_path) for run in (base, new)]
    assert _said("compare", *files)[0] == 3
    across = ("compare", *files, "--across", "software.torch")
    code, shown = _said(*across)
    assert code == 3
    assert "not compared, headline: " in shown
    code, shown = _said(*across, "--allow-missing")
    assert code == 0
    assert "compared across software.torch: 2.13.0 -> 2.14.0" in shown


NO_COMMIT = "cannot measure again: the code of {} is no commit"


@pytest.mark.parametrize(
    ("code", "ends", "told"),
    [
        (None, 3, NO_COMMIT),
        (Project(), 3, NO_COMMIT),
        (Project(id="f" * 40, dirty=True), 3, NO_COMMIT),
        (Project(id="f" * 40), 130, "interrupted, and no working tree is left"),
    ],
)
def test_only_commits_are_measured_again_until_that_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: Project | None, ends: int, told: str
) -> None:
    history = Mock(side_effect=HistoryInterrupted([]))
    monkeypatch.setattr("frobench.suite.history.history.history", history)
    busy = Conclusion(code="busy-processor", severity="warning", message="", advice="")
    runs = [made(seed=1), made(seed=2)]
    for run, troubles in zip(runs, ([], [busy]), strict=True):
        run.frobench.troubles = troubles
        run.frobench.project = UNSET if code is None else code
    files = [store.write(run, tmp_path) for run in runs]
    assert "measure again" not in _said("compare", *files)[1]
    ended, shown = _said("compare", *files, "--retry", 1)
    assert ended == ends
    assert told.format(runs[0].frobench.run) in shown


def test_what_is_decided_is_not_measured_again(tmp_path: Path) -> None:
    base, new = made(seed=1), resample(made(seed=2), lambda launch: 3 ** (launch % 4), cases=1)
    files = [store.write(run, tmp_path) for run in (base, new)]
    assert may_pass_again(compare_runs(base, new))
    assert _said("compare", *files, "--retry", 1)[0] == 0


def _lose(run: Run, _: Case) -> None:
    run.frobench.launches[2].lost = "rank 1 ended"


def _fail_and_take_longer(run: Run, case: Case) -> None:
    _fail(run, case)
    take(_case(run), 3)


@pytest.mark.parametrize(
    ("spoil", "code", "of_run"),
    [
        (lambda *_: None, 0, 0),
        (lambda run, _: _other_torch(run), 3, 0),
        (_fail, 1, 1),
        (_lose, 1, 1),
        (_fail_and_take_longer, 4, 1),
    ],
)
def test_what_is_measured_is_told_before_the_path_and_slower_wins_over_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Spoil, code: int, of_run: int
) -> None:
    base, again = made(seed=1), made(seed=2)
    for outcome in again.frobench.outcomes:
        outcome.status = outcome.status.replace("failed", "skipped")  # type: ignore[assignment]
    spoil(again, _case(again))
    path = store.write(base, tmp_path)
    measure = Mock(return_value=(path, again))
    monkeypatch.setattr("frobench.suite.run.runner.run", measure)
    for verb, expected in ((["reproduce", str(path)], code), (["run"], of_run)):
        shown = CliRunner().invoke(main, verb)
        assert shown.exit_code == expected, shown.output
        assert shown.stdout.endswith(f"{output.shown(path)}\n")
        assert re.match(r"\n.*: (59|60) cases measured in 8 launches of", shown.stderr)
        assert " cases measured in " not in shown.stdout
        assert not measure.call_args.args[1].verbose
    assert shown.stdout.count("\n") == 1
    measure.side_effect = Interrupted(again.frobench.run, path)
    shown = CliRunner().invoke(main, ["run", "--verbose"])
    assert (shown.exit_code, shown.stdout) == (130, "")
    assert " cases measured in 8 launches of" in shown.stderr
    assert measure.call_args.args[1].verbose
