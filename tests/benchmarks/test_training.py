# SPDX-License-Identifier: MIT
"""Networks in training learn what can be learnt, and who trains wrongly is found out."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from frobench.suite.kit.device import Device
from frobench.suite.stored.types import Work
from tests.instruments.processes.alone import BENCHMARKS, load

training = load(BENCHMARKS / "training.py")
STEPS = 30


def trained(one: "training.Training", steps: int = STEPS) -> "training.Trained":  # type: ignore[name-defined]  # known when loaded
    losses = [one.step(*one.batch_of(number)).item() for number in range(steps)]
    return training.Trained(one.model, losses)


@pytest.mark.parametrize(("size", "batch"), [("small", 64), ("small", 8), ("medium", 64)])
def test_the_loss_falls_to_the_noise_and_no_further_by_any_seed(size: str, batch: int) -> None:
    for seed in range(3):
        one = training.Training(Device("cpu", seed), size, batch)
        check = one.check(STEPS)(trained(one))
        assert check.passed, check
        assert one.learned(one.model, STEPS).error < 0.7 * one.learned(one.model, STEPS).bound


@pytest.mark.parametrize(
    ("size", "products"),
    [
        ("small", 2 * 16 * 64 + 3 * 64),  # no gradient of the inputs
        ("medium", 2 * 64 * 128 + 3 * (128 * 128 + 128)),
        ("large", 2 * 256 * 2048 + 3 * (2048 * 2048 + 2048)),
    ],
)
@pytest.mark.parametrize("batch", [2, 64])
def test_declared_operations_are_those_that_torch_counts(
    size: str, batch: int, products: int
) -> None:
    one = training.Training(Device("cpu"), size, batch)
    with FlopCounterMode(display=False) as counter:
        loss = one.step(*one.batch_of(0))
    assert one.work(1).flops == counter.get_total_flops() == 2 * batch * products
    assert training.work(size, batch, 3, 2) == Work(flops=12 * batch * products, items=6 * batch)
    assert one.step(*one.batch_of(0)) < loss


class Foreign(Device):
    """Draws other numbers than other devices do from the same seed."""

    def uniform(self, *shape: int, dtype: str | torch.dtype = "float32") -> torch.Tensor:
        """Draw from [-0.5, 0.5]."""
        return super().uniform(*shape, dtype=dtype) * 0.5


def test_all_devices_of_a_seed_train_the_same_network_on_the_same_data() -> None:
    ours, theirs, others = (
        training.Training(one, "small", 64)
        for one in (Device("cpu", 3), Foreign("cpu", 3), Device("cpu", 4))
    )
    drawn, alike, unlike = ([*one.data, *one.start.parameters()] for one in (ours, theirs, others))
    assert all(map(torch.equal, drawn, alike))
    assert not torch.equal(drawn[0], unlike[0])
    assert not torch.equal(drawn[2], unlike[2])


def test_signals_begin_with_variance_1_and_outputs_near_0() -> None:
    one = training.Training(Device("cpu", 3), "medium", 64)
    lengths = [layer.weight.square().sum(1).mean().item() for layer in one.start[::2]]
    assert lengths == pytest.approx([3, 1, 0.1], rel=0.15)  # the inputs have variance 1/3
    assert one.data[1].var() == pytest.approx(1 + 0.25, rel=0.05)
    assert [*map(len, one.data)] == [2048, 2048]
    assert len(training.Training(Device("cpu"), "small", 2049).data[0]) == 2049


FAULTS: dict[str, Callable[[Any], object]] = {
    "no updates": lambda one: setattr(one.optimizer, "step", lambda: None),
    "gradients pile up": lambda one: setattr(one.optimizer, "zero_grad", lambda: None),
    "half the rate": lambda one: one.optimizer.param_groups[0].update(lr=0.015 * one.pace),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_who_trains_wrongly_is_found_out(fault: str) -> None:
    one = training.Training(Device("cpu"), "small", 128)
    check = one.check(10)
    FAULTS[fault](one)
    assert not check(trained(one, 10)).passed


def test_losses_that_are_late_or_missing_are_found_out() -> None:
    one = training.Training(Device("cpu"), "small", 64)
    model, losses = trained(one)
    check = one.check(STEPS)
    assert not check(training.Trained(model, losses[:-1])).passed
    assert not check(training.Trained(model, [losses[0], *losses[:-1]])).passed
    assert not check(training.Trained(model, [float("nan"), *losses[1:]])).passed


def test_a_network_that_knows_the_noise_has_seen_what_it_must_not() -> None:
    one = training.Training(Device("cpu"), "small", 64)
    trained(one)
    with torch.no_grad():
        one.data[1].copy_(one.model(one.data[0]) + 0.5 * (one.data[1] - one.model(one.data[0])))
    assert not one.learned(one.model, STEPS).passed
