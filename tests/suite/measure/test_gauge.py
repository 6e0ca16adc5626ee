# SPDX-License-Identifier: MIT
"""The gauge times fixed bodies around and between the cases of a launch."""

from collections.abc import Callable

import pytest

from frobench.suite.kit.device import REFUSALS, Device
from frobench.suite.measure import settling_and_gauge
from frobench.suite.measure.settling_and_gauge import Gauge


def counting(calls: list[str], name: str) -> Callable[[], None]:
    def body() -> None:
        calls.append(name)

    return body


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    made: list[str] = []
    monkeypatch.setattr(
        settling_and_gauge, "_bodies", lambda _: {"python": counting(made, "python")}
    )
    return made


@pytest.mark.parametrize(("cases", "between"), [(1, 1), (6, 6), (20, 20), (21, 11), (400, 20)])
def test_samples_are_taken_before_the_first_case_between_cases_and_behind_the_last(
    calls: list[str], cases: int, between: int
) -> None:
    read = Gauge([Device("cpu")], cases)
    warm = len(calls) - settling_and_gauge.ROUNDS
    assert warm > 0
    for _ in range(cases):
        read.read_before_case()
    assert read.finish().keys() == {"cpu/python"}
    assert len(calls) == warm + 2 * settling_and_gauge.ROUNDS + between


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_body_that_the_device_refuses_is_left_out(
    refusal: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise refusal

    monkeypatch.setattr(
        settling_and_gauge, "_bodies", lambda _: {"product": refuse, "python": sum_up}
    )
    assert Gauge([Device("cpu")], 1).finish().keys() == {"cpu/python"}


def test_a_body_that_fails_later_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def fail_later() -> None:
        calls.append(1)
        if len(calls) > 2 + settling_and_gauge.ROUNDS:
            raise RuntimeError

    monkeypatch.setattr(
        settling_and_gauge, "_bodies", lambda _: {"copy": fail_later, "python": sum_up}
    )
    read = Gauge([Device("cpu")], 1)
    read.read_before_case()
    assert read.finish().keys() == {"cpu/copy", "cpu/python"}


def sum_up() -> int:
    return sum(range(1000))
