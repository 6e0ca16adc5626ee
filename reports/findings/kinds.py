# SPDX-License-Identifier: MIT
"""Kinds of copies: which cases they are, and what sentences and charts call them."""

from collections.abc import Mapping
from dataclasses import dataclass

from reports.findings.select import Cases, Curve, the_device
from suite.stored.names import is_cpu
from suite.stored.run import Scalar

LARGE = 2**24
"""Bytes from which a copy's rate is its bandwidth."""


@dataclass(frozen=True)
class Kind:
    """A kind of copies.

    Parameters
    ----------
    where
        The parameters of its cases.
    phrase
        What follows "copies", with braces for the device or devices.
    label
        Its line in the chart of the device or devices.
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
        return self.phrase.format(the_device(cases.run, device))


KINDS = {
    "to-device": Kind(
        "bench_to_device",
        {"memory": "pageable"},
        "from pageable memory to {}",
        "to it, pageable",
    ),
    "to-host": Kind(
        "bench_to_host",
        {"memory": "pageable"},
        "from {} to pageable memory",
        "from it, pageable",
    ),
    "to-device-pinned": Kind(
        "bench_to_device",
        {"memory": "pinned"},
        "from pinned memory to {}",
        "to it, pinned",
    ),
    "to-host-pinned": Kind(
        "bench_to_host",
        {"memory": "pinned"},
        "from {} to pinned memory",
        "from it, pinned",
    ),
    "between": Kind(
        "bench_between",
        {"way": "direct"},
        "between {}",
        "between them",
    ),
    "between-through-host": Kind(
        "bench_between",
        {"way": "through_host"},
        "between {} through the host",
        "between them, through the host",
    ),
    "within": Kind(
        "bench_within",
        {},
        "within the memory of {}",
        "within it",
    ),
}
"""Those with a latency and a bandwidth of their own, what an unsuspecting program does first."""
AT_ONCE = {
    "all-to-device": Kind(
        "bench_all_at_once",
        {"direction": "to_device"},
        "to {}",
        "to all at once",
    ),
    "all-to-host": Kind(
        "bench_all_at_once",
        {"direction": "to_host"},
        "from {}",
        "from all at once",
    ),
    "both-ways": Kind(
        "bench_both_ways",
        {},
        "to {} and back",
        "both at once",
    ),
}
"""Several copies at the same time."""
