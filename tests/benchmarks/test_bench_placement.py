# SPDX-License-Identifier: MIT
"""What the benchmarks of placement count and check, where the numbers are drawn while they run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from frobench.suite.kit.device import Device
from frobench.suite.stored.types import Work
from tests.instruments.faults.faulty import Fault, checked
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load

CPU = Device("cpu")
MODULE = load(BENCHMARKS / "bench_placement.py")
CASES: list[tuple[str, dict[str, Any]]] = [
    ("create", {"device": CPU, "values": "randn"}),
    ("create", {"device": CPU, "values": "full"}),
    ("create_then_move", {"accelerator": CPU, "values": "randn"}),
    ("create_then_move", {"accelerator": CPU, "values": "full"}),
    ("move", {"accelerator": CPU}),
    ("empty_then_copy", {"device": CPU}),
]


@pytest.mark.parametrize("n", [1, 64, 70_000])
@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_what_is_created_or_moved_is_right_and_its_bytes_are_counted(
    function: str, arguments: dict[str, Any], n: int
) -> None:
    seen = Recorder()
    getattr(MODULE, f"bench_{function}")(seen, **arguments, n=n)
    assert seen.check.passed
    assert seen.work == Work(bytes=torch.empty(n).nbytes, items=n)


def test_what_stays_where_it_is_moves_no_bytes() -> None:
    seen = Recorder()
    MODULE.bench_stay(seen, device=CPU, n=64)
    assert seen.check.passed
    assert seen.work == Work(items=1)


N = 30_000
WRONG: dict[str, Callable[[Tensor], Tensor]] = {
    "a fifth wider": lambda drawn: 1.2 * drawn,
    "a tenth off": lambda drawn: drawn + 0.1,
    "uniform": torch.rand_like,
    "the last tenth left out": lambda drawn: torch.cat(
        [drawn[: N - N // 10], 0 * drawn[: N // 10]]
    ),
    "of one sign": torch.Tensor.abs,
    "one number": lambda drawn: drawn[0].expand(N),
    "not a number": lambda drawn: drawn * torch.nan,
    "in another precision": torch.Tensor.double,
    "too few": lambda drawn: drawn[1:],
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_numbers_that_are_not_normally_distributed_are_told(
    wrong: Callable[[Tensor], Tensor],
) -> None:
    drawn = torch.randn(N, generator=torch.Generator().manual_seed(1))
    assert MODULE.normal(N)(drawn).passed
    assert not MODULE.normal(N)(wrong(drawn)).passed


def test_a_tensor_on_another_device_is_wrong() -> None:
    drawn = torch.randn(64)
    assert MODULE.on(CPU, MODULE.normal(64))(drawn).passed
    assert not MODULE.on(Device("meta"), MODULE.normal(64))(drawn).passed


FAULTS = {
    "another distribution": Fault(
        "placement.create",
        '"randn": torch.randn',
        '"randn": torch.rand',
        {"device": CPU, "n": 4096, "values": "randn"},
    ),
    "another number": Fault(
        "placement.create",
        "fill_value=NUMBER",
        "fill_value=-NUMBER",
        {"device": CPU, "n": 64, "values": "full"},
    ),
    "other numbers moved than drawn": Fault(
        "placement.create_then_move",
        "return here, here.to(",
        "return here, create((n,)).to(",
        {"accelerator": CPU, "n": 64, "values": "randn"},
    ),
    "another distribution moved": Fault(
        "placement.create_then_move",
        "here = create((n,))",
        "here = create((n,)).abs()",
        {"accelerator": CPU, "n": 4096, "values": "randn"},
    ),
    "moved in another order": Fault(
        "placement.move", "values.to(", "values.flip(0).to(", {"accelerator": CPU, "n": 64}
    ),
    "nothing copied": Fault(
        "placement.empty_then_copy", ".copy_(values)", ".zero_()", {"device": CPU, "n": 64}
    ),
    "copied though it is there": Fault(
        "placement.stay",
        "values.to(device.handle)",
        "values.to(device.handle, copy=True)",
        {"device": CPU, "n": 64},
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
def test_wrong_arithmetic_does_not_pass_the_check(fault: Fault, tmp_path: Path) -> None:
    assert not checked(fault, tmp_path).passed
