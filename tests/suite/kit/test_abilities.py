# SPDX-License-Identifier: MIT
"""What a device lacks skips the case; what a case sets is put back."""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import torch

from frobench.suite.kit import abilities
from frobench.suite.kit.abilities import capture, compiled, needed, pinned, precision
from frobench.suite.kit.device import Device


@pytest.mark.parametrize(("name", "expected"), [("float32", "highest"), ("tfloat32", "high")])
def test_precision_is_set_and_put_back_whatever_happens(name: str, expected: str) -> None:
    torch.set_float32_matmul_precision("medium")
    try:
        with suppress(ZeroDivisionError), precision(name):
            assert torch.get_float32_matmul_precision() == expected
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
def test_what_is_missing_skips_with_its_name_and_what_is_known_of_the_error(
    message: str, known: str
) -> None:
    error = NotImplementedError(message)
    with pytest.raises(pytest.skip.Exception) as skipped, needed("tensor cores"):
        raise error
    assert str(skipped.value) == f"no tensor cores here: NotImplementedError{known}"
    assert skipped.value.__cause__ is error  # whose text the terminal shows


def test_other_errors_are_not_taken_for_something_missing() -> None:
    with pytest.raises(AssertionError, match="a mistake"), needed("tensor cores"):
        raise AssertionError("a mistake")


@pytest.mark.skipif(torch.accelerator.is_available(), reason="pins memory here")
def test_without_an_accelerator_no_memory_is_pinned_and_no_graph_recorded() -> None:
    with pytest.raises(pytest.skip.Exception, match="no pinned memory here"):
        pinned(torch.zeros(3))
    with pytest.raises(pytest.skip.Exception, match="no graphs here"):
        capture(Device("cpu"), torch.empty)


class Compiler:
    """Stands behind `torch.compile`, and compiles nothing.

    caches : where it could have kept something, each time it was asked
    graphs : the operations of what it was given
    """

    def __init__(self) -> None:
        self.caches: list[Path] = []
        self.graphs: list[list[str]] = []

    def __call__(
        self,
        graph: torch.fx.GraphModule,
        _inputs: object,
        *,
        options: object,  # noqa: ARG002 - those of the compiler that it stands for
    ) -> Callable[..., object]:
        """Return the graph as it is."""
        self.caches.append(Path(os.environ.get("TORCHINDUCTOR_CACHE_DIR", "")))
        assert self.caches[-1].is_dir()
        assert not any(self.caches[-1].iterdir())
        self.graphs.append([node.name for node in graph.graph.nodes if node.op == "call_function"])
        return graph.forward


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compiler:
    stand_in = Compiler()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=stand_in))
    monkeypatch.setattr(abilities, "_try_compiler", lambda _where: None)
    return stand_in


def doubled(numbers: torch.Tensor) -> torch.Tensor:
    return numbers * 2 + 1


def test_every_body_is_compiled_once_and_whole_with_empty_caches_that_go_again(
    compiler: Compiler,
) -> None:
    for count in (3, 4):
        numbers = torch.arange(count)
        run, seconds = compiled(Device("cpu"), partial(doubled, numbers))
        assert seconds > 0
        assert run().tolist() == run().tolist() == list(range(1, 2 * count, 2))
    assert compiler.graphs == [["mul", "add"]] * 2
    assert compiler.caches[0] != compiler.caches[1]
    assert not any(cache.exists() for cache in compiler.caches)


@pytest.mark.usefixtures("compiler")
def test_a_body_that_cannot_be_compiled_whole_fails() -> None:
    def body() -> torch.Tensor:
        torch._dynamo.graph_break()
        return torch.ones(2)

    with pytest.raises(RuntimeError, match="graph_break"):
        compiled(Device("cpu"), body)


def test_without_a_compiler_that_works_the_case_is_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        torch, "compile", MagicMock(side_effect=RuntimeError("found no g++\nat all"))
    )
    abilities._try_compiler.cache_clear()
    with pytest.raises(pytest.skip.Exception, match=r"^no compiler here: RuntimeError$"):
        compiled(Device("cpu"), lambda: torch.ones(2))
