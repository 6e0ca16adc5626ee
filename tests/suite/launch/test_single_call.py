# SPDX-License-Identifier: MIT
"""The one call for a profiler, on a clock that only the body advances."""

from msgspec.structs import replace

from frobench.suite.launch.case import called_once
from frobench.suite.measure.timed_loop import Sampler
from frobench.suite.profiles import settings_for
from tests.instruments.devices.virtual import VirtualClock


def test_of_two_versions_the_one_that_is_called_has_a_result() -> None:
    clock = VirtualClock(cost=30e-9)

    def body() -> str:
        clock.now += 0.01
        return "new"

    settings = replace(settings_for("quick", ["cpu"]), case_seconds=0.1)
    sampler = Sampler(body, [], against=lambda: "old", clock=clock)
    called_once(sampler, "case", settings, None)
    assert sampler.results == ["new"]
    sampler.repeat()
    assert sampler.results == ["new"]
    sampler.run(settings)
    assert sampler.results == ["new", "old"]


def test_the_caches_are_emptied_once_before_the_call_and_never_while_it_warms_up() -> None:
    clock = VirtualClock(cost=30e-9)
    events: list[str] = []

    def body() -> None:
        events.append("call")
        clock.now += 0.01

    def cold() -> None:
        events.append("empty")
        clock.now += 1.0

    settings = replace(settings_for("quick", ["cpu"]), case_seconds=0.1)
    sampler = Sampler(body, [], cold=cold, clock=clock)  # type: ignore[arg-type] # empties nothing
    called = called_once(sampler, "case", settings, None)
    assert events.count("call") > 2
    assert events[-2:] == ["empty", "call"]
    assert events.count("empty") == 1
    assert 0.01 <= called.samples[0] < 0.02
