# SPDX-License-Identifier: MIT
"""Many operations do the arithmetic of one, as often as they say."""

from collections.abc import Callable
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


@pytest.mark.parametrize(
    ("function", "given", "operations"),
    [
        *(("pieces", {"device": CPU, "pieces": count}, count) for count in (1, 10, 10_000)),
        ("pieces_foreach", {"device": CPU, "pieces": 100}, 1),
        ("pieces_graph", {"accelerator": CPU, "pieces": 100}, 100),
        *(("chain", {"device": CPU, "n": n}, 100) for n in (1, 64)),
        *(("chain_large", {"accelerator": CPU, "n": n}, 100) for n in (1, 64)),
        ("chain_compiled", {"device": CPU, "n": 64}, 100),
    ],
)
def test_the_same_arithmetic_is_as_many_operations_as_it_says(
    monkeypatch: pytest.MonkeyPatch, function: str, given: dict[str, Any], operations: int
) -> None:
    monkeypatch.setattr(MODULE, "capture", lambda _device, body: body)
    monkeypatch.setattr(MODULE, "compiled", lambda _device, body: (body, 2.5))
    seen, many = Counted(), given.get("pieces", 100)
    getattr(MODULE, f"bench_{function}")(seen, **given)
    assert seen.check.passed
    assert seen.counter.operations == operations
    assert seen.work.items == many
    numbers = given.get("n", NUMBERS)  # in each of a chain's operations, or in all pieces together
    assert seen.work.bytes == 2 * numbers * torch.float32.itemsize
    assert seen.work.flops == seen.counter.numbers == numbers * (many if "n" in given else 1)
    assert seen.apart == ({"compile": 2.5} if function == "chain_compiled" else {})
