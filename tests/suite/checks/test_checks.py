# SPDX-License-Identifier: MIT
"""A run says what is wrong with it, a sound one is left in peace, and every code is explained."""

import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from frobench.suite import checks, profiles
from frobench.suite.checks import __main__, courses, noise, rule
from frobench.suite.checks import noise as noise_rules
from frobench.suite.stored import store
from tests.instruments.faults.judging import (
    codes,
    in_two_modes,
    made,
    set_samples,
    validate,
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


@pytest.mark.parametrize("path", stored_runs(), ids=lambda p: p.stem)
def test_the_runs_that_are_published_are_at_worst_noisy(path: Path) -> None:
    assert codes(checks.conclude(store.read(path))) <= FAILED | UNQUIET


def test_a_run_without_cases_can_be_judged() -> None:
    run = made()
    run.benchmarks, run.frobench.outcomes = [], []
    assert checks.conclude(run) == []


def test_a_run_says_at_once_what_would_make_its_file_invalid() -> None:
    run = made()
    run.benchmarks[0].stats.median /= 2
    found = checks.conclude(run)
    assert codes(found) == FAILED | {"statistics-differ"}


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


def test_a_noisy_run_is_a_valid_file(tmp_path: Path) -> None:
    run = made(noise=0.15)
    found = validate(run, tmp_path)
    assert "noisy-case" in codes(found)
    assert {one.severity for one in found} == {"warning"}


def test_validating_loads_nothing_heavy(tmp_path: Path) -> None:
    path = store.write(made(), tmp_path)
    said = f"checks.review(Path({str(path)!r}))"
    assert _loaded_by(f"print({{one.severity for one in {said}}} <= {{'info'}})") == set()


def test_concluding_loads_nothing_heavy(tmp_path: Path) -> None:
    run = made(noise=0.15)
    for number, case in enumerate(run.benchmarks):
        case.stats = store.case_stats([s * 1.1**number for s in case.stats.data], 1)
    path = store.write(run, tmp_path)
    loads = f"store.read(Path({str(path)!r}))"
    assert _loaded_by(f"print(checks.conclude({loads}) != [])") == set()


def _loaded_by(statement: str) -> set[str]:
    """Return which heavy modules a fresh process imports for a statement that prints True."""
    program = (
        f"import sys; from pathlib import Path; from frobench.suite import checks; "
        f"from frobench.suite.stored import store; {statement};"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    answer, *modules = done.stdout.split()
    assert answer == "True"
    return {"torch", "pytest", "numpy", "scipy", "pandas"} & set(modules)


# What a rule is


def test_a_code_stands_for_one_rule() -> None:
    assert [code for code, count in Counter(code for code, _ in RULES).items() if count > 1] == []


@pytest.mark.parametrize(("code", "function"), RULES, ids=[code for code, _ in RULES])
def test_every_rule_tells_the_user_what_it_means_and_what_to_do(
    code: str, function: rule.Rule
) -> None:
    assert code == code.lower()
    assert "_" not in code
    summary, _, _ = (function.__doc__ or "").partition("\n\n")
    assert summary.endswith(".")
    assert rule.advice(function).endswith(".")
    assert "\n" not in rule.advice(function)


def test_rules_are_found_by_being_written() -> None:
    assert {"noisy-case", "uneven-devices", "busy-runner"} <= rule.rules(noise).keys()


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


def test_the_module_prints_the_page() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "frobench.suite.checks"], capture_output=True, check=True, cwd=ROOT
    )
    assert done.stdout.decode() == __main__.page()


def test_the_thresholds_in_the_help_are_those_of_the_rules() -> None:
    assert f"{noise.WIDEST_SPREAD:.0%}" in str(noise.noisy_case.__doc__)
    assert f"{noise.WIDEST_INTERVAL:.0%} wide" in str(noise.noisy_case.__doc__)
    assert f"{noise.LEAST_BALANCE:.0%}" in str(noise.uneven_devices.__doc__)
    assert f"{courses.LEAST_CHANGE:.0%}" in str(noise_rules.drift.__doc__)
    assert f"{profiles.STEPS_ON_CPU} steps" in str(noise_rules.coarse_clock.__doc__)
    assert f"{noise_rules.COARSEST_STEP * 1e6:.0f} µs" in str(noise_rules.coarse_clock.__doc__)
    assert f"{noise_rules.LARGEST_COST:.0%}" in str(noise_rules.costly_harness.__doc__)
    assert math.isclose(1 / profiles.STEPS_ON_CPU, 0.01)


def test_a_conclusion_is_stored_with_its_run() -> None:
    run = made(launches=5)
    assert run.frobench.conclusions == checks.conclude(run)
    assert "few-launches" in codes(run.frobench.conclusions)
