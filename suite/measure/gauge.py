# SPDX-License-Identifier: MIT
"""The gauge: a few fixed bodies that every launch times on every device, whatever is measured.

Two runs whose gauges differ met the machine in different states (another clock, a neighbour on
the same host), so their cases may differ for that reason alone. Stored times are not corrected by
it; a comparison may divide them by the Python loop's (see `suite.compare.verdicts.levels`).
"""

import math
import statistics
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import torch

from suite.errors import DoesNotFitError
from suite.kit.device import Device
from suite.kit.waiting import REFUSALS
from suite.measure.sampler import Body, Sampler

ROUNDS = 5
"""Samples of each body before the first case and behind the last one."""
ROUNDS_BETWEEN = 20
"""Samples of each body between cases, at most."""
LOOP, OPERATIONS, PRODUCT = 10_000, 20, 256
"""Passes of a Python loop, tiny operations in a row, and rows of a square product."""
COPIED = 2**25
"""Bytes of a copy: more than the caches next to a core hold."""


class Gauge:
    """Times the fixed bodies of some devices; a body that a device refuses is left out.

    cases : how many cases follow, over which further samples are spread evenly
    """

    def __init__(self, devices: Sequence[Device], cases: int) -> None:
        self._samplers: dict[str, Sampler] = {}
        self._samples: dict[str, list[float]] = {}
        self._stride = max(1, math.ceil(cases / ROUNDS_BETWEEN))
        self._cases = 0
        for device in devices:
            for body_name, body in _bodies(device).items():
                name, sampler = f"{device.name}/{body_name}", Sampler(body, [device])
                with suppress(*REFUSALS):
                    sampler.took(2)
                    self._samplers[name], self._samples[name] = sampler, []
        self._read(ROUNDS)

    def read_before_case(self) -> None:
        """Take a sample of each body, unless one was taken a few cases ago."""
        if self._cases % self._stride == 0:
            self._read(1)
        self._cases += 1

    def finish(self) -> dict[str, float]:
        """Take the last samples; return the median seconds of each body that a clock can tell."""
        self._read(ROUNDS)
        medians = {name: statistics.median(taken) for name, taken in self._samples.items() if taken}
        return {name: seconds for name, seconds in medians.items() if seconds > 0}

    def _read(self, rounds: int) -> None:
        for _ in range(rounds):
            for name in list(self._samplers):
                try:
                    self._samples[name].append(self._samplers[name].took())
                except REFUSALS:  # the device is full, or lost, which its next case will say
                    del self._samplers[name]


def _bodies(device: Device) -> dict[str, Body]:
    bodies: dict[str, Body] = {} if device.is_accelerator else {"python": _loop}
    try:
        small, source = device.uniform(16, 16), device.uniform(COPIED // 4)
        left, right = device.uniform(PRODUCT, PRODUCT), device.uniform(PRODUCT, PRODUCT)
        target = torch.empty_like(source)
    except (DoesNotFitError, *REFUSALS):
        return bodies
    return bodies | {
        "operations": partial(_add_often, small),
        "product": partial(torch.matmul, left, right),
        "copy": partial(target.copy_, source),
    }


def _loop() -> int:
    total = 0
    for number in range(LOOP):
        total += number
    return total


def _add_often(small: torch.Tensor) -> torch.Tensor:
    for _ in range(OPERATIONS):
        small = small + 0.0
    return small
