# SPDX-License-Identifier: MIT
# mypy: disable-error-code="no-untyped-call"
"""What a device lacks skips the case; a graph is recorded by the first class that really works."""

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar
from unittest.mock import MagicMock

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from frobench.suite.kit import abilities
from frobench.suite.kit.abilities import WARM_UPS, capture, compiled, needed, pinned, precision
from frobench.suite.kit.device import Device


@pytest.mark.parametrize(("name", "expected"), [("float32", "highest"), ("tfloat32", "high")])
def test_precision_is_set_and_put_back_whatever_happens(name: str, expected: str) -> None:
    torch.set_float32_matmul_precision("medium")
    try:
        with suppress(ZeroDivisionError), precision(name):
            assert torch.get_float32_matmul_precision() == expected
            assert torch.backends.cudnn.allow_tf32 == (name == "tfloat32")
            raise ZeroDivisionError
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")


@pytest.mark.parametrize(
    ("message", "known"),
    [
        ("too old\nand a long story", ""),
        ("\"mm\" not implemented for 'Half'", ": not implemented for 'Half'"),
    ],
)
def test_what_is_missing_skips_with_its_name_and_what_is_known(message: str, known: str) -> None:
    error = NotImplementedError(message)
    with pytest.raises(pytest.skip.Exception) as skipped, needed("tensor cores"):
        raise error
    assert str(skipped.value) == f"no tensor cores here: NotImplementedError{known}"
    assert skipped.value.__cause__ is error  # whose text the terminal shows
    with pytest.raises(torch.OutOfMemoryError), needed("tensor cores"):
        raise torch.OutOfMemoryError


@pytest.mark.skipif(torch.accelerator.is_available(), reason="pins memory here")
def test_without_an_accelerator_no_memory_is_pinned_and_no_graph_recorded() -> None:
    with pytest.raises(pytest.skip.Exception, match="no pinned memory here"):
        pinned(torch.zeros(3))
    with pytest.raises(pytest.skip.Exception, match="no graphs here"):
        capture(Device("cpu"), torch.empty)


Compiled = list[tuple[Path, list[str]]]
"""Where the compiler could have kept something, and the operations of each graph it was given."""


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compiled:
    """Stand behind `torch.compile`, and compile nothing."""
    seen: Compiled = []

    def backend(graph: torch.fx.GraphModule, _: object, **__: object) -> Callable[..., object]:
        cache = Path(os.environ.get("TORCHINDUCTOR_CACHE_DIR", ""))
        assert not any(cache.iterdir())
        seen.append((cache, [one.name for one in graph.graph.nodes if one.op == "call_function"]))
        return graph.forward

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=backend))
    monkeypatch.setattr(abilities, "_try_compiler", lambda _where: None)
    return seen


def doubled(numbers: torch.Tensor) -> torch.Tensor:
    return numbers * 2 + 1


def test_every_body_is_compiled_once_and_whole_with_caches_of_its_own(compiler: Compiled) -> None:
    for count in (3, 4):
        numbers = torch.arange(count)
        run, seconds = compiled(Device("cpu"), partial(doubled, numbers))
        assert seconds > 0
        assert run().tolist() == run().tolist() == list(range(1, 2 * count, 2))
    caches, graphs = zip(*compiler, strict=True)
    assert graphs == (["mul", "add"],) * 2
    assert len({*caches}) == 2
    assert not any(cache.exists() for cache in caches)


@pytest.mark.usefixtures("compiler")
def test_a_body_that_cannot_be_compiled_whole_fails() -> None:
    def body() -> torch.Tensor:
        torch._dynamo.graph_break()
        return torch.ones(2)

    with pytest.raises(RuntimeError, match="graph_break"):
        compiled(Device("cpu"), body)


def test_without_a_compiler_that_works_the_case_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    error = RuntimeError("found no g++\nat all")
    monkeypatch.setattr(torch, "compile", MagicMock(side_effect=error))
    abilities._try_compiler.cache_clear()
    with pytest.raises(pytest.skip.Exception, match=r"^no compiler here: RuntimeError$"):
        compiled(Device("cpu"), lambda: torch.ones(2))


Launch = tuple[Callable[..., Any], Sequence[Any], dict[str, Any], torch.Tensor]


class Recorded(TorchDispatchMode):
    """Replays what was launched while it captured, into the same memory."""

    made: ClassVar[list[str]] = []
    """The classes of which a graph was made."""

    def __init__(self) -> None:
        super().__init__()
        self.made.append(type(self).__name__)
        self.launches: list[Launch] = []

    def capture_begin(self) -> None:
        """Begin to record."""
        self.__enter__()

    def capture_end(self) -> None:
        """End the recording."""
        self.__exit__(None, None, None)

    def replay(self) -> None:
        """Do again what was recorded."""
        for func, args, kwargs, result in self.launches:
            result.copy_(func(*args, **kwargs))

    def __torch_dispatch__(self, func: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401 - as torch has it
        """Record a launch."""
        result = func(*args, **(kwargs or {}))
        self.launches.append((func, args, kwargs or {}, result))
        return result


class Vendors(Recorded):
    """A vendor's class."""


class General(Recorded):
    """The class of `torch.accelerator`."""


class Refusing(Recorded):
    """A class behind which nobody stands, as torch's own is on CUDA."""

    def __init__(self) -> None:
        super().__init__()
        raise RuntimeError("Graph is not supported on device type: cuda\nmore")


class Idle(Recorded):
    """A class whose replays do nothing."""

    def replay(self) -> None:
        """Do nothing."""


class Gpu(Device):
    """A CPU that has streams, and the module of a backend with graphs."""

    module = ModuleType("torch.vendor")

    def stream(self) -> Any:  # noqa: ANN401 - stands for a stream
        """Return what is entered as a stream is."""
        return nullcontext()


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget which classes work, and let no device be chosen."""
    Recorded.made.clear()
    monkeypatch.setattr(abilities, "_graphs", {})
    monkeypatch.setattr(torch.accelerator, "device_index", nullcontext)


@pytest.mark.parametrize(
    ("classes", "made"),
    [
        ({"CUDAGraph": Vendors, "Graph": General}, ["Vendors", "Vendors"]),  # the trial, the body
        ({"XPUGraph": Vendors}, ["Vendors", "Vendors"]),
        ({"CUDAGraph": Refusing, "Graph": General}, ["Refusing", "General", "General"]),
        ({"CUDAGraph": Idle, "Graph": General}, ["Idle", "General", "General"]),
    ],
)
def test_the_first_class_that_works_does_what_the_body_does_and_the_vendors_is_tried_first(
    monkeypatch: pytest.MonkeyPatch, classes: dict[str, type], made: list[str]
) -> None:
    device = Gpu("cpu")
    monkeypatch.setattr(pytest, "skip", pytest.fail)  # one of them works
    for own in abilities.VENDORS_GRAPHS:
        monkeypatch.setattr(device.module, own, classes.get(own), raising=False)
    monkeypatch.setattr(torch.accelerator, "Graph", classes.get("Graph"), raising=False)
    number, calls = torch.ones(3), []

    def body() -> torch.Tensor:
        calls.append(1)
        return number * 5

    replay = capture(device, body)
    assert len(calls) == WARM_UPS + 1
    number.fill_(2.0)
    result = replay()
    assert result.tolist() == [10.0, 10.0, 10.0]
    assert replay() is result
    assert (len(calls), Recorded.made) == (WARM_UPS + 1, made)
