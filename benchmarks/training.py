# SPDX-License-Identifier: MIT
"""Networks in training, for the benchmarks that ask what else a training costs.

The targets are a linear function of the inputs, of variance 1, and noise of a known variance
that nothing in the inputs tells. So the mean squared error must fall to about that variance, and
a network that has seen far more samples than there are inputs cannot honestly fall far below.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from suite import Check, Device, Work, close_to, worst

SIZES = {"small": [16, 64, 1], "medium": [64, 256, 256, 1]}
"""Features from layer to layer of each network."""
SAMPLES = 2048
"""Samples in the data, and more where a batch alone has more."""
NOISE = 0.25
"""Variance of the targets that no network can explain."""
RATE, STEADY_BATCH = 0.03, 64
"""How fast networks learn; slower from smaller batches, whose gradients are noisier."""
REPLAYED = 10
"""Steps that are computed again in float64, from where the training began."""
LEAST, MOST = 0.8, 1.3
"""Where the loss ends, in units of the noise."""
START, FALL = 6.0, 0.06
"""Above that end, the loss begins below the one, and falls in each step by this part at least."""

Batch = tuple[Tensor, Tensor]


class Trained(NamedTuple):
    """What a training leaves: the network, and the loss that it reported of each step."""

    model: nn.Module
    losses: Sequence[float]


class Training:
    """A network on a device, an optimizer, and batches of data in the host's memory.

    device : where the network is; it draws the data and the network's parameters
    size : of the network, ``small`` or ``medium``
    batch : samples in a batch
    """

    def __init__(self, device: Device, size: str, batch: int) -> None:
        self.device, self.size, self.batch = device, size, batch
        self.batches = _draw(device, SIZES[size][0], batch)
        self.model = _network(device, SIZES[size])
        self.start = deepcopy(self.model)
        self.rate = RATE * min(1, batch / STEADY_BATCH)
        self.optimizer = torch.optim.SGD(self.model.parameters(), self.rate)

    def batch_of(self, step: int) -> Batch:
        """Return the batch, in the host's memory, whose turn it is in a step."""
        return self.batches[step % len(self.batches)]

    def reset(self) -> None:
        """Set the parameters to what they were before the training."""
        with torch.no_grad():
            for now, then in zip(self.model.parameters(), self.start.parameters(), strict=True):
                now.copy_(then)

    def step(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Take a step on one batch; return its loss, which lies on the device."""
        return step(self.model, self.optimizer, inputs, targets)

    def work(self, steps: int) -> Work:
        """Count the products of all steps, forward and backward; samples are the items."""
        return Work(flops=steps * flops(self.size, self.batch), items=steps * self.batch)

    def check(self, steps: int) -> Callable[[Trained], Check]:
        """Check that all losses were reported, the first ones right, and that the last is low."""
        first = close_to(self._replay(min(steps, REPLAYED)), 1e-3, "the first losses")

        def check(trained: Trained) -> Check:
            if len(trained.losses) != steps:
                seen = f"{len(trained.losses)} losses with those of {steps} steps"
                return Check(seen, float("inf"), 0.0)
            return worst([first(trained.losses[:REPLAYED]), self.learned(trained.model, steps)])

        return check

    def learned(self, model: nn.Module, steps: int) -> Check:
        """Check in float64 that so many steps have brought a network's loss to what they must."""
        exact, (inputs, targets) = _on_cpu(model), _joined(self.batches)
        with torch.no_grad():
            loss = mse_loss(exact(inputs), targets).item() / NOISE
        middle = (LEAST + MOST) / 2
        slack = (MOST - LEAST) / 2 + START * (1 - FALL * self.rate / RATE) ** steps
        return Check("the loss after training with that of the noise", abs(loss - middle), slack)

    def _replay(self, steps: int) -> Tensor:
        """Return the losses of the first steps, in float64."""
        model = _on_cpu(self.start)
        optimizer = torch.optim.SGD(model.parameters(), self.rate)
        batches = [self.batch_of(number) for number in range(steps)]
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


def flops(size: str, batch: int) -> int:
    """Count the products of a step: of each layer one forward and two backward.

    Nothing asks for the gradient of the inputs, so the first layer has only one backward.
    """
    layers = [2 * batch * inner * outer for inner, outer in pairwise(SIZES[size])]
    return 3 * sum(layers) - layers[0]


def _draw(device: Device, features: int, batch: int) -> list[Batch]:
    """Draw the data, in batches in the host's memory."""
    count = max(1, SAMPLES // batch) * batch
    inputs, weights = device.uniform(count, features).cpu(), device.uniform(features, 1).cpu()
    noise = device.uniform(count, 1).cpu() * sqrt(3 * NOISE)  # [-1, 1] has variance 1/3
    targets = inputs @ (weights * sqrt(3) / weights.norm()) + noise
    return list(zip(torch.split(inputs, batch), torch.split(targets, batch), strict=True))


def _network(device: Device, widths: Sequence[int]) -> nn.Sequential:
    """Return a network of linear layers and tanh whose signals begin with variance 1.

    But for its output, which begins near 0, so that the loss falls from the first step.
    """
    layers: list[nn.Module] = []
    for inner, outer in pairwise(widths):
        layer = nn.Linear(inner, outer, device="meta").to_empty(device=device.handle)
        variance = (1 if layers else 3) * (0.1 if outer == 1 else 1) / inner
        with torch.no_grad():
            layer.weight.copy_(device.uniform(outer, inner) * sqrt(3 * variance))
            layer.bias.zero_()
        layers += [layer, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def _on_cpu(model: nn.Module) -> nn.Module:
    """Return a copy of a network on the CPU, in float64."""
    return deepcopy(model).to("cpu", torch.float64)


def _joined(batches: Sequence[Batch]) -> Batch:
    inputs, targets = zip(*batches, strict=True)
    return torch.cat(inputs).double(), torch.cat(targets).double()
