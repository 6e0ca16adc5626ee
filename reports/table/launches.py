# SPDX-License-Identifier: MIT
"""The numbers of cases in each launch, which tables and findings are made of."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from frobench.suite.statistics import Medians, case_medians
from frobench.suite.stored.types import Case

Numbers = np.ndarray[Any, np.dtype[np.float64]]
WORK = ("flops", "bytes", "items")
RATES = {
    "flop_rate": ("flops", "seconds"),
    "byte_rate": ("bytes", "seconds"),
    "item_seconds": ("seconds", "items"),
}
"""Work by time, and time by work."""
SUSTAINED_RATE = "sustained_flop_rate"
"""The rate of a body that is repeated for seconds."""
_QUOTIENTS = RATES | {
    SUSTAINED_RATE: ("flops", "part_sustained"),
    "device_flop_rate": ("flops", "device_seconds"),
    "device_byte_rate": ("bytes", "device_seconds"),
}
PART = "part_"
"""Before the name of a part of a sample, such as ``part_enqueue``."""


class ByLaunch:
    """Numbers of cases by launch (rows) and case (columns), NaN where there is none.

    ``seconds`` is the median of a launch's samples, for one call of the body, and
    ``device_seconds`` the device's own time, where it is known, in place of what a user waits;
    ``flops``, ``bytes`` and ``items`` are the work of that call, and rates are work by time, where
    a clock saw any.
    """

    def __init__(self, cases: Sequence[Case], medians: Medians | None = None) -> None:
        self._cases = cases
        self._medians = medians
        self._launches = max((len(case.extra_info.launches) for case in cases), default=0)
        self._known: dict[str, Numbers] = {}

    def __getitem__(self, name: str) -> Numbers:
        """Return numbers by their name; nothing but NaN of a part that no case has."""
        if name not in self._known:
            self._known[name] = self._numbers(name)
        return self._known[name]

    @property
    def parts(self) -> list[str]:
        """The names of the parts that any case has."""
        names = dict.fromkeys(part for case in self._cases for part in case.extra_info.parts)
        return [f"{PART}{name}" for name in names]

    def _numbers(self, name: str) -> Numbers:
        if name == "seconds":
            return self._per_launch(case_medians(case, self._medians) for case in self._cases)
        if name in WORK:
            work = [getattr(case.extra_info.work, name) for case in self._cases]
            return self._where_measured(np.array(work, float))
        if name in _QUOTIENTS:
            above, below = (self[each] for each in _QUOTIENTS[name])
            return above / np.where(below > 0, below, np.nan)
        if name == "device_seconds":
            own = self["part_device"]
            return np.where(own > 0, own, self["seconds"])
        part = name.removeprefix(PART)
        return self._where_measured(
            self._per_launch(case.extra_info.parts.get(part, []) for case in self._cases)
        )

    def _per_launch(self, columns: Iterable[Sequence[float | None]]) -> Numbers:
        """Return what each case tells of its launches, which may be of fewer than there were."""
        values = np.full((self._launches, len(self._cases)), np.nan)
        for index, column in enumerate(columns):
            values[: len(column), index] = column
        return values

    def _where_measured(self, numbers: Numbers) -> Numbers:
        return np.where(np.isnan(self["seconds"]), np.nan, numbers)
