# SPDX-License-Identifier: MIT
"""Searches of a session: each try is journaled, the time is shared, nothing is learnt twice."""

from collections.abc import Callable, Sequence
from typing import Literal

import pytest

from frobench.suite.errors import DoesNotFitError
from frobench.suite.journal import Tried
from frobench.suite.kit.device import Device
from frobench.suite.kit.search_strategy import LEAST_TRIES, Shape, Try
from frobench.suite.launch.search import BRIEF, Make, Searches
from frobench.suite.stored.types import Search, Settings
from tests.instruments.runs import made_up_records

CPU = Device("cpu")
SETTINGS = Settings(
    profile="standard", longest_sample=0.2, case_seconds=0.5, budget=10.0, devices=["cpu"]
)


def searches(
    seconds: float = 0.0,
    searched: dict[str, Search] | None = None,
    mode: Literal["pilot", "alone"] = "pilot",
) -> tuple[Searches, list[Tried]]:
    """Return the searches of a pilot, and what they journal."""
    spec = made_up_records.spec(mode, SETTINGS, search_seconds=seconds, searched=searched or {})
    journal: list[Tried] = []
    return Searches(spec, journal.append), journal


def fits(elements: float) -> Make:
    """Return what makes bodies that do nothing, from shapes of so many elements at most."""

    def make(shape: Shape) -> Callable[[], None]:
        if shape.elements > elements:
            raise DoesNotFitError("too large")
        return lambda: None

    return make


def test_every_try_is_journaled() -> None:
    some, journal = searches()
    shape = some.find("a", CPU, fits(1e6))
    assert len(journal) >= LEAST_TRIES
    assert {tried.case for tried in journal} == {"a"}
    assert shape in {tried.attempt.shape for tried in journal if tried.attempt.seconds}
    assert some.found["a"].seconds == pytest.approx(
        sum(tried.attempt.spent for tried in journal), abs=1e-3
    )
    assert some.took["a"] >= sum(tried.attempt.spent for tried in journal)


def test_what_is_known_is_not_searched_for() -> None:
    known = Search(shape=[64, 128, 256], shapes=9, seconds=1.0, runner_up=0.9)
    some, journal = searches(searched={"a": known})
    assert some.find("a", CPU, fits(0)) == (64, 128, 256)
    assert journal == []
    assert some.took == {}


def test_it_goes_on_where_an_earlier_process_ended() -> None:
    whole, journal = searches()
    whole.find("a", CPU, fits(1e9))
    before = journal[: LEAST_TRIES - 2]
    again, rest = searches()
    for tried in before:
        again.tries["a"].append(tried.attempt)
    again.tries["b"].append(journal[0].attempt)
    again.find("a", CPU, fits(1e9))
    assert len(rest) == 2
    assert again.found["a"].shapes == len({tried.attempt.shape for tried in [*before, *rest]})


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let every search end after a try; return the seconds that each was given."""
    seconds: list[float] = []

    def once(
        tries: Sequence[Try], _call: float, least: float, _processors: int | None
    ) -> Shape | None:
        if tries:
            return None
        seconds.append(least)
        return Shape(64, 64, 64)

    monkeypatch.setattr("frobench.suite.launch.search.proposal", once)
    return seconds


def test_cases_share_the_time_and_leave_what_they_do_not_use(given: list[float]) -> None:
    some, journal = searches(seconds=60.0)
    some.waiting = {*"abcd"}
    some.waiting.discard("d")  # it cannot be measured here
    for case in "abc":
        some.find(case, CPU, fits(1e9))
        some.waiting.discard(case)
    first, second = (tried.attempt.spent for tried in journal[:2])
    assert given == pytest.approx([20.0, (60.0 - first) / 2, 60.0 - first - second])


def test_what_earlier_processes_spent_counts(given: list[float]) -> None:
    some, _ = searches(seconds=60.0)
    some.tries["b"].append(Try(Shape(64, 64, 64), 1e-3, 10.0))
    some.find("a", CPU, fits(1e9))
    assert given == [50.0]


def test_a_session_that_no_runner_started_searches_briefly(given: list[float]) -> None:
    some, _ = searches(mode="alone")
    some.waiting = {*"ab"}
    some.find("a", CPU, fits(1e9))
    assert given == [BRIEF]


@pytest.mark.usefixtures("given")
@pytest.mark.parametrize(("mode", "times"), [("pilot", 1), ("alone", 0)])
def test_the_clocks_settle_once_before_a_pilots_first_search(
    monkeypatch: pytest.MonkeyPatch, mode: Literal["pilot", "alone"], times: int
) -> None:
    settled: list[list[Device]] = []
    some, journal = searches(mode=mode)

    def settle(devices: list[Device]) -> None:
        assert not journal  # nothing was tried before
        settled.append(devices)

    monkeypatch.setattr("frobench.suite.launch.search.steady_clocks", settle)
    for case in "ab":
        some.find(case, CPU, fits(1e9))
    assert settled == [[CPU]] * times


def test_a_device_without_memory_for_the_smallest_shape_is_told() -> None:
    some, journal = searches()
    with pytest.raises(DoesNotFitError, match="cpu has no memory"):
        some.find("a", CPU, fits(0))
    assert [tried.attempt.seconds for tried in journal] == [None]
