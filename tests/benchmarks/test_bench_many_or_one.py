# SPDX-License-Identifier: MIT
"""Many operations do the arithmetic of one, as often as they say."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from frobench.suite.kit.device import Device
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load

CPU = Device("cpu")
MODULE = load(BENCHMARKS / "bench_many_or_one.py")
NUMBERS = 30_000


class Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's is untyped
    """Counts the operations that compute, as PyTorch launches them, and their results' numbers."""

    operations = numbers = 0

    def __torch_dispatch__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401 - as torch has it
        """Run an operation."""
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket.__name__ in {"add", "mul", "_foreach_mul"}:
            self.operations += 1
            self.numbers += sum(tensor.numel() for tensor in tree_leaves(result))
        return result


class Counted(Recorder):
    """Counts what the body launches."""

    def __call__(self, body: Callable[[], Any], **more: Any) -> None:  # noqa: ANN401 - passed on
        """Call the body, counting."""
        self.counter = Counter()  # type: ignore[no-untyped-call]  # as above

        def counting() -> Any:  # noqa: ANN401 - whatever the body returns
            with self.counter:
                return body()

        super().__call__(counting, **more)


def seen(function: str, module: ModuleType = MODULE, **arguments: Any) -> Counted:  # noqa: ANN401 - whatever it takes
    recorder = Counted()
    getattr(module, f"bench_{function}")(recorder, **arguments)
    return recorder


@pytest.mark.parametrize("pieces", [1, 10, 10_000])
def test_pieces_are_as_many_operations_and_the_same_arithmetic(pieces: int) -> None:
    plain = seen("pieces", device=CPU, pieces=pieces)
    assert plain.check.passed
    assert plain.work.items == plain.counter.operations == pieces
    assert plain.work.flops == plain.counter.numbers == NUMBERS
    assert plain.work.bytes == 2 * NUMBERS * torch.float32.itemsize


def test_one_call_for_all_pieces_is_one_operation_with_the_same_work() -> None:
    together = seen("pieces_foreach", device=CPU, pieces=100)
    assert together.check.passed
    assert together.counter.operations == 1
    assert together.counter.numbers == NUMBERS
    assert together.work == seen("pieces", device=CPU, pieces=100).work


def test_a_graph_replays_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "capture", lambda _device, body: body)
    graph = seen("pieces_graph", accelerator=CPU, pieces=100)
    assert graph.check.passed
    assert graph.counter.operations == graph.work.items == 100


@pytest.mark.parametrize("n", [1, 64])
def test_a_chain_adds_as_often_as_it_says(n: int) -> None:
    for chain in (seen("chain", device=CPU, n=n), seen("chain_large", accelerator=CPU, n=n)):
        assert chain.check.passed
        assert chain.work.items == chain.counter.operations == 100
        assert chain.work.flops == chain.counter.numbers == 100 * n
        assert chain.work.bytes == 2 * 4 * n


def test_what_compiling_took_is_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "compiled", lambda _device, body: (body, 2.5))
    chain = seen("chain_compiled", device=CPU, n=64)
    assert chain.check.passed
    assert chain.apart == {"compile": 2.5}
    assert chain.work == seen("chain", device=CPU, n=64).work
