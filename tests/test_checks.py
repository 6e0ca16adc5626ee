# SPDX-License-Identifier: MIT
"""A run says what is wrong with it, and a sound one is left in peace."""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from suite import checks, profiles, store
from suite.checks import failures, noise, rule, structure
from suite.model import Check, Conclusion, Outcome, Run
from tests import factory

RULES = {**rule.rules(failures), **rule.rules(noise), **rule.rules(structure)}


def codes(conclusions: list[Conclusion]) -> set[str]:
    return {conclusion.code for conclusion in conclusions}


def only(conclusions: list[Conclusion], code: str) -> Conclusion:
    (found,) = (conclusion for conclusion in conclusions if conclusion.code == code)
    return found


def resample(run: Run, factor: Callable[[int], float], cases: int | None = None) -> Run:
    """Multiply the samples of each launch, of the first so many cases."""
    for case in run.benchmarks[:cases]:
        numbers = [k for k, count in enumerate(case.extra_info.launches) for _ in range(count)]
        data = [s * factor(k) for s, k in zip(case.stats.data, numbers, strict=True)]
        case.stats = store.case_stats(data, case.stats.iterations)
    return run


# What a run says of itself


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("launches", [6, 8, 13])
def test_a_quiet_run_concludes_nothing_but_its_failures(seed: int, launches: int) -> None:
    run = factory.run(seed=seed, launches=launches, accelerators=1)
    assert codes(checks.conclude(run)) == {"failed-case"}


def test_a_failed_case_is_named_with_its_reason() -> None:
    found = [c for c in checks.conclude(factory.run()) if c.code == "failed-case"]
    assert [c.case for c in found] == [
        "benchmarks/bench_parameters.py::bench_write[cpu-1000000-rebuild]",
        "benchmarks/bench_parameters.py::bench_write[cpu-100000000-rebuild]",
    ]
    assert found[0].severity == "error"
    assert found[0].message == "RuntimeError: not enough memory to build the model twice"


def test_a_case_whose_launches_differ_too_much_is_untrustworthy() -> None:
    run = resample(factory.run(noise=0.001), lambda launch: 1.2 ** (launch % 2), cases=1)
    found = only(checks.conclude(run), "noisy-case")
    assert found.case == run.benchmarks[0].fullname
    assert found.message == "launches differ by 14%, wide interval: 2.8 µs [2.6, 3.1]"
    assert found.severity == "warning"


def test_differences_below_the_threshold_are_trusted() -> None:
    run = resample(factory.run(noise=0.001), lambda launch: 1.08 ** (launch % 2))
    assert "noisy-case" not in codes(checks.conclude(run))


def test_noise_shows_even_without_an_interval() -> None:
    run = resample(
        factory.run(launches=5, noise=0.001), lambda launch: 1.5 ** (launch % 2), cases=1
    )
    message = only(checks.conclude(run), "noisy-case").message
    assert message == "launches differ by 37%: 2.56 µs (no interval: 5 launches)"


def test_overlap_where_devices_work_in_turn_is_named() -> None:
    run = factory.run()
    control = next(case for case in run.benchmarks if "in_turn" in case.name)
    assert "overlap-in-turn" not in codes(checks.conclude(run))
    control.extra_info.parts["overlap"][3] = 0.3
    found = only(checks.conclude(run), "overlap-in-turn")
    assert found.case == control.fullname
    assert found.message == "overlap of 30% where there can be none"


def test_most_cases_of_a_noisy_machine_are_named() -> None:
    run = factory.run(noise=0.15)
    noisy = [c.case for c in checks.conclude(run) if c.code == "noisy-case"]
    assert len(noisy) == len(set(noisy)) > 0.9 * len(run.benchmarks)


def test_a_run_of_few_launches_says_so_once() -> None:
    found = only(checks.conclude(factory.run(launches=5)), "few-launches")
    assert found.case is None
    assert found.message == "5 launches, where an interval needs 6"


def test_an_interrupted_run_names_the_cases_that_lack_launches() -> None:
    run = factory.run(launches=6, partial=True)
    conclusions = checks.conclude(run)
    short = [c.case for c in conclusions if c.code == "few-launches"]
    assert short == [case.fullname for case in run.benchmarks[1::2]]
    assert only(conclusions, "incomplete-run").case is None


def test_an_interrupted_run_with_launches_enough_is_merely_incomplete() -> None:
    run = factory.run(launches=7, partial=True)
    assert codes(checks.conclude(run)) == {"failed-case", "incomplete-run"}


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (1.01, "the last launches were 6.2% slower than the first"),
        (0.99, "the last launches were 5.8% faster than the first"),
    ],
)
def test_a_machine_that_does_not_hold_its_speed_drifts(step: float, message: str) -> None:
    run = resample(factory.run(noise=0.001), lambda launch: step**launch)
    assert only(checks.conclude(run), "drift").message == message


def test_one_case_that_drifts_is_no_drift_of_the_machine() -> None:
    run = resample(factory.run(), lambda launch: 1.01**launch, cases=1)
    assert "drift" not in codes(checks.conclude(run))


