# SPDX-License-Identifier: MIT
"""The work of cases that nobody runs is what they declare when they run."""

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from frobench.suite.kit.device import Device
from frobench.suite.launch.collection import declared
from frobench.suite.machine import environment
from frobench.suite.profiles import settings_for
from frobench.suite.stored.types import Work
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load

SETTINGS = settings_for("standard", ["cpu"])
MODULE = '''
"""What is found out without running?"""

import torch

from frobench import Check, Device, Measure, Work, cases, needed

LOADED = []


def bench_size(measure: Measure, device: Device, n: int) -> None:
    a = device.uniform(n, n, dtype="float16")
    measure(lambda: a @ a, work=Work(bytes=3 * a.nbytes), check=truth(a))


def bench_set_up(measure: Measure, device: Device, n: int) -> None:
    numbers = load(n)
    with needed("luck"):
        numbers += load(n)
        steps = n
    measure(lambda: numbers, work=work(steps), check=truth(numbers))


def bench_parts(measure: Measure, device: Device, n: int) -> None:
    parts = []
    for size in range(n):
        parts.append(device.uniform(size))
    measure(lambda: parts, work=Work(items=len(parts)), check=truth(parts))


def bench_helped(measure: Measure, device: Device, n: int) -> None:
    measure_twice(measure, 2 * n)


def bench_where(measure: Measure, device: Device, n: int) -> None:
    other = Device(device.name)
    measure(load, work=Work(bytes=n if other.is_accelerator else None, items=1), check=truth)


def bench_together(measure: Measure, devices: list[Device], n: int) -> None:
    measure(load, work=Work(items=n * len(devices)), check=truth)


def bench_computed(measure: Measure, device: Device, n: int) -> None:
    largest = (device.uniform(n) * 2).max().item()
    measure(load, work=Work(items=largest), check=truth)


def measure_twice(measure: Measure, n: int) -> None:
    numbers = load(n)
    measure(lambda: numbers, work=work(n), check=truth(numbers))


def work(items: int) -> Work:
    return Work(items=items)


def load(n: int) -> list[int]:
    LOADED.append(n)
    return [n]


def truth(numbers: object) -> None:
    raise RuntimeError("takes an hour")
'''


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "machine", lambda _: ("here", "0123"))  # which takes a while


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("declared") / "bench_declared.py"
    path.write_text(MODULE, "utf-8")
    return load(path)


def item(
    module: ModuleType,
    function: str,
    skip: pytest.MarkDecorator | None = None,
    **params: Any,  # noqa: ANN401
) -> pytest.Function:
    """Return what stands for a case as pytest collects it."""
    mark = skip.mark if skip else None
    stand_in = SimpleNamespace(
        nodeid=function,
        module=module,
        function=getattr(module, function),
        callspec=SimpleNamespace(params=params),
        get_closest_marker=lambda _: mark,
    )
    return cast("pytest.Function", stand_in)


def work(module: ModuleType, function: str, **params: Any) -> Work | None:  # noqa: ANN401
    return declared([item(module, function, **params)], SETTINGS).works.get(function)


def test_the_size_of_a_tensor_is_known_without_its_memory(module: ModuleType) -> None:
    n = 2**20
    assert work(module, "bench_size", device="cpu", n=n) == Work(bytes=3 * 2 * n**2)


def test_nothing_is_set_up_or_checked_that_the_work_does_not_need(module: ModuleType) -> None:
    assert work(module, "bench_set_up", device="cpu", n=3) == Work(items=3)
    assert work(module, "bench_helped", device="cpu", n=3) == Work(items=6)
    assert module.LOADED == []


def test_what_is_gathered_is_counted(module: ModuleType) -> None:
    assert work(module, "bench_parts", device="cpu", n=4) == Work(items=4)


def test_accelerators_are_known_by_their_names_alone(module: ModuleType) -> None:
    assert work(module, "bench_where", device="cuda:0", n=4) == Work(bytes=4, items=1)
    assert work(module, "bench_where", device="cpu", n=4) == Work(items=1)
    assert work(module, "bench_together", devices="cuda:0+cuda:1+cuda:2", n=4) == Work(items=12)


def test_work_that_has_to_be_computed_is_unknown(module: ModuleType) -> None:
    assert work(module, "bench_computed", device="cpu", n=4) is None


@pytest.mark.parametrize(
    ("skip", "reason"),
    [
        (pytest.mark.skip(reason="no accelerator"), "no accelerator"),
        (pytest.mark.skip("no time"), "no time"),
        (pytest.mark.skip(), "skipped"),
    ],
)
def test_a_case_that_no_device_can_run_has_a_reason_and_no_work(
    module: ModuleType, skip: pytest.MarkDecorator, reason: str
) -> None:
    found = declared([item(module, "bench_size", skip, device="none", n=1)], SETTINGS)
    assert found.works == {}
    assert found.absent == {"bench_size": reason}


def test_devices_are_what_they_were_afterwards(module: ModuleType) -> None:
    work(module, "bench_size", device="cpu", n=1)
    drawn = Device("cpu").uniform(3).cpu()
    assert (drawn.device.type, drawn.count_nonzero().item()) == ("cpu", 3)


@pytest.mark.parametrize(
    ("exercise", "function", "params"),
    [
        ("matmul", "bench_square", {"n": 64, "dtype": "bfloat16"}),
        ("matmul", "bench_oblong", {"rows": 64, "inner": 16, "columns": 8}),
        ("norm_logging", "bench_item", {"steps": 10}),
        ("norm_logging", "bench_launch_only", {"steps": 10}),
        ("norm_logging", "bench_read_ready", {"steps": 10}),
        ("parameters", "bench_read_scalar", {"parameters": 1_000_000}),
        ("parameters", "bench_write_copy", {"parameters": 1_000_000}),
        ("copies", "bench_within", {"size": 4096}),
        ("copies", "bench_numpy", {"size": 4096}),
        ("copies", "bench_print", {"size": 4}),
    ],
)
def test_it_is_the_work_that_the_case_declares_when_it_runs(
    exercise: str, function: str, params: dict[str, Any]
) -> None:
    path = Path(BENCHMARKS / f"bench_{exercise}.py")
    recorder = Recorder()
    getattr(load(path), function)(recorder, Device("cpu"), **params)
    assert work(load(path), function, device="cpu", **params) == recorder.work
