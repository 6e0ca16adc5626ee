# SPDX-License-Identifier: MIT
"""A benchmark that says it waits for its device does, by the device's own account."""

from typing import Any

import pytest

from tests.instruments.processes.stage import play_warm

STEPS = 4
"""Of the loops of `waits`."""


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """Call each body once, on devices that take longer for an operation than its launch."""
    return play_warm("waits", spec={"virtual": True, "launch": 1e-6, "kernel": 1e-3})


@pytest.mark.parametrize(
    ("body", "waits"),
    [
        ("wait", [STEPS, 0]),
        ("pinned", [1, 0]),  # for the last norm
        ("in_turn", [1, 1]),  # before the other device begins
        ("in_worker", [1, 0]),  # or the next step would begin early
    ],
)
def test_bodies_wait_as_often_as_is_said(seen: dict[str, Any], body: str, waits: list[int]) -> None:
    assert seen[body]["waits"] == waits


def test_a_batch_is_prefetched_into_a_place_that_no_step_still_reads(seen: dict[str, Any]) -> None:
    works = seen["prefetched"]["works"]
    copies = [(begin, end) for stream, begin, end in works if stream != 0]
    *training, _, _ = [(begin, end) for stream, begin, end in works if stream == 0]
    batches, steps = in_parts(copies), in_parts(training)  # without the losses, read at the end
    for (begun, copied), (step, _) in zip(batches, steps, strict=True):
        assert begun < copied <= step
    for (begun, _), (_, trained) in zip(batches[2:], steps, strict=False):  # there are two places
        assert begun >= trained


def in_parts(works: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return when each of the steps' equal parts of some works began and ended."""
    size = len(works) // STEPS
    parts = [works[first : first + size] for first in range(0, len(works), size)]
    return [(part[0][0], part[-1][1]) for part in parts]