def test_launches_that_jump_without_a_trend_are_no_drift() -> None:
    jumps = [1.0, 1.05, 0.98, 1.03, 1.06, 1.0, 1.04, 1.05]
    run = resample(factory.run(), lambda launch: jumps[launch])
    assert "drift" not in codes(checks.conclude(run))


def test_a_sample_shorter_than_the_clock_can_resolve_is_named() -> None:
    run = factory.run()
    info, seconds = run.benchmarks[0].extra_info, run.benchmarks[0].stats.max
    run.frobench.launches[3].timer_step = seconds * info.iterations[3] / 50
    (first, *_) = [c for c in checks.conclude(run) if c.code == "coarse-clock"]
    assert first.case == run.benchmarks[0].fullname
    assert first.message == "a sample lasts 50 steps of the clock"


def test_a_launch_whose_clock_is_unknown_is_not_judged_by_it() -> None:
    run = factory.run()
    for launch in run.frobench.launches:
        launch.timer_step = 0.0
    assert "coarse-clock" not in codes(checks.conclude(run))


def test_an_order_that_never_changes_is_named() -> None:
    run = factory.run()
    for place, case in enumerate(run.benchmarks, start=1):
        case.extra_info.order = [place] * 8
    found = only(checks.conclude(run), "fixed-order")
    assert found.message == f"{len(run.benchmarks)} cases came in the same order in all 8 launches"


def test_two_cases_may_come_in_the_same_order_by_chance() -> None:
    run = factory.run()
    del run.benchmarks[2:]
    for place, case in enumerate(run.benchmarks, start=1):
        case.extra_info.order = [place] * 8
    assert "fixed-order" not in codes(checks.conclude(run))


def test_a_run_without_cases_can_be_judged() -> None:
    run = factory.run()
    run.benchmarks = []
    assert codes(checks.conclude(run)) == {"failed-case"}


# Whether a stored file can be believed


def validate(run: Run, folder: Path) -> list[Conclusion]:
    """Validate a run as it is stored, sealed with its digest."""
    path = folder / "run.json"
    path.write_bytes(store.encode(run))
    return checks.validate(path)


@pytest.mark.parametrize("accelerators", [0, 1, 2])
@pytest.mark.parametrize("partial", [False, True])
def test_a_sound_file_has_no_fault(tmp_path: Path, accelerators: int, partial: bool) -> None:  # noqa: FBT001 - a parameter
    run = factory.run(accelerators=accelerators, partial=partial)
    assert checks.validate(store.write(run, tmp_path)) == []


def test_a_file_that_cannot_be_read_has_one_fault_with_its_place(tmp_path: Path) -> None:
    content = json.loads(store.encode(factory.run()))
    del content["benchmarks"][3]["stats"]["q3"]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(content))
    (found,) = checks.validate(path)
    assert (found.code, found.severity) == ("unreadable", "error")
    assert found.message == "$.benchmarks[3].stats.q3: the required field is missing"


def test_a_changed_sample_breaks_the_digest_and_the_statistics(tmp_path: Path) -> None:
    run = factory.run()
    path = tmp_path / "run.json"
    text = store.encode(run).decode()
    sample = f"{run.benchmarks[0].stats.data[0]:.6g}".replace("e-0", "e-")
    assert f'"data": [{sample},' in text
    path.write_text(text.replace(f'"data": [{sample},', '"data": [0.5,', 1))
    assert codes(checks.validate(path)) == {"digest-differs", "statistics-differ"}


def add_sample(run: Run) -> None:
    run.benchmarks[0].stats.data.append(run.benchmarks[0].stats.median)


def drop_warmup(run: Run) -> None:
    run.benchmarks[0].extra_info.warmup.pop()


def drop_part(run: Run) -> None:
    run.benchmarks[0].extra_info.parts["enqueue"].pop()


def lower_limit(run: Run) -> None:
    run.frobench.settings = type(run.frobench.settings)(
        profile="standard",
        longest_sample=0.2,
        case_seconds=0.1,
        budget=270.0,
        devices=["cpu"],
        most_samples=11,
    )


def speed_up(run: Run) -> None:
    run.benchmarks[0].stats.median /= 2


def stop_clock(run: Run) -> None:
    case = run.benchmarks[0]
    case.stats = store.case_stats([0.0, *case.stats.data[1:]], case.stats.iterations)


def repeat_case(run: Run) -> None:
    run.benchmarks.append(run.benchmarks[0])


def repeat_outcome(run: Run) -> None:
    run.frobench.outcomes.append(run.frobench.outcomes[0])


def drop_outcome(run: Run) -> None:
    del run.frobench.outcomes[0]


def drop_case(run: Run) -> None:
    del run.benchmarks[0]


def skip_measured(run: Run) -> None:
    run.frobench.outcomes[0].status = "skipped"
    run.frobench.outcomes[0].reason = "too long"


def fail_in_silence(run: Run) -> None:
    outcome = Outcome(fullname="x", group="matmul", params={}, status="failed", reason="")
    run.frobench.outcomes.append(outcome)


def be_wrong(run: Run) -> None:
    run.benchmarks[0].extra_info.check = Check("the product", error=0.5, bound=0.1)


