# SPDX-License-Identifier: MIT
"""Which devices and groups a benchmark gets, and what a process that measured is left with."""

import json
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from frobench.suite.kit.cases import cases, cpu_twins, on_one_machine
from frobench.suite.launch.collection import group_sizes, parametrize
from frobench.suite.launch.process_state import ProcessState
from frobench.suite.nodes.rendezvous import Meeting, Node
from frobench.suite.profiles import settings_for
from frobench.suite.stored.machine_identity import ranks_of
from frobench.suite.stored.types import ProfileName, Settings
from tests.instruments.processes.alone import copied, run_pytest

SIZES = {0: [], 1: [], 2: [2], 3: [2, 3], 4: [2, 4], 6: [2, 4, 6], 8: [2, 4, 8], 9: [2, 4, 8, 9]}


@pytest.mark.parametrize(("accelerators", "sizes"), SIZES.items())
def test_groups_are_of_two_of_all_or_of_powers_between(accelerators: int, sizes: list[int]) -> None:
    assert group_sizes(accelerators, "rigorous") == sizes
    few = sorted({*sizes[:1], *sizes[-1:]})
    assert group_sizes(accelerators, "quick") == group_sizes(accelerators, "standard") == few


def collected(
    fixtures: list[str], settings: Settings, *marks: pytest.MarkDecorator
) -> tuple[list[str], list[Any]]:
    """Return of what a benchmark gets values, and these with their marks."""

    def bench_square() -> None: ...

    found: list[Any] = []
    markers = lambda name: (one.mark for one in marks if one.name == name)  # noqa: E731 - short
    metafunc: Any = SimpleNamespace(
        fixturenames=["measure", *fixtures],
        function=bench_square,
        definition=SimpleNamespace(iter_markers=markers),
        parametrize=lambda *given, **_: found.extend(given),
    )
    parametrize(metafunc, settings)
    axes, rows = found or ([], [])
    return axes, [*rows]


def places(
    where: str,
    devices: list[str],
    profile: ProfileName = "standard",
    *declared: pytest.MarkDecorator,
) -> dict[str, list[str]]:
    """Return the precisions that a benchmark gets on each place, and `none` with its reason."""
    marks = cases("quick", dtype=["float32", "bfloat16"]), *declared
    _, rows = collected([where, "dtype"], settings_for(profile, devices), *marks)
    precisions: dict[str, list[str]] = {}
    for row in rows:
        for mark in row.marks:
            precisions["reason"] = [*mark.args]
        precisions.setdefault(row.values[0], []).append(row.values[1])
    return precisions


ONE, BOTH = ["float32"], ["float32", "bfloat16"]


@pytest.mark.parametrize(
    ("declared", "left"),
    [
        ([], BOTH),
        ([cpu_twins()], []),
        ([cpu_twins(bench_other={})], []),
        ([cpu_twins(bench_square={})], BOTH),
        ([cpu_twins(bench_square={"dtype": ONE})], ONE),
    ],
)
def test_beside_an_accelerator_the_cpu_has_the_cases_that_an_answer_compares(
    declared: list[pytest.MarkDecorator], left: list[str]
) -> None:
    beside = places("device", ["cpu", "cuda:0"], "standard", *declared)
    assert (beside.get("cpu", []), beside["cuda:0"]) == (left, BOTH)
    assert places("device", ["cpu"], "standard", *declared) == {"cpu": BOTH}
    assert places("device", ["cpu", "cuda:0"], "rigorous", *declared)["cpu"] == BOTH


NODES = Meeting([Node("10.0.0.1", 0, "", "", "", "")] * 6)


@pytest.mark.parametrize(
    ("devices", "groups"),
    [
        (["cpu"], ["cpu/2x1", "cpu/4x1", "cpu/6x1"]),
        (["cpu", "cuda:0", "cuda:1"], ["cuda/1x2", "cuda/2x2", "cuda/4x2", "cuda/6x2"]),
    ],
)
def test_nodes_that_measure_together_form_groups_of_powers_of_two_and_of_all(
    devices: list[str], groups: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Meeting, "here", classmethod(lambda _: NODES))
    assert places("group", devices, "quick") == dict.fromkeys(groups, BOTH)
    assert "cuda/1x2" not in places("workers", devices)
    each = max(1, len(devices) - 1)
    assert [ranks_of(group) for group in groups[-2:]] == [4 * each, 6 * each]


@pytest.mark.parametrize(("profile", "left"), [("quick", []), ("standard", ONE), ("rigorous", ONE)])
def test_halves_of_a_cpu_have_few_cases_of_groups_and_accelerators_all(
    profile: ProfileName, left: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frobench.suite.launch.collection.cores_in_use", lambda: 2)
    declared = on_one_machine(bench_square={"dtype": ONE})
    halves = places("group", ["cpu"], profile, declared)
    assert halves == ({"cpu/0+cpu/1": left} if left else {})
    both = places("group", ["cpu", "cuda:0", "cuda:1"], profile, declared)
    assert both == {"cuda:0+cuda:1": BOTH}
    assert places("workers", ["cpu"], profile, declared) == {"cpu/0+cpu/1": BOTH}


def test_a_benchmark_that_asks_for_no_device_has_its_cases_on_the_cpu() -> None:
    words = cases("quick", words=[10, 100])
    axes, rows = collected(["words"], settings_for("quick", ["cpu"]), words)
    assert axes == ["words"]
    made: list[Any] = [((10,), "10", []), ((100,), "100", [])]
    assert [(row.values, row.id, row.marks) for row in rows] == made
    _, rows = collected(["words"], settings_for("quick", ["cuda:0"]), words)
    reasons = [mark.args for row in rows for mark in row.marks]
    assert reasons == [("the CPU is not measured",)] * 2


BENCHMARKS = """from frobench import cases

@cases("quick", n=[1, 2])
def bench_asserts_later(measure, n):
    measure(lambda: None)
    assert n == 1
"""


def test_a_case_that_fails_after_its_timing_shows_no_time(tmp_path: Path) -> None:
    path, file = copied(tmp_path) / "bench_later.py", tmp_path / "out.json"
    path.write_text(BENCHMARKS, "utf-8")
    run = run_pytest(path, "--frobench-profile", "quick", "--benchmark-json", file)
    assert run.returncode == 1, run.stdout
    shown = json.loads(file.read_text("utf-8"))["benchmarks"]
    assert [case["name"] for case in shown] == ["bench_asserts_later[1]"]


def test_an_alarm_and_a_handler_that_a_case_leaves_are_gone_before_the_next() -> None:
    before = ProcessState()
    signal.signal(signal.SIGUSR1, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 1000)
    before.silence()
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL


def test_clocks_that_are_replaced_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ProcessState()
    monkeypatch.setattr(time, "monotonic", time.time)
    monkeypatch.setattr(time, "perf_counter", time.time)
    assert before.changes() == ["time.monotonic", "time.perf_counter"]


@pytest.mark.parametrize(("pause", "named"), [(0.0, ["a thread still at work"]), (60.0, [])])
def test_a_thread_at_work_is_named_and_a_waiting_one_is_not(pause: float, named: list[str]) -> None:
    before, over = ProcessState(), threading.Event()

    def work() -> None:
        while not over.wait(pause):
            sum(range(1000))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert before.changes() == named
    finally:
        over.set()
        thread.join()
