# SPDX-License-Identifier: MIT
"""Workers have cores of their own and say when they worked; ranks wait for each other."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from signal import SIGKILL
from typing import Any, Literal
from unittest.mock import MagicMock

import msgspec
import pytest
import torch
import torch.distributed as dist

from frobench.suite.errors import DoesNotFitError, LostRankError
from frobench.suite.journal import Refused
from frobench.suite.kit import group as groups
from frobench.suite.kit import workers as kit
from frobench.suite.kit.device import Device
from frobench.suite.kit.group import LOOPBACK, Group
from frobench.suite.kit.lanes import Turns
from frobench.suite.kit.worker_commands import Task, backend_of
from frobench.suite.kit.worker_process import Seat
from frobench.suite.kit.workers import Worker, WorkerError, early_workers, halves, together
from frobench.suite.launch import entry, plugin
from frobench.suite.machine.host import affinity
from frobench.suite.measure.timed_loop import Sampler
from frobench.suite.plan import OPTION
from frobench.suite.profiles import settings_for
from frobench.suite.stored.types import Check
from tests.instruments.devices.virtual import VirtualClock
from tests.instruments.processes.alone import in_thread
from tests.instruments.sessions import launch_spec

FINE = Check("nothing", 0.0, 1.0)


def nothing() -> None: ...


def calling(_: Device, body: Callable[[], object]) -> Task:
    return body, (lambda _: FINE)


def raising(_: Device, error: Exception) -> Task:
    raise error


def drawn(device: Device) -> Task:
    return (lambda: device.uniform(3).tolist()), (lambda seen: Check(str(seen), 0.0, 1.0))


def counter(_: Device) -> Task:
    calls: list[str] = []

    def get_ready() -> None:
        time.sleep(0.2)
        calls.append("ready")

    def check(_: None) -> Check:
        return Check(" ".join(calls), 0.0, 1.0)

    return (lambda: calls.append("call")), check, get_ready


@contextmanager
def meeting(_: Device, number: int, folder: Path, broken: int | None = None) -> Iterator[Task]:
    mine = folder / f"worker {number}"
    mine.touch()
    if number == broken:
        raise DoesNotFitError("broken")
    deadline = time.monotonic() + 60
    while len(list(folder.iterdir())) < 2:
        if time.monotonic() > deadline:
            raise TimeoutError("nobody else came")
    yield Body(mine), (lambda _: FINE)
    if mine.exists():
        raise RuntimeError("the set-up ended before the body was gone")


class Body:
    """Removes a file when nothing holds it any more, which only a collection finds out."""

    def __init__(self, mine: Path) -> None:
        self._mine, self._itself = mine, self

    def __call__(self) -> None:
        """Do nothing."""

    def __del__(self) -> None:
        self._mine.unlink()


@pytest.fixture(scope="module")
def pair() -> Iterator[list[Worker]]:
    seats = [Seat(f"cpu/{number}", "cpu", (affinity()[0],)) for number in range(2)]
    pair = [Worker(seat, seed=1) for seat in seats]
    yield pair
    for worker in pair:
        worker.close()


@pytest.fixture
def worker(pair: list[Worker]) -> Worker:
    return pair[0]


def test_halves_are_equal_in_whole_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kit, "TOPOLOGY", f"{tmp_path}/{{}}")
    for core in range(6):
        (tmp_path / str(core)).write_text(f"{core % 3},{core % 3 + 3}")
    found = [halves(cores) for cores in ([0, 3], [0, 1, 2], [7, 8, 9, 10], [*range(6)])]
    parts = [((0,), (3,)), ((0,), (1,)), ((7, 8), (9, 10)), ((0, 3), (1, 4))]
    assert found == [[Seat("cpu/0", "cpu", one), Seat("cpu/1", "cpu", two)] for one, two in parts]


def test_an_interval_is_on_this_process_s_clock(worker: Worker) -> None:
    worker.set_up(calling, partial(time.sleep, 0.05))
    worker.arm()
    before = time.perf_counter()
    worker.start(2)
    begun, ended = worker.wait()
    assert before <= begun
    assert ended - begun >= 0.0999  # a little less than two sleeps: clocks are rounded
    assert ended <= time.perf_counter()
    assert worker.intervals() == [(begun, ended)]


def test_workers_that_take_turns_work_one_after_the_other(pair: list[Worker]) -> None:
    turns = Turns()
    for worker in pair:
        worker.set_up(calling, partial(time.sleep, 0.02))
        worker.arm(turns)
    for worker in pair:
        worker.start()
    for worker in pair:
        worker.wait()
    ((_, ended),), ((begun, _),) = (worker.intervals() for worker in pair)
    assert ended <= begun
    for worker in pair:
        worker.disarm()


def test_a_worker_takes_its_cores_and_says_what_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    bound, threads = MagicMock(), MagicMock()
    monkeypatch.setattr(os, "sched_setaffinity", bound, raising=False)
    monkeypatch.setattr(torch, "set_num_threads", threads)
    monkeypatch.setattr(os, "environ", {**os.environ})
    worker = Worker(Seat("cpu/0", "cpu", (3, 5)), start_process=in_thread)
    worker.set_up(calling, partial(int, "none"))
    worker.start()
    with pytest.raises(WorkerError, match=r"^worker cpu/0: ValueError: invalid lit") as caught:
        worker.wait()
    assert caught.value.brief == "worker cpu/0: ValueError"
    busy = RuntimeError("CUDA-capable devices are busy or unavailable")
    for error in (DoesNotFitError("full"), busy):
        with pytest.raises(DoesNotFitError, match=r"cpu/0: .*(full|busy or unavailable)$"):
            worker.set_up(raising, error)
    worker.close()
    assert (bound.call_args.args, threads.call_args.args) == ((0, (3, 5)), (2,))
    assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "2"


@pytest.mark.parametrize(("seconds", "waited"), [(7.0, "in 7 s"), (0.0, "in time")])
def test_a_silent_worker_is_given_up(seconds: float, waited: str) -> None:
    silent = MagicMock(**{"poll.return_value": False})
    worker = Worker(Seat("cpu/0", "cpu"), start_process=lambda *_: (silent, None))
    with pytest.raises(kit.LostWorkerError, match=f"^worker cpu/0 did not answer {waited}$"):
        worker.answer(seconds)


def test_a_task_draws_the_same_whatever_came_before(worker: Worker) -> None:
    seen = []
    for calls in (1, 2, 1):
        worker.set_up(drawn)
        worker.start(calls)
        worker.wait()
        seen.append(worker.check().compared)
    assert seen[0] == seen[2] != seen[1]


def test_what_comes_before_a_sample_is_no_part_of_it(worker: Worker) -> None:
    worker.set_up(counter)
    for _ in range(2):
        worker.get_ready()
        worker.start(2)
        begun, ended = worker.wait()
    assert worker.check().compared == "ready call call ready call call"
    assert ended - begun < 0.2


def test_joint_workers_set_up_at_once_and_take_no_turns(pair: list[Worker], tmp_path: Path) -> None:
    for worker in pair:
        worker.set_up(calling, nothing)
    assert all(worker.takes_turns(pair) for worker in pair)
    with together(pair, meeting, tmp_path):
        assert not any(worker.takes_turns(pair) for worker in pair)
        assert len(list(tmp_path.iterdir())) == 2
        for worker in pair:
            worker.start()
        for worker in pair:
            worker.wait()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(pytest.skip.Exception), together(pair, meeting, tmp_path):
        pytest.skip("it takes too long")
    assert list(tmp_path.iterdir()) == []
    pair[0].set_up(calling, nothing)
    assert pair[0].takes_turns(pair)


def test_if_one_worker_cannot_be_set_up_all_answer(pair: list[Worker], tmp_path: Path) -> None:
    context = together(pair, meeting, tmp_path, 0)
    with pytest.raises(DoesNotFitError, match="cpu/0: broken"), context:
        pass
    for worker in pair:
        worker.set_up(calling, nothing)


@pytest.mark.parametrize(("status", "away"), [(None, True), ("skipped", True), ("failed", False)])
def test_what_a_case_leaves_in_workers_is_put_away_unless_it_failed(
    monkeypatch: pytest.MonkeyPatch, status: Literal["failed", "skipped"] | None, *, away: bool
) -> None:
    put_away, request = MagicMock(), MagicMock(param="a+b")
    monkeypatch.setattr(plugin, "put_away", put_away)
    refused = status and Refused(launch=0, case="", status=status, reason="")
    request.node.stash[plugin.CASE].refused = refused
    (workers,) = vars(plugin.workers)["__wrapped__"](request)
    assert [one.args for one in put_away.call_args_list] == [(workers,)] * away


SLOW = 0.3
"""Seconds by which the last rank is later than the others."""


def last_is_slow(_: Device, rank: int) -> Task:
    """Return a body that takes the last rank a while, and the others no time."""

    def body() -> int:
        time.sleep(SLOW if rank == dist.get_world_size() - 1 else 0)
        return rank

    return body, lambda seen: Check(f"rank {rank} of {dist.get_world_size()}", abs(seen - rank), 0)


def summing(_: Device, rank: int) -> Task:
    numbers = torch.full((4,), float(rank + 1))
    return (lambda: dist.all_reduce(numbers)), lambda _: Check("nothing", 0.0, 0.0)


def suicidal(_: Device, rank: int, number: int) -> Task:
    """Return a body in which the second rank gets a signal while the first waits for it."""

    def body() -> None:
        if rank == 1:
            os.kill(os.getpid(), number)
        dist.barrier()

    return body, lambda _: Check("nothing", 0.0, 0.0)


@pytest.fixture
def ranks() -> Iterator[list[Worker]]:
    """Start two ranks, and end them."""
    workers = [Worker(Seat(f"rank {number} on node {number}", "cpu", (0,))) for number in range(2)]
    yield workers
    for worker in workers:
        worker.close()


def test_a_sample_ends_when_the_slowest_rank_has_ended(ranks: list[Worker]) -> None:
    group = Group(ranks, [LOOPBACK] * 2, 60.0)
    assert (len(group), backend_of("cpu")) == (2, "gloo")
    with group.task(last_is_slow) as body:
        sampler = Sampler(body, [])
        queued, took, _ = sampler.timed(2)  # by the clock of the first rank, which does not sleep
        assert queued == took > 1.5 * SLOW  # the last rank may begin a little earlier
        assert body.check().compared.endswith("of 2")
        assert sampler.part_medians()["barrier"] > 0
    with group.task(summing) as body:  # the same ranks go on with another task
        body()
    group.part()
    with group.task(summing) as body:  # and meet again
        body()
    with pytest.raises(WorkerError, match="TypeError") as caught, group.task(suicidal):
        pass  # it lacks its signal: nobody is lost by that
    assert not isinstance(caught.value, LostRankError)


class Timed(Group):
    """A group on whose clock a call takes a millisecond, and an empty sample ten."""

    def __init__(self) -> None:
        super().__init__([], [], 60.0)

    def timed(self, calls: int) -> tuple[float, float]:
        """Return when calls began and ended."""
        return 5.0, 5.01 + 1e-3 * calls

    def parts(self) -> dict[str, float]:
        """Return the seconds of a barrier."""
        return {"barrier": self.barrier()}


def test_a_sample_of_short_calls_outlasts_the_barrier_that_ends_it_twenty_times() -> None:
    settings = settings_for("quick", ["cpu"])
    record = Sampler(Timed(), [], clock=VirtualClock(cost=1e-3)).run(settings)
    assert record.iterations == 194  # with the empty sample's time 0.2 s
    assert record.parts["barrier"] == pytest.approx(0.01)


def test_ranks_are_waited_for_and_a_lost_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks: list[Any] = [MagicMock(**{"answer.return_value": number}) for number in range(3)]
    answered = MagicMock(side_effect=[[ranks[1]], [], [ranks[2]], [], ranks, ranks, ranks])
    monkeypatch.setattr(kit, "answered", answered)
    at = [7.0, 8.0, 60.0, 7.0, 7.0, 10.0]  # when each of two begins, and before each wait
    clock = MagicMock(side_effect=[*at, *[0.0] * 6])
    monkeypatch.setattr(groups, "monotonic", clock)
    group = Group(ranks, [LOOPBACK] * 3, 60.0)
    assert group.ask("check") == [0, 1, 2]
    group.ask("leave", deadline=10.0)
    waits = [one.args[1] for one in answered.call_args_list]
    assert waits == pytest.approx([0.8 * 60 - 1, 0.0, 0.8 * 10, 0.5 * 10 - 3])
    ranks[0].answer.side_effect = WorkerError("worker rank 0 gave up")
    ranks[1].answer.side_effect = DoesNotFitError("rank 1 is full")
    with pytest.raises(DoesNotFitError, match="rank 1"):
        group.ask("check")
    ranks[2].answer.side_effect = kit.LostWorkerError("worker rank 2 ended")
    with pytest.raises(LostRankError, match=r"^rank 2 ended$"):
        group.ask("check")
    ranks[1].answer.side_effect = ranks[2].answer.side_effect = None
    ranks[0].answer.side_effect = WorkerError("worker rank 0: ValueError: secret", "a ValueError")
    with pytest.raises(LostRankError, match=r"^a ValueError$"):
        group.timed(1)


def test_a_rank_that_ends_is_named_though_the_other_raises(ranks: list[Worker]) -> None:
    group = Group(ranks, [LOOPBACK] * 2, 60.0)
    message = "^rank 1 on node 1 ended with code -9$"
    with pytest.raises(LostRankError, match=message), group.task(suicidal, SIGKILL) as body:
        body()


SEATS = [Seat("cpu/0", "cpu", (0,)), Seat("cpu/1", "cpu", (1,))]


@pytest.mark.parametrize("halves", [True, False])
def test_a_launch_with_cases_on_halves_of_the_cpu_starts_their_workers_with_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, halves: bool
) -> None:
    monkeypatch.setattr(kit, "_early", {})
    monkeypatch.setattr(kit, "Worker", lambda seat, seed: (seat, seed))
    monkeypatch.setattr(kit, "halves", lambda _: SEATS)
    monkeypatch.setattr(kit, "_all", lambda *_: None)  # they answer at once
    file = tmp_path / "spec.json"
    spec = launch_spec("measure", order=["bench[cpu/0+cpu/1]" if halves else "bench[cpu]"])
    spec.plan.seed = 19
    file.write_bytes(msgspec.json.encode(spec))
    monkeypatch.setattr(sys, "argv", ["entry", "--quiet", f"{OPTION}={file}"])
    entry._start_workers()
    started: Any = early_workers()
    assert started == ({tuple(SEATS): [(seat, 19) for seat in SEATS]} if halves else {})
    started[()] = [late := MagicMock()]
    monkeypatch.setattr(kit, "_all", MagicMock(side_effect=[None] * halves + [WorkerError("late")]))
    assert (() in early_workers(), late.close.call_count) == (False, 1)
