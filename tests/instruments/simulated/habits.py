# SPDX-License-Identifier: MIT
# ruff: noqa: INP001, PLC0415 (a program, not part of a package; devices come after the fork)
"""What a program may rely on wherever its tensors lie, and under whichever mask.

``python -m habits MASK...`` plays on devices without a mask and then under each one, and prints
what was seen as one JSON object. A mask counts when the backend is loaded. So PyTorch is
imported once, without it, and every mask has a fork of that process.
"""

import json
import os
import sys
from multiprocessing import get_context
from typing import Any

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

import torch
from simulated_accelerator import autoload  # type: ignore[import-not-found]  # it lies beside
from torch import nn

from frobench.suite.kit.device import all_devices, choose, try_device
from frobench.suite.machine.host import stored_variables

MASK = "SIM_VISIBLE_DEVICES"


def presence(mask: str | None) -> dict[str, Any]:
    """Look around under a mask; without one, also do what programs do."""
    if mask is not None:
        os.environ[MASK] = mask
    autoload()
    seen: dict[str, Any] = {
        "try": [str(try_device(index)) for index in (0, 1, 2, 3, 4, -1)],
        "all": [str(device) for device in all_devices()],
        "chosen": choose([]),
        "recorded": stored_variables(os.environ).get(MASK),
    }
    return seen if mask is not None else seen | {"copies": copies(), "models": models()}


def copies() -> dict[str, Any]:
    """Copy between places and within one, and mix them."""
    from scenes import FIRST, SECOND, random, refusal  # type: ignore[import-not-found]  # as above

    here, there, elsewhere = random(3, 3), random(3, 3).to(FIRST), random(3, 3).to(SECOND)
    made = {
        "arange": torch.arange(7, device=FIRST).equal(torch.arange(7).to(FIRST)),
        "full": torch.full((2, 3), 1.5, device=FIRST).equal(torch.full((2, 3), 1.5).to(FIRST)),
        "listed": torch.tensor([[1.0, 2.0]], device=FIRST).equal(
            torch.tensor([[1.0, 2.0]]).to(FIRST)
        ),
    }
    target = torch.zeros(3, 3, device=SECOND)
    before = target.data_ptr()
    written = target.copy_(there)
    twin = there.clone()
    twin.add_(1)
    return {
        "made": made,
        "same": [
            tensor.to(tensor.device).data_ptr() == tensor.data_ptr()
            for tensor in (here, there, elsewhere)
        ],
        "copied": [
            tensor.to(tensor.device, copy=True).data_ptr() == tensor.data_ptr()
            for tensor in (here, there, elsewhere)
        ],
        "stays": [str(there.to(SECOND).device), str(there.device), str((there * 2).device)],
        "copy_": [written is target, target.data_ptr() == before, str(target.device)],
        "value": [target.cpu().equal(here), here.copy_(elsewhere).equal(random(3, 3))],
        "clone": [str(twin.device), there.cpu().equal(random(3, 3)), twin.cpu().equal(here + 1)],
        "mixed": {
            "cpu": refusal(lambda: here @ there),
            SECOND: refusal(lambda: there + elsewhere),
            "joined": refusal(lambda: torch.cat([there, elsewhere])),
        },
        "number": (there + torch.tensor(1.0)).cpu().equal(random(3, 3) + 1),
    }


def models() -> dict[str, Any]:
    """Move a model with parameters and buffers."""
    from scenes import FIRST, SECOND, random, refusal

    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    expected = model(random(5, 3)).detach()
    moved = model.to(FIRST)
    places = {str(value.device) for value in (*model.parameters(), *model.buffers())}
    result = model(random(5, 3).to(FIRST))
    result.square().sum().backward()
    return {
        "itself": moved is model,
        "places": sorted(places),
        "state": sorted({str(value.device) for value in model.state_dict().values()}),
        "result": [str(result.device), bool(torch.allclose(result.cpu(), expected, atol=1e-5))],
        "gradients": sorted(
            {str(value.grad.device) for value in model.parameters() if value.grad is not None}
        ),
        "alien": refusal(lambda: model(random(5, 3))),
        "on": str(model.to(SECOND)[1].running_mean.device),
        "tensor": str(random(3).to(FIRST).to(SECOND).device),
    }


if __name__ == "__main__":
    masks: list[str | None] = [None, *sys.argv[1:]]
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        seen = pool.map(presence, masks, chunksize=1)
    print(json.dumps(dict(zip(["unmasked", *sys.argv[1:]], seen, strict=True))))  # noqa: T201
