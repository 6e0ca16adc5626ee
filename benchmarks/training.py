# SPDX-License-Identifier: MIT
"""Networks in training, for the benchmarks that ask what else a training costs.

The targets are a linear function of the inputs, of variance 1, and noise of a known variance
that nothing in the inputs tells. So the mean squared error must fall to about that variance, and
a network that has seen far more samples than there are inputs cannot honestly fall far below.
"""

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from itertools import pairwise
from math import sqrt
from typing import NamedTuple, Self

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from frobench import Check, Device, Work, close_to, worst

SIZES = {"small": [16, 64, 1], "medium": [64, 128, 128, 1], "large": [256, 2048, 2048, 1]}
"""Features from layer to layer of each network; only the large one gives an accelerator work that
outlasts its launches."""
SAMPLES = 2048
"""Samples in the data, and more where a batch alone has more."""
NOISE = 0.25
"""Variance of the targets that no network can explain."""
RATES, STEADY_BATCH = {"small": 0.03, "medium": 0.06, "large": 0.02}, 64
"""How fast networks learn; slower from smaller batches, whose gradients are noisier."""
REPLAYED, REPLAYED_FLOPS = 10, 5e9
"""Steps that are computed again in float64, from where the training began; fewer large ones."""
LEAST, MOST = 0.8, 1.3
"""Where the loss ends, in units of the noise."""
START, FALL = 6.0, 0.06
"""It begins less than the one above that end, and the rest of the way shrinks by the other part in
each step, or more; with small batches, as much slower as the network learns."""

Batch = tuple[Tensor, Tensor]
"""Inputs and targets."""


class Trained(NamedTuple):
    """What a training leaves: the network, and the loss that it reported of each step."""

    model: nn.Module
    losses: Sequence[float]


class Training:
    """A network on a device, an optimizer, and data in the host's memory, in batches.

    device : where the network is. The data and the network's parameters are drawn on the CPU from
        its seed, since accelerators of two models may make other numbers of the same seed
    size : of the network, a key of ``SIZES``
    batch : samples in a batch
    """

    def __init__(self, device: Device, size: str, batch: int) -> None:
        self.device, self.size, self.batch = device, size, batch
        host = Device("cpu", device.seed)
        self.data = _draw(host, SIZES[size][0], batch)
        self.batches = split(self.data, batch)
        self.pace = min(1, batch / STEADY_BATCH)
        self.start = _network(host, SIZES[size]).to(device.handle)
        self.begin()

    def begin(self) -> None:
        """Take a fresh network, so that one that is trained already can still be checked."""
        self.model = deepcopy(self.start)
        self.optimizer = self._optimizer(self.model)

    def twin(self) -> Self:
        """Return a training on the same data and from the same start, of another network."""
        twin = copy(self)
        twin.begin()
        return twin

    def batch_of(self, step: int) -> Batch:
        """Return the batch, in the host's memory, whose turn it is in a step."""
        return self.batches[step % len(self.batches)]

    def step(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Take a step on one batch; return its loss, which lies on the device."""
        return step(self.model, self.optimizer, inputs, targets)

    def work(self, steps: int) -> Work:
        """Count the work of so many steps; see `work`."""
        return work(self.size, self.batch, steps)

    def check(self, steps: int) -> Callable[[Trained], Check]:
        """Check that all losses were reported, the first ones right, and that the last is low."""
        truth = self._replay(steps)
        first = close_to(truth, 1e-3, "the first losses")

        def check(trained: Trained) -> Check:
            if len(trained.losses) != steps:
                seen = f"{len(trained.losses)} losses with those of {steps} steps"
                return Check(seen, float("inf"), 0.0)
            return worst([first(trained.losses[: len(truth)]), self.learned(trained.model, steps)])

        return check

    def learned(self, model: nn.Module, steps: int) -> Check:
        """Check in float64 that so many steps have brought a network's loss to what they must."""
        exact, (inputs, targets) = _on_cpu(model), (half.double() for half in self.data)
        with torch.no_grad():
            loss = mse_loss(exact(inputs), targets).item() / NOISE
        most = MOST + START * (1 - FALL * self.pace) ** steps
        error, bound = abs(loss - (LEAST + most) / 2), (most - LEAST) / 2
        return Check("the loss after training with that of the noise", error, bound)

    def _optimizer(self, model: nn.Module) -> torch.optim.SGD:
        return torch.optim.SGD(model.parameters(), RATES[self.size] * self.pace)

    def _replay(self, steps: int) -> Tensor:
        """Return the losses of the first steps, in float64."""
        model = _on_cpu(self.start)
        optimizer = self._optimizer(model)
        few = min(steps, REPLAYED, max(1, int(REPLAYED_FLOPS / flops(self.size, self.batch))))
        batches = [self.batch_of(number) for number in range(few)]
        losses = [step(model, optimizer, x.double(), y.double()) for x, y in batches]
        return torch.stack(losses)


def step(
    model: nn.Module, optimizer: torch.optim.Optimizer, inputs: Tensor, targets: Tensor
) -> Tensor:
    """Take a step of training on one batch; return its loss, which lies on the device."""
    optimizer.zero_grad()
    loss = mse_loss(model(inputs), targets)
    loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it so
    optimizer.step()
    return loss.detach()


def work(size: str, batch: int, steps: int, networks: int = 1) -> Work:
    """Count the products of all steps, forward and backward; samples are the items."""
    times = networks * steps
    return Work(flops=times * flops(size, batch), items=times * batch)


def flops(size: str, batch: int) -> int:
    """Count the products of a step: of each layer one forward and two backward.

    Nothing asks for the gradient of the inputs, so the first layer has only one backward.
    """
    layers = [2 * batch * inner * outer for inner, outer in pairwise(SIZES[size])]
    return 3 * sum(layers) - layers[0]


def skip_where_too_large(size: str, kind: str) -> None:
    """Skip a case whose network is too large to be trained on a device of this kind."""
    if size == "large" and kind == "cpu":
        pytest.skip("the large network is for accelerators")


def split(data: Batch, batch: int) -> list[Batch]:
    """Return batches of so many samples that share the memory of the data."""
    inputs, targets = (torch.split(half, batch) for half in data)
    return list(zip(inputs, targets, strict=True))


def _draw(host: Device, features: int, batch: int) -> Batch:
    """Draw the data."""
    count = max(1, SAMPLES // batch) * batch
    inputs, weights = host.uniform(count, features), host.uniform(features, 1)
    noise = host.uniform(count, 1) * sqrt(3 * NOISE)  # [-1, 1] has variance 1/3
    return inputs, inputs @ (weights * sqrt(3) / weights.norm()) + noise


def _network(host: Device, widths: Sequence[int]) -> nn.Sequential:
    """Return a network of linear layers and tanh whose signals begin with variance 1.

    But for its output, which begins near 0, so that the loss falls from the first step.
    """
    layers: list[nn.Module] = []
    for inner, outer in pairwise(widths):
        layer = nn.Linear(inner, outer, device="meta").to_empty(device=host.handle)
        variance = (1 if layers else 3) * (0.1 if outer == 1 else 1) / inner
        with torch.no_grad():
            layer.weight.copy_(host.uniform(outer, inner) * sqrt(3 * variance))
            layer.bias.zero_()
        layers += [layer, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def _on_cpu(model: nn.Module) -> nn.Module:
    """Return a copy of a network on the CPU, in float64."""
    return deepcopy(model).cpu().double()
