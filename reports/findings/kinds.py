# SPDX-License-Identifier: MIT
"""Kinds of copies: which cases they are, and what sentences and charts call them."""

from collections.abc import Mapping
from dataclasses import dataclass

from frobench.reports.findings.select import Cases, Curve
from frobench.suite.stored.differences import is_cpu
from frobench.suite.stored.types import Scalar

LARGE = 2**24
"""Bytes from which a copy's rate is its bandwidth."""


@dataclass(frozen=True)
class Kind:
    """A kind of copies.

    where : the parameters of its cases
    phrase : what follows "copies", with braces for the device or devices
    label : its line in the chart of the device or devices
    """

    function: str
    where: Mapping[str, Scalar]
    phrase: str
    label: str

    def devices(self, cases: Cases) -> list[str]:
        """Return the devices, or groups of them, that it was measured on, the CPU last."""
        measured = cases.values("device", function=self.function, **self.where)
        return sorted(map(str, measured), key=is_cpu)

    def curve(self, cases: Cases, device: str, what: str = "seconds") -> Curve:
        """Return a column of the frame by launch and by size."""
        return cases.curve("size", what, function=self.function, device=device, **self.where)

    def name(self, cases: Cases, device: str) -> str:
        """Spell what follows "copies" in a sentence."""
        return self.phrase.format(cases.the(device))


_PAGEABLE, _PINNED = {"memory": "pageable"}, {"memory": "pinned"}
_TO, _FROM, _BETWEEN = "bench_to_device", "bench_to_host", "bench_between"
KINDS = {
    "to-device": Kind(_TO, _PAGEABLE, "from pageable memory to {}", "to it, pageable"),
    "to-host": Kind(_FROM, _PAGEABLE, "from {} to pageable memory", "from it, pageable"),
    "to-device-pinned": Kind(_TO, _PINNED, "from pinned memory to {}", "to it, pinned"),
    "to-host-pinned": Kind(_FROM, _PINNED, "from {} to pinned memory", "from it, pinned"),
    "between": Kind(_BETWEEN, {"way": "direct"}, "between {}", "between them"),
    "between-through-host": Kind(
        _BETWEEN,
        {"way": "through_host"},
        "between {} through the host",
        "between them, through the host",
    ),
    "within": Kind("bench_within", {}, "within the memory of {}", "within it"),
}
"""Those with a latency and a bandwidth of their own, what an unsuspecting program does first."""
_ALL = "bench_all_at_once"
AT_ONCE = {
    "all-to-device": Kind(_ALL, {"direction": "to_device"}, "to {}", "to all at once"),
    "all-to-host": Kind(_ALL, {"direction": "to_host"}, "from {}", "from all at once"),
    "both-ways": Kind("bench_both_ways", {}, "to {} and back", "both at once"),
}
"""Several copies at the same time."""
