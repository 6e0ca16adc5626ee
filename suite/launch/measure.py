# SPDX-License-Identifier: MIT
"""What a benchmark calls to have its body timed, and how its samples reach pytest-benchmark."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from frobench.suite.kit import device as dev
from frobench.suite.kit.lanes import Track
from frobench.suite.launch.session import LaunchSession
from frobench.suite.measure.around import ColdCaches
from frobench.suite.measure.sampler import Body, Sampler
from frobench.suite.stored.types import Check, Work

if TYPE_CHECKING:
    from frobench.suite.journal import Measured

WINDOW = pytest.StashKey[bool]()
"""Whether an item stands for a case that is repeated in a window, after it was measured."""


NO_WORK = Work()


class Measure:
    """What a benchmark calls, once, to have its body timed and its result checked."""

    def __init__(self, session: LaunchSession, item: pytest.Function) -> None:
        self._session = session
        self._item = item
        self._devices: list[dev.Device] = []
        self.measured: Measured | None = None

    def involve(self, *devices: dev.Device) -> None:
        """Synchronise these devices before and after every sample; watch their memory."""
        self._devices += devices
        self._session.resources.blocker(devices)  # what it allocates is not the case's
        for device in devices:
            device.reset_peak_bytes()

    def __call__(  # noqa: PLR0913 - a keyword for each thing that few benchmarks need
        self,
        body: Body,
        *,
        work: Work = NO_WORK,
        check: Callable[[Any], Check] | None = None,
        lanes: Sequence[Track] = (),
        before: Callable[[], object] | None = None,
        against: Body | None = None,
        cold: bool = False,
        apart: Mapping[str, float] = MappingProxyType({}),
        control: bool = False,
    ) -> None:
        """Time a body.

        body : does the work once and returns its result
        work : what one call does, counted from its definition; rates follow from it
        check : compares the last call's result with the truth, after the timing
        lanes : where a body that uses several streams or devices queues its work; it enters them
        before : called before each sample, outside the clocks
        against : another version of the body, sampled right beside it, so that `frobench compare`
            shows small differences of the two
        cold : empty the devices' caches before each sample, outside the clocks
        apart : seconds spent once, outside the clocks, by the name of their part in the stored
            file, such as ``compile``
        control : the body works strictly in turn, so overlap of its lanes is an error of clocks
        """
        if self.measured is not None:
            pytest.fail("a benchmark measures once")
        if cold and not self._devices:
            pytest.fail("cold=True is for devices of this process; workers have their own caches")
        caches = ColdCaches(self._devices) if cold else None
        plain = not (lanes or before or against)
        blocker = self._session.resources.blocker(self._devices) if plain else None
        sampler = Sampler(body, self._devices, lanes, before, against, caches, blocker=blocker)
        if WINDOW in self._item.stash:
            self._session.write(self._session.cases.repeat(self._item, sampler, check))
        else:
            self.measured = self._session.cases.measure(self._item, sampler, work, check, apart)
            self.measured.control = control


def again(item: pytest.Function) -> pytest.Function:
    """Return an item that repeats a case in a window."""
    copied = copy(item)
    copied.stash = pytest.Stash()
    copied.stash[WINDOW] = True
    copied._initrequest()  # noqa: SLF001 - as pytest does when it runs an item anew
    return copied


class Replay:
    """A timer for pytest-benchmark whose pairs of readings are as far apart as finished samples.

    `pedantic` reads its timer twice a round, and never calibrates.
    """

    __name__ = "perf_counter"

    def __init__(self) -> None:
        self._readings: deque[float] = deque()

    def __call__(self) -> float:
        """Return zero and a sample in turn."""
        return self._readings.popleft()

    def show(self, benchmark: Any, measured: "Measured") -> None:  # noqa: ANN401 - untyped
        """Hand samples to pytest-benchmark's fixture, whose timer this is."""
        for sample in measured.samples:
            self._readings.extend((0.0, sample))
        benchmark.extra_info["work"] = msgspec.to_builtins(measured.work)
        benchmark.extra_info["check"] = msgspec.to_builtins(measured.check)
        benchmark.extra_info["iterations"] = measured.iterations
        benchmark.pedantic(lambda: None, rounds=len(measured.samples))
