# SPDX-License-Identifier: MIT
"""What a program sees of `nn.DataParallel`; run by the tests, which judge it.

It runs on all accelerators that are there.
"""

import os
import threading
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import replicate

kind = torch.accelerator.current_accelerator(check_available=True)
assert kind is not None, "these scenes need accelerators"
TYPE = kind.type
FIRST = torch.device(TYPE, 0)


class Witness(nn.Module):
    """A linear layer that notes its calls: as an attribute, in a buffer, and where all can see."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2, device=FIRST)
        self.calls = 0
        self.seen: Tensor
        self.register_buffer("seen", torch.zeros((), device=FIRST))
        self.devices: list[str] = []  # one list, which the replicas share
        self.rows: list[int] = []
        self.lock = threading.Lock()

    def forward(self, inputs: Tensor) -> Tensor:
        """Return two numbers a row."""
        self.calls += 1
        self.seen += 1
        with self.lock:
            self.devices.append(str(inputs.device))
            self.rows.append(len(inputs))
        result: Tensor = self.layer(inputs)
        return result


class Mean(nn.Module):
    """Returns a single number for all that it is given."""

    def forward(self, inputs: Tensor) -> Tensor:
        """Return a scalar."""
        return inputs.mean()


class Forwarding(nn.DataParallel[Witness]):
    """A wrapper that has whatever the module in it has."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the module has it
        """Look in the module for what the wrapper itself does not have."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)


def batch(rows: int) -> Tensor:
    """Return so many rows of three numbers."""
    return torch.arange(3.0 * rows, device="cpu").reshape(rows, 3).to(FIRST)


def batches() -> dict[str, object]:
    """Give batches of several sizes; return how many rows went where, and how far off it was."""
    count, seen = torch.accelerator.device_count(), {}
    for rows in (1, count - 1, count, count + 1, 4 * count):
        module = Witness()
        inputs = batch(rows)
        error = (nn.DataParallel(module)(inputs) - module.layer(inputs)).abs().max()
        seen[str(rows)] = [sorted(module.rows), len(set(module.devices)), error.item()]
    return {"count": count, "seen": seen}


def updates() -> dict[str, object]:
    """Update an attribute and a buffer in the forward pass; return what the module has of it."""
    module = Witness()
    wrapped = nn.DataParallel(module)
    for _ in range(3):
        wrapped(batch(4))
    return {"attribute": module.calls, "buffer": module.seen.item(), "calls": len(module.devices)}


def hooks() -> dict[str, object]:
    """Return in which order hooks of a module ran before and after its pass on each device."""
    module, ran = Witness(), []
    module.register_forward_pre_hook(lambda _, given: ran.append(f"before {given[0].device}"))
    module.register_forward_hook(lambda _, given, __: ran.append(f"after {given[0].device}"))
    nn.DataParallel(module)(batch(8))
    return {"ran": ran}


def scalars() -> dict[str, object]:
    """Return what comes of one number from each device, and the warning."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        means = nn.DataParallel(Mean().to(FIRST))(batch(8))
    return {
        "shape": list(means.shape),
        "means": means.tolist(),
        "warned": any("return a vector" in str(one.message) for one in said),
    }


def attributes() -> dict[str, object]:
    """Ask a plain wrapper and a forwarding one for what only the module has; train the latter."""
    plain, forwarding = nn.DataParallel(Witness()), Forwarding(Witness())
    layer = forwarding.layer
    assert isinstance(layer, nn.Linear)
    before = layer.weight.detach().clone()
    forwarding(batch(4)).sum().backward()
    torch.optim.SGD(forwarding.parameters(), 0.1).step()
    return {
        "plain": hasattr(plain, "layer"),
        "forwarding": hasattr(forwarding, "layer"),
        "absent": hasattr(forwarding, "nothing of the kind"),
        "trained": not torch.equal(before.cpu(), layer.weight.detach().cpu()),
    }


def copies() -> dict[str, object]:
    """Replicate a module; return what parameters replicas call their own, and its gradient."""
    module = Witness()
    replicas = replicate(module, list(range(torch.accelerator.device_count())))
    sums = [replica.layer.weight.sum().to(FIRST) for replica in replicas]
    torch.stack(sums).sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it so
    assert module.layer.weight.grad is not None
    return {
        "parameters": [len(list(replica.parameters())) for replica in replicas],
        "gradient": module.layer.weight.grad.flatten().tolist(),
    }


def mask() -> dict[str, object]:
    """Leave one device visible after they have been used; return how many there are still."""
    before = torch.accelerator.device_count()
    os.environ[f"{TYPE.upper()}_VISIBLE_DEVICES"] = "0"
    last = torch.ones(2, device=f"{TYPE}:{before - 1}") + 1
    return {
        "before": before,
        "after": torch.accelerator.device_count(),
        "last": last.tolist(),
    }


SCENES: tuple[Callable[[], dict[str, object]], ...] = (
    batches,
    updates,
    hooks,
    scalars,
    attributes,
    copies,
    mask,
)
