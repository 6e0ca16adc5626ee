# SPDX-License-Identifier: MIT
# ruff: noqa: PLC0415 - a process imports torch only if its body needs it, as a user's would
"""What every tool times, by name.

Each name stands for a callable without arguments. Inputs are made once, outside of it, and are
the same in every process.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from studies.peers.waits import Wait, write_down

if TYPE_CHECKING:
    from torch import Tensor

Body = Callable[[], Any]

DEVICE = "PEERS_DEVICE"
"""The environment variable that names the accelerator of the bodies that run on one."""
WAITS = {
    "wait_5us": 5e-6,
    "wait_50us": 50e-6,
    "wait_500us": 500e-6,
    "wait_5ms": 5e-3,
    "wait_50ms": 50e-3,
}
EMPTY = "nothing"
MAIN = ("python_loop", "products_64", "product_256")
"""Bodies that every tool measures often enough to see what an honest interval takes."""
MORE = ("add", "softmax", "norm", "cumsum", "copy", "sort", "json", "split", "sha256")
"""Further bodies, for false alarms."""
QUEUED, WAITED = "product_queued", "product_waited"
"""A product on an accelerator, and one that the body itself waits for."""
DEVICE_SIZE = {"sim": 256, "cuda": 4096}


@contextmanager
def subject(name: str) -> Iterator[Body]:
    """Give a body to be timed; a wait writes down its lengths when it is over."""
    if name not in WAITS:
        yield make(name)
        return
    wait = Wait(WAITS[name])
    yield wait.body
    write_down(name, wait.finish())


def make(name: str) -> Body:
    """Return the body of a name that is not a wait's."""
    if name in (QUEUED, WAITED):
        return _on_device(name, os.environ[DEVICE])
    return _MAKERS[name]()


def _on_device(name: str, device: str) -> Body:
    import torch

    n = DEVICE_SIZE[device.partition(":")[0]]
    a, b = (_uniform(n, n, seed=seed).to(device) for seed in (1, 2))
    if name == QUEUED:
        return lambda: a @ b
    module = torch.get_device_module(device)

    def waited() -> "Tensor":
        product = a @ b
        module.synchronize(device)
        return product

    return waited


def _uniform(*shape: int, seed: int = 0) -> "Tensor":
    import torch

    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1


def _nothing() -> None:
    pass


def _python_loop() -> int:
    total = 0
    for number in range(2000):
        total += number * number
    return total


def _products_64() -> Body:
    a, b = _uniform(64, 64, seed=1), _uniform(64, 64, seed=2)

    def products() -> "Tensor":
        for _ in range(15):
            product = a @ b
        return product

    return products


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _of_two(function: Callable[[Any, Any], Any], *shape: int) -> Body:
    return partial(function, _uniform(*shape, seed=1), _uniform(*shape, seed=2))


_MAKERS: dict[str, Callable[[], Body]] = {
    EMPTY: lambda: _nothing,
    "python_loop": lambda: _python_loop,
    "products_64": _products_64,
    "product_256": lambda: _of_two(lambda a, b: a @ b, 256, 256),
    "add": lambda: _of_two(lambda a, b: a + b, 100_000),
    "softmax": lambda: partial(_uniform(128, 512).softmax, dim=1),
    "norm": lambda: _uniform(300, 300).norm,
    "cumsum": lambda: partial(_uniform(100_000).cumsum, 0),
    "copy": lambda: _uniform(200_000).clone,
    "sort": lambda: partial(sorted, [number * 7919 % 1009 for number in range(1000)]),
    "json": lambda: partial(json.dumps, [{"name": f"row {n}", "value": n / 7} for n in range(100)]),
    "split": lambda: " ".join(map(str, range(3000))).split,
    "sha256": lambda: partial(_digest, bytes(range(256)) * 256),
}
