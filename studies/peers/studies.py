# SPDX-License-Identifier: MIT
"""What follows from the measurements: nearness to the truth, and cost."""

from collections.abc import Callable, Sequence
from statistics import median

from studies.peers.bodies import DEVICE_SIZE, EMPTY, WAITS
from studies.peers.figures import Empty, OnDevice, Wait
from studies.peers.plan import SIMULATED, Taken
from studies.peers.tool import Measurement, Process, Tool
from tests.instruments.simulated.simulated_accelerator.spec import Spec


def waits(tools: Sequence[Tool], taken: Taken) -> list[Wait]:
    """Hold what the tools report against what the waits recorded."""
    return [
        _wait(tool, body, taken[tool.name, body])
        for body in WAITS
        for tool in tools
        if (tool.name, body) in taken
    ]


def _wait(tool: Tool, body: str, uses: Sequence[Measurement]) -> Wait:
    reported = [tool.reports(use.samples()) for use in uses]
    recorded = [tool.reports(use.recorded()) for use in uses]
    own_calls = [_typical(use, lambda process: process.own_call) for use in uses]
    excesses = [says - truth for says, truth in zip(reported, recorded, strict=True)]
    errors = [excess - own for excess, own in zip(excesses, own_calls, strict=True)]
    return Wait(
        tool=tool.name,
        body=body,
        reported=median(reported),
        recorded=median(recorded),
        excess=median(excesses),
        own_call=median(own_calls),
        error=median(errors),
        two_readings=median(_typical(use, lambda process: process.two_readings) for use in uses),
    )


def _typical(use: Measurement, what: Callable[[Process], float]) -> float:
    return median(what(process) for process in use.processes)


def on_devices(tools: Sequence[Tool], device: str, taken: Taken) -> list[OnDevice]:
    """Return what the tools report of a product on an accelerator, and the truth if it is known."""
    work, wait = _simulated_truth() if device == SIMULATED else (None, None)
    return [
        OnDevice(
            tool=tool.name,
            device=device,
            body=body,
            reported=median(tool.reports(use.samples()) for use in taken[tool.name, body]),
            work=work,
            wait=wait,
        )
        for tool in tools
        for body in tool.devices
        if (tool.name, body) in taken
    ]


def _simulated_truth() -> tuple[float, float]:
    """Return what the simulated device takes for the product, and who waits for it."""
    spec, n = Spec(), DEVICE_SIZE["sim"]
    work = spec.kernel + 2 * n**3 / spec.flops["float32"]
    return work, spec.launch + work + spec.synchronise


def empty(tools: Sequence[Tool], taken: Taken) -> list[Empty]:
    """Return what the tools report of a call of nothing."""
    return [
        Empty(
            tool=tool.name,
            reported=median(tool.reports(use.samples()) for use in taken[tool.name, EMPTY]),
        )
        for tool in tools
        if (tool.name, EMPTY) in taken
    ]
