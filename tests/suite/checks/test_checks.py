# SPDX-License-Identifier: MIT
"""A run says what is wrong with it, a sound one is left in peace, and every code is explained."""

from pathlib import Path

import pytest

from frobench.suite import checks
from frobench.suite.checks import __main__, rule
from frobench.suite.stored import store
from tests.instruments.faults.judging import (
    codes,
    in_two_modes,
    made,
    set_samples,
    validate_file,
)
from tests.instruments.processes.project_files import stored_runs
from tests.instruments.runs import factory

ROOT = Path(__file__).parents[3]
MODULES = checks.ALL
RULES = [(code, function) for module in MODULES for code, function in rule.rules(module).items()]
UNQUIET = {"noisy-case", "drift", "few-launches"}
"""What may rightly be said of a machine that is shared, or not given the time."""
FAILED = {"failed-case"}
"""The factory lets a case fail."""


# What a run says of itself


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("launches", [6, 13])
@pytest.mark.parametrize("accelerators", [0, 2])
def test_a_quiet_run_concludes_nothing_but_its_failures(
    seed: int, launches: int, accelerators: int
) -> None:
    run = factory.run(seed=seed, launches=launches, accelerators=accelerators)
    assert codes(checks.conclude(run)) == FAILED


@pytest.mark.parametrize("launches", [1, 2, 3, 6, 9])
@pytest.mark.parametrize("noise", [0.001, 0.03, 0.15])
def test_a_machine_in_two_modes_is_noisy_and_no_more(launches: int, noise: float) -> None:
    run = factory.run(
        seed=launches, launches=launches, accelerators=2, noise=noise, profile="quick"
    )
    found = codes(checks.conclude(in_two_modes(run, 1.6, launches)))
    assert found <= FAILED | UNQUIET | {"near-peak"}  # so much noise carries products beyond it


def test_the_runs_that_are_published_are_at_worst_noisy() -> None:
    for path in stored_runs():
        assert codes(checks.conclude(store.read(path))) <= FAILED | UNQUIET, path


def test_a_run_without_cases_can_be_judged() -> None:
    run = made()
    run.benchmarks, run.frobench.outcomes = [], []
    assert checks.conclude(run) == []


def test_a_case_with_impossible_samples_is_not_judged_further() -> None:
    run = made()
    broken, whole = run.benchmarks[:2]
    for case in (broken, whole):
        case.extra_info.idle_devices = ["cpu"]
    set_samples(broken, [[0.0] * 3] * 8)
    found = [c for c in checks.conclude(run) if c.case in {broken.fullname, whole.fullname}]
    assert [(c.code, c.case) for c in found] == [
        ("out-of-bounds", broken.fullname),
        ("idle-device", whole.fullname),
    ]


# Whether a stored file can be believed


@pytest.mark.parametrize("accelerators", [0, 1, 2])
@pytest.mark.parametrize("partial", [False, True])
def test_a_sound_file_has_no_fault(tmp_path: Path, accelerators: int, partial: bool) -> None:  # noqa: FBT001 - a parameter
    run = made(accelerators=accelerators, partial=partial)
    found = validate_file(store.write(run, tmp_path))
    assert codes(found) == ({"incomplete-run"} if partial else set())


# What a rule is


def test_every_module_of_rules_is_applied() -> None:
    folder = Path(rule.__file__).parent
    modules = {
        path.stem for path in folder.rglob("*.py") if "\nSEVERITY: " in path.read_text("utf-8")
    }
    assert modules == {module.__name__.rpartition(".")[2] for module in MODULES}


@pytest.mark.golden
def test_the_page_of_codes_is_that_of_the_rules() -> None:
    committed = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
    assert committed == __main__.page(), (
        "`python -m frobench.suite.checks > docs/checks.md` writes it anew"
    )


def test_the_page_explains_every_code_that_there_is() -> None:
    page = __main__.page()
    for code in [*(code for code, _ in RULES), "unreadable"]:
        assert page.count(f"\n### `{code}`\n") == 1
