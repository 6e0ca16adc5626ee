# SPDX-License-Identifier: MIT
"""What is wrong with a whole process is planted here; `SABOTAGE` in the environment names it."""

import os
import signal
from time import perf_counter

import pytest
import torch

from frobench.suite.kit.device import Device
from frobench.suite.launch.plugin import SESSION
from frobench.suite.measure import timed_loop as timing
from tests.instruments.sabotage.planting import simulated, spend

pytest_plugins = ["frobench.suite.launch.plugin"]

PLANTED = os.environ.get("SABOTAGE", "").split(", ")
STEP = 1e-4
"""Seconds of a coarse clock's step, and of a reading of a costly one."""
SPOILT = 1
"""The number of the launch in which something is different, from 0."""
THROTTLED = 0.4
"""The part of its speed that a device keeps when it becomes too hot."""

replace = pytest.MonkeyPatch().setattr  # until the process ends


def coarse() -> float:
    """Read a clock that moves on by steps."""
    return perf_counter() // STEP * STEP


def costly() -> float:
    """Read a clock that takes its time."""
    spend(STEP)
    return perf_counter()


def set_clock(clock: timing.Clock, shown: timing.Clock) -> None:
    """Let bodies on the CPU be timed by one clock, and the harness look for steps in another."""
    get_ready, step = timing.Sampler.__post_init__, timing.timer_step

    def get_ready_otherwise(sampler: timing.Sampler) -> None:
        get_ready(sampler)
        if not sampler.queues:
            sampler.clock = clock

    def step_shown(asked: timing.Clock = perf_counter) -> float:
        return step(shown if asked in {clock, perf_counter} else asked)

    replace(timing.Sampler, "__post_init__", get_ready_otherwise)
    replace(timing, "timer_step", step_shown)


if "coarse clock" in PLANTED:
    set_clock(coarse, coarse)
if "costly clock" in PLANTED:
    set_clock(costly, perf_counter)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Spoil the launch that this process is, once it knows which."""
    launch = config.stash[SESSION].spec
    spoilt = launch.mode == "measure" and launch.launch == SPOILT
    if "changed settings" in PLANTED and spoilt:
        torch.set_num_threads(torch.get_num_threads() + 1)
    if "changed environment" in PLANTED and spoilt:
        os.environ["MKL_DYNAMIC"] = "FALSE"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let something happen while a launch measures."""
    launch = item.config.stash[SESSION].spec
    done = item.session.items.index(item)
    if launch.mode == "measure" and "interruption" in PLANTED and done == 1:
        os.kill(launch.runner, signal.SIGINT)
    if launch.mode == "measure" and "lazy work" in PLANTED:  # the waits are proved already
        replace(Device, "has_events", value=False)
        for name in launch.settings.devices:
            simulated(name).lazy = True
    if launch.mode == "measure" and "heat" in PLANTED and 2 * done == len(item.session.items):
        for name in launch.settings.devices:
            simulated(name).speed *= THROTTLED
