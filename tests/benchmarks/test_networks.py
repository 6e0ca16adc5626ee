# SPDX-License-Identifier: MIT
"""What ranks exchange is right, and an operation that does nothing does not pass."""

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from pathlib import Path
from unittest.mock import MagicMock, Mock

import pytest
import torch
import torch.distributed as dist

from frobench.suite.kit.device import Device
from frobench.suite.kit.group import LOOPBACK, Group
from frobench.suite.kit.worker_commands import Task
from frobench.suite.kit.worker_process import Seat
from frobench.suite.kit.workers import Worker
from frobench.suite.stored.types import Work
from tests.benchmarks.calls import CPU
from tests.instruments.processes.alone import BENCHMARKS, in_thread, load, run_pytest
from tests.instruments.processes.command import ROOT

OPERATIONS = {
    "all_reduce": "all_reduce",
    "all_gather": "GATHER",
    "reduce_scatter": "SCATTER",
    "broadcast": "broadcast",
    "all_to_all": "all_to_all_single",
    "round_trip": "send recv",
    "neighbours": "batch_isend_irecv",
}
"""Operations of ranks, and what each calls."""


def operation(device: Device, rank: int, name: str, size: int, lacking: str = "") -> Task:
    """Return an operation; what it lacks does nothing."""
    networks = import_module("networks")  # which the workers find

    body, check = getattr(networks, name)(device, rank, size)

    def lame() -> object:
        with pytest.MonkeyPatch.context() as patch:
            for call in lacking.split():
                home = networks if call.isupper() else dist
                patch.setattr(home, call, lambda *_: [Mock(), Mock()])
            return body()

    return (lame if lacking else body), check


