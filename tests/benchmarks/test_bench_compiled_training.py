# SPDX-License-Identifier: MIT
"""The compiled training step: it is the step of the training, and compiled."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from frobench.suite.kit import abilities
from frobench.suite.kit.device import Device
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load, planted

pytestmark = pytest.mark.filterwarnings("ignore:.*script_method:DeprecationWarning")

CPU = Device("cpu", seed=5)
NAME = "bench_compiled_training"
Seen = Callable[[Path], Recorder]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Return what calls the benchmark of a folder, whose step is traced but computed as it is."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    monkeypatch.setattr(abilities, "_try_compiler", lambda _where: None)

    def call(folder: Path) -> Recorder:
        for name in (NAME, "decoders"):  # which the compiler imports by its name
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.syspath_prepend(folder)
        module: Any = import_module(NAME)
        module.TOKENS["float32"] = 16
        recorder = Recorder(nullcontext())
        module.bench_step(recorder, device=CPU, width=256, layers=2, dtype="float32")
        return recorder

    return call


def test_the_compiled_step_and_the_one_beside_it_are_those_of_the_training(seen: Seen) -> None:
    result = seen(BENCHMARKS)
    assert result.check.passed
    assert result.beside is not None
    assert result.beside.passed
    assert result.apart["compile"] > 0
    assert result.work == load(BENCHMARKS / "decoders.py").training_work(256, 2, 16)


FAULTS = {
    "the loss not compiled": ("step, step.loss, step.update)", "step, step.update)"),
    "the update not compiled": ("step, step.loss, step.update)", "step, step.loss)"),
    "no update": ("unwrap(type(optimizer).step)(optimizer)", "pass"),
    "a narrower type": ("(training.device, training.dtype)", "(training.device, 'bfloat16')"),
}


@pytest.mark.parametrize(("old", "new"), FAULTS.values(), ids=list(FAULTS))
def test_a_step_that_is_wrong_or_not_compiled_does_not_pass_the_check(
    old: str, new: str, seen: Seen, tmp_path: Path
) -> None:
    planted(tmp_path, NAME, old, new)
    assert not seen(tmp_path).check.passed


def test_compilers_that_give_up_do_not_pass(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    assert not seen(BENCHMARKS).check.passed