def forget_question(run: Run) -> None:
    del run.frobench.exercises["parameters"]


def name_host(run: Run) -> None:
    run.machine_info["node"] = "johns-laptop"


@pytest.mark.parametrize(
    ("damage", "code", "message"),
    [
        (add_sample, "sample-count", "97 samples, 96 rounds, 96 in the launches"),
        (drop_warmup, "launch-count", "warmup has 7 entries for 8 launches"),
        (drop_part, "launch-count", "parts.enqueue has 7 entries for 8 launches"),
        (lower_limit, "sample-limit", "12 samples in a launch, where 11 are kept"),
        (speed_up, "statistics-differ", "median is 1.27541e-06, its samples say 2.55082e-06"),
        (stop_clock, "impossible-sample", "1 samples such as 0.0 s"),
        (repeat_case, "repeated-name", "2 cases have this name"),
        (repeat_outcome, "repeated-name", "2 outcomes have this name"),
        (drop_outcome, "outcome-missing", "has samples but no outcome"),
        (drop_case, "outcome-missing", "passed, but has no samples"),
        (skip_measured, "outcome-missing", "was skipped, but has samples"),
        (fail_in_silence, "reason-missing", "failed without a reason"),
        (be_wrong, "wrong-result", "error 0.5, bound 0.1"),
        (forget_question, "exercise-missing", "there is no exercise 'parameters'"),
        (name_host, "host-name", "machine_info.node is 'johns-laptop'"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused_by_name(
    tmp_path: Path, damage: Callable[[Run], None], code: str, message: str
) -> None:
    run = factory.run()
    damage(run)
    first, *_ = [found for found in validate(run, tmp_path) if found.code == code]
    assert (first.severity, first.message) == ("error", message)


@pytest.mark.parametrize(
    "text",
    [
        "OSError: /home/john/weights.pt",
        "PATH=/usr/bin:/home/john/bin",
        "(/tmp/pytest-of-john/x)",
        "file:///mnt/john/data",
        r"C:\Users\john",
        "john.doe@example.org",
        "link 9c:b6:d0:ee:11:22 is down",
        "GPU-6e0f3b60-2a4e-4c7c-9d5f-0a1b2c3d4e5f",
    ],
)
def test_what_names_a_person_or_a_machine_is_refused_with_its_place(
    tmp_path: Path, text: str
) -> None:
    run = factory.run()
    run.frobench.outcomes[5].reason = text
    found = only(validate(run, tmp_path), "private-text")
    assert found.message.startswith("$.frobench.outcomes[5].reason holds a")


@pytest.mark.parametrize(
    "text",
    [
        "12 GB/s and 3 GFLOP/s, read/write",
        "see https://pytorch.org/docs/stable",
        "benchmarks/bench_matmul.py::bench_square[cpu-16]",
        "/usr/local/cuda/lib64 and /dev/shm/x",
        "/pytorch/aten/src/ATen/native/Blas.cpp:12",
        "../aten/src/ATen/Context.cpp",
        "2026-01-01T12:00:00+00:00",
        "580.95.05, 9.10.2.21",
    ],
)
def test_what_names_nobody_is_allowed(tmp_path: Path, text: str) -> None:
    run = factory.run()
    run.frobench.outcomes[5].reason = text
    assert validate(run, tmp_path) == []


def test_validating_loads_nothing_heavy(tmp_path: Path) -> None:
    path = store.write(factory.run(), tmp_path)
    program = (
        "import sys; from pathlib import Path; from suite import checks;"
        f"print(checks.validate(Path({str(path)!r})), *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    faults, *modules = done.stdout.split()
    assert faults == "[]"
    assert not {"torch", "pytest", "numpy", "scipy", "pandas"} & set(modules)


# What a rule is


@pytest.mark.parametrize("code", RULES)
def test_every_rule_tells_the_user_what_it_means_and_what_to_do(code: str) -> None:
    assert code == code.lower()
    assert "_" not in code
    summary, _, _ = (RULES[code].__doc__ or "").partition("\n\n")
    assert summary.endswith(".")
    assert rule.advice(RULES[code]).endswith(".")
    assert "\n" not in rule.advice(RULES[code])


def test_rules_are_found_by_being_written() -> None:
    assert {"noisy-case", "drift", "fixed-order"} <= rule.rules(noise).keys()
    assert not {"estimate", "Fault", "fmean", "-medians"} & rule.rules(noise).keys()


def test_the_thresholds_in_the_help_are_those_of_the_rules() -> None:
    assert f"{noise.WIDEST_SPREAD:.0%}" in str(noise.noisy_case.__doc__)
    assert f"{noise.WIDEST_INTERVAL:.0%} wide" in str(noise.noisy_case.__doc__)
    assert f"{noise.LARGEST_DRIFT:.0%}" in str(noise.drift.__doc__)
    assert f"{profiles.STEPS_IN_A_SAMPLE} steps" in str(noise.coarse_clock.__doc__)
    assert math.isclose(1 / profiles.STEPS_IN_A_SAMPLE, 0.01)