@pytest.fixture(scope="module")
def group() -> Iterator[Group]:
    """Start three ranks that find the benchmarks; the last one is a thread of this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        patch.setenv("GLOO_SOCKET_IFNAME", "lo")
        ranks = [Worker(Seat(f"rank {number}", "cpu", (0,))) for number in range(2)]
        ranks.append(Worker(Seat("rank 2", "cpu"), start_process=in_thread))
        group = Group(ranks, [LOOPBACK] * 3, 120.0)
        yield group
        group.part()
        for rank in ranks:
            rank.close()
    for name in {"networks", "steps", "stages", "decoders"} & {*sys.modules}:
        del sys.modules[name]


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("size", [8, 1000])
def test_every_rank_gets_what_it_should(group: Group, name: str, size: int) -> None:
    with group.task(operation, name, size) as body:
        body.timed(2)
        check = body.check()
        assert check.passed
        assert check.bound == (1e-5 if name in {"all_reduce", "reduce_scatter"} else 0)
        assert "barrier" in body.parts()
        assert ("to_rank_2" in body.parts()) == (name == "neighbours")


@pytest.mark.parametrize(("split", "sent"), [(False, 4), (True, 16)])
def test_a_message_has_its_size_and_only_a_split_one_a_number_for_every_rank(
    monkeypatch: pytest.MonkeyPatch, *, split: bool, sent: int
) -> None:
    monkeypatch.setattr(dist, "get_world_size", lambda: 4)
    networks = load(BENCHMARKS / "networks.py")
    assert networks.Numbers(CPU, 4, split=split).of(0).nbytes == sent


@pytest.mark.parametrize(
    ("function", "size", "moved"),
    [
        ("all_reduce", 8000, 2 * 3 / 4 * 8000),
        ("send_receive", 8000, 2 * 8000),
        ("all_gather", 8000, 3 / 4 * 8000),
        ("all_gather", 8, 3 / 4 * 4 * 4),  # at least a number of each
        ("reduce_scatter", 8000, 3 / 4 * 8000),
        ("broadcast", 8000, 8000),
        ("all_to_all", 8000, 3 / 4 * 8000),
        ("neighbours", 8000, 8000),
    ],
)
def test_bytes_are_those_that_the_link_of_each_of_four_ranks_must_carry(
    function: str, size: int, moved: float
) -> None:
    measure, group = Mock(), MagicMock()
    group.__len__.return_value = 4
    module = load(BENCHMARKS / "bench_collectives.py")
    getattr(module, f"bench_{function}")(measure, group=group, size=size)
    assert measure.call_args.kwargs["work"] == Work(bytes=moved, path="network")


WEIGHTS = 12 * 128**2
"""Of the products of a layer."""


@pytest.mark.parametrize(
    ("call", "given", "needed"),
    [
        ("networks.all_reduce", (8,), 4 * 8),
        ("steps.step", (128, 16, "alone", "weak"), 4 * (10 * WEIGHTS + 30 * 16 * 128)),
        ("steps.step", (128, 16, "alone", "strong"), 4 * (10 * WEIGHTS + 30 * 4 * 128)),
        ("steps.step", (128, 3, "alone", "strong"), 4 * (10 * WEIGHTS + 30 * 1 * 128)),
        ("steps.step", (128, 0, "exchange", "weak"), 4 * 2 * (WEIGHTS + 2 * 128)),
        ("stages.pipeline", (128, 4, "alone"), 4 * 5 * 4 * WEIGHTS),
    ],
)
def test_each_of_four_ranks_wants_as_much_memory_as_it_takes(
    monkeypatch: pytest.MonkeyPatch, call: str, given: tuple[object, ...], needed: int
) -> None:
    wanted: list[float] = []
    monkeypatch.setattr(dist, "get_world_size", lambda: 4)
    monkeypatch.setattr(Device, "require", lambda _, nbytes: wanted.append(nbytes))
    home, _, function = call.partition(".")
    body, _ = getattr(load(BENCHMARKS / f"{home}.py"), function)(CPU, 1, *given)
    assert max(wanted) == needed
    if "alone" in given:
        body()  # without any exchange


@pytest.mark.parametrize("name", [*OPERATIONS][1:])  # the check of the first calls it again
def test_an_operation_that_moves_nothing_does_not_pass(group: Group, name: str) -> None:
    with group.task(operation, name, 1000, OPERATIONS[name]) as body:
        body()
        assert not body.check().passed


def training(device: Device, rank: int, spoilt: int, call: str, *given: object) -> Task:
    """Return a step of training, or a batch through a pipeline; a spoilt rank has no gradients."""
    for name in ("steps", "stages"):
        sys.modules.pop(name, None)  # another test may have spoilt it
    home, _, function = call.partition(".")
    module = import_module(home)
    body, check = getattr(module, function)(device, rank, 128, *given)
    if rank == spoilt:
        module.gradient_of = torch.zeros_like  # type: ignore[attr-defined]
    return body, check


@pytest.mark.parametrize(
    "call",
    [
        *product(["steps.step"], [128], ["alone", "ddp", "fsdp", "exchange"], ["weak", "strong"]),
        *(("stages.pipeline", micro, "pipeline") for micro in (1, 4)),
        ("stages.pipeline", 4, "alone"),
    ],
)
def test_ranks_find_the_mean_of_all_gradients(group: Group, call: tuple[object, ...]) -> None:
    with group.task(training, -1, *call) as body:
        body.timed(2)
        check = body.check()
        assert (check.passed, check.bound) == (True, 1e-5 if "exchange" in call else 1e-4)


@pytest.mark.parametrize(
    "call", [("steps.step", 128, "ddp", "weak"), ("stages.pipeline", 2, "pipeline")]
)
def test_gradients_that_are_lost_do_not_pass(group: Group, call: tuple[object, ...]) -> None:
    with group.task(training, 1, *call) as body:
        body()
        assert not body.check().passed


WITHOUT = """
import inspect, torch.distributed as dist
for name, _ in inspect.getmembers(dist, inspect.isfunction):
    delattr(dist, name)
dist.is_available = lambda: False
"""
"""Makes torch one that was built without its package for groups of processes."""


def test_where_torch_has_no_groups_the_other_benchmarks_are_collected(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = run_pytest(BENCHMARKS, "--collect-only", afresh=True, PYTHONPATH=paths)
    assert "torch was built without groups of processes" in done.stdout
    assert "bench_matmul.py::" in done.stdout
    assert done.returncode == 0
