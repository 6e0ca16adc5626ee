# SPDX-License-Identifier: MIT
"""Steps on shares of a batch are counted and checked, and processes leave nothing behind."""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType, SimpleNamespace
from unittest.mock import Mock

import pytest
from torch import distributed

from frobench.suite.kit.device import Device
from frobench.suite.kit.worker_process import Seat
from frobench.suite.kit.workers import Worker
from frobench.suite.stored.types import Check
from tests.benchmarks.calls import CPU, called
from tests.instruments.processes.alone import BENCHMARKS, Recorder, in_thread

pytestmark = pytest.mark.long
SIZE, BATCH = "small", 64


@pytest.fixture(scope="module")
def sharing() -> Iterator[ModuleType]:
    """Import it so that workers can, too."""
    before = {*sys.modules}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield import_module("sharing")
    for name in {"sharing", "training", "several", "bench_data_parallel"} - before:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def pair(
    sharing: ModuleType,  # noqa: ARG001 - which they must be able to import
) -> Iterator[list[Worker]]:
    pair = [Worker(Seat("cpu/0", "cpu")), Worker(Seat("cpu/1", "cpu"), start_process=in_thread)]
    yield pair
    for worker in pair:
        worker.close()


@pytest.mark.parametrize(("batch", "at_work"), [(1, 1), (5, 3), (7, 4), (64, 4)])
def test_all_devices_come_to_the_same_however_the_batch_is_shared(batch: int, at_work: int) -> None:
    check = called("data_parallel.by_hand", batch=batch).check
    assert check.passed
    assert f"on {at_work} of 4 devices" in check.compared


@pytest.mark.parametrize("batch", [1, BATCH])
def test_processes_take_a_step_together_and_leave_no_group_behind(
    pair: list[Worker], batch: int
) -> None:
    recorder = Recorder()
    import_module("bench_data_parallel").bench_distributed(recorder, pair, SIZE, batch)
    check = recorder.check
    assert check.passed
    assert f"on {min(batch, 2)} of 2 devices" in check.compared
    for worker in pair:
        worker.set_up(groups)
        worker.start()
        worker.wait()
        assert worker.check().compared == "False"


def test_steps_end_when_a_device_is_done(
    sharing: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = Mock()
    monkeypatch.setattr(Device, "synchronize", wait)
    store = sharing.meeting_point([SimpleNamespace(seat=Seat("cpu", "cpu"))])
    alone = sharing.in_worker(CPU, SIZE, BATCH)
    with sharing.in_group(CPU, 0, sharing.Group(1, store.port), SIZE, BATCH) as member:
        for body, _, _ in (alone, member):
            wait.reset_mock()
            body()
            wait.assert_called_once()
        del member, body


def test_where_no_backend_serves_that_is_the_reason(sharing: ModuleType) -> None:
    nowhere = SimpleNamespace(seat=Seat("meta:0", "meta"))
    with pytest.raises(pytest.skip.Exception, match="no backend for a group of processes here"):
        sharing.meeting_point([nowhere])


def groups(_: Device) -> tuple[Callable[[], bool], Callable[[bool], Check]]:
    """Return, in a worker, what tells whether it is still a member of a group."""
    return distributed.is_initialized, lambda member: Check(str(member), 0.0, 1.0)
