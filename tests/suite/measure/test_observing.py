# SPDX-License-Identifier: MIT
"""Which calls of a body a span sample makes, and when it has a control."""

from collections.abc import Callable, Sequence

import pytest

from frobench.suite.concurrency import Interval
from frobench.suite.kit.lanes import Track, Turns
from frobench.suite.measure.timed_loop import Sampler
from tests.instruments.devices.virtual import VirtualClock

APART = [(0.0, 1.0), (1.0, 3.0)]
"""When two tracks of a body work in turn; at the same time both begin with the first."""


class Fake(Track):
    """A track whose work is known; it keeps how it was armed."""

    def __init__(self, interval: Interval, *, takes_turns: bool = True) -> None:
        super().__init__()
        self._interval = interval
        self._takes_turns = takes_turns
        self.armed: list[bool] = []
        self.disarmed = 0

    def takes_turns(self, others: Sequence[Track]) -> bool:
        """Tell whether there is a control."""
        return self._takes_turns and self in others

    def arm(self, turns: Turns | None = None) -> None:
        """Keep whether entries take turns."""
        self.armed.append(turns is not None)

    def disarm(self) -> None:
        """Count how often."""
        self.disarmed += 1

    def intervals(self) -> list[Interval]:
        """Return when it worked, from the first moment on unless it had to wait."""
        begin, end = self._interval
        return [(begin, end) if self.armed[-1] else (0.0, end - begin)]


def sampler(tracks: list[Fake], body: Callable[[], object]) -> Sampler:
    """Return the sampler of a body on a clock that each reading moves on by a second."""
    return Sampler(body, [], tracks, clock=VirtualClock(cost=1.0))


def observe(tracks: list[Fake]) -> tuple[dict[str, float], int]:
    """Return what a span sample shows of a body, and how often it was called."""
    calls: list[None] = []
    return sampler(tracks, lambda: calls.append(None)).span(), len(calls)


def test_tracks_have_a_control_in_which_their_entries_take_turns() -> None:
    tracks = [Fake(interval) for interval in APART]
    seen, calls = observe(tracks)
    assert [track.armed for track in tracks] == [[False, True]] * 2
    assert calls == 2
    assert seen == {
        "span": 2.0,
        "at_once": 2.0,
        "shared": 1.0,
        "entries": 2.0,
        "in_turn": 2.0,
        "shared_in_turn": 0.0,
        "shareable": 1.0,
        "balance": 0.5,
    }


def test_without_a_control_nothing_is_said_of_what_tracks_share() -> None:
    stubborn = [Fake(APART[0]), Fake(APART[1], takes_turns=False)]
    assert observe(stubborn) == ({"span": 2.0}, 1)
    assert observe([Fake(APART[1])]) == ({"span": 2.0}, 1)


def test_tracks_observe_nothing_after_a_span_sample_even_of_a_body_that_raises() -> None:
    tracks = [Fake(interval) for interval in APART]
    observe(tracks)
    with pytest.raises(ZeroDivisionError):
        sampler(tracks, lambda: 1 // 0).span()
    assert [track.disarmed for track in tracks] == [len(track.armed) for track in tracks] == [3, 3]
