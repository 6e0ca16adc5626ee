# SPDX-License-Identifier: MIT
# ruff: noqa: PLC0415 - a process imports torch only if its body needs it, as a user's would
"""What every tool times, by name.

Each name stands for a callable without arguments. Inputs are made once, outside of it, and are
the same in every process.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


def _nothing() -> Body:
    def nothing() -> None:
        pass

    return nothing


def _python_loop() -> Body:
    def python_loop() -> int:
        total = 0
        for number in range(2000):
            total += number * number
        return total

    return python_loop


def _products_64() -> Body:
    a, b = _uniform(64, 64, seed=1), _uniform(64, 64, seed=2)

    def products() -> "Tensor":
        for _ in range(15):
            product = a @ b
        return product

    return products


def _product_256() -> Body:
    a, b = _uniform(256, 256, seed=1), _uniform(256, 256, seed=2)
    return lambda: a @ b


def _add() -> Body:
    a, b = _uniform(100_000, seed=1), _uniform(100_000, seed=2)
    return lambda: a + b


def _softmax() -> Body:
    a = _uniform(128, 512)
    return lambda: a.softmax(dim=1)


def _norm() -> Body:
    a = _uniform(300, 300)
    return a.norm


def _cumsum() -> Body:
    a = _uniform(100_000)
    return lambda: a.cumsum(0)


def _copy() -> Body:
    a = _uniform(200_000)
    return a.clone


def _sort() -> Body:
    numbers = [number * 7919 % 1009 for number in range(1000)]
    return lambda: sorted(numbers)


def _json() -> Body:
    import json

    table = [{"name": f"row {row}", "value": row / 7} for row in range(100)]
    return lambda: json.dumps(table)


def _split() -> Body:
    text = " ".join(str(number) for number in range(3000))
    return text.split


def _sha256() -> Body:
    import hashlib

    data = bytes(range(256)) * 256
    return lambda: hashlib.sha256(data).digest()


_MAKERS: dict[str, Callable[[], Body]] = {
    EMPTY: _nothing,
    "python_loop": _python_loop,
    "products_64": _products_64,
    "product_256": _product_256,
    "add": _add,
    "softmax": _softmax,
    "norm": _norm,
    "cumsum": _cumsum,
    "copy": _copy,
    "sort": _sort,
    "json": _json,
    "split": _split,
    "sha256": _sha256,
}
