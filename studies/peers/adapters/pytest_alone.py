# SPDX-License-Identifier: MIT
"""pytest-benchmark by itself: a test that calls its fixture.

``pytest`` on this module, with ``--benchmark-json``, is what a user types.
"""

import json
import os
from statistics import fmean
from time import perf_counter
from typing import Any

import pytest

from studies.peers.bodies import DEVICE, EMPTY, MAIN, MORE, QUEUED, WAITED, WAITS, subject
from studies.peers.rules import mean_of_means, normal_interval, samples_differ
from studies.peers.single import Timed, measurements
from studies.peers.tool import Measurement, Order, Rules, Tool, run

LEFT_OVER = 1
"""Calls of a body after its last round: the fixture returns its result."""


@pytest.mark.parametrize("name", [*WAITS, EMPTY, *MAIN, *MORE, QUEUED, WAITED])
def test_body(benchmark: Any, name: str) -> None:  # noqa: ANN401 - pytest-benchmark is untyped
    with subject(name) as body:
        begun = perf_counter()
        benchmark(body)
        benchmark.extra_info["seconds"] = perf_counter() - begun


def measure(order: Order) -> list[Measurement]:
    """Run pytest once."""
    out = order.folder / "benchmark.json"
    wall, _ = run(
        *("-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider"),
        *(f"{__file__}::test_body[{name}]" for name in order.bodies),
        *(f"--benchmark-json={out}", "--benchmark-save-data"),
        order=order,
        environment={DEVICE: order.device},
    )
    written = json.loads(out.read_bytes())["benchmarks"]
    timed = [
        Timed(
            body=each["params"]["name"],
            samples=each["stats"]["data"],
            iterations=each["stats"]["iterations"],
            seconds=each["extra_info"]["seconds"],
        )
        for each in written
    ]
    return measurements(timed, wall, order.folder, after=LEFT_OVER)


TOOL = Tool(
    name="pytest-benchmark alone",
    usage="`benchmark(body)`, with its defaults",
    distribution="pytest-benchmark",
    measure=measure,
    reports=mean_of_means,
    rules=Rules(
        replicates=False,
        number=fmean,
        least=1,
        interval=normal_interval,
        estimand=mean_of_means,
        differs=samples_differ,
        interval_rule="the mean of the rounds of one process and 1.96 standard errors, as its "
        "`--benchmark-precision` has it",
        alarm_rule="Mann-Whitney at 5% on the rounds of a process each",
    ),
    devices=(QUEUED, WAITED),
    uses=2,
)
