# SPDX-License-Identifier: MIT
"""What a terminal says of a fleet: each node's progress, and at the end what became of all."""

from collections import Counter
from collections.abc import Callable, Iterator

from frobench.suite.exit_codes import CANNOT, FAILED
from frobench.suite.fleet.fleet import Tell
from frobench.suite.fleet.gathered import FleetOutcome
from frobench.suite.units import counted

FEW = 16
"""Nodes of which every line of their runs is shown, at most."""


def teller(say: Callable[[str], object], label: Callable[[str], str]) -> Tell:
    """Return what prints the progress of nodes, each with its label on pages at its first line."""
    met: set[str] = set()

    def tell(node: str, text: str) -> None:
        if node not in met:
            met.add(node)
            say(f"{node}: {label(node)} on pages")
        if len(met) <= FEW or not text.startswith("| "):  # a line that a run printed
            say(f"{node}: {text}")

    return tell


def lines(outcome: FleetOutcome) -> Iterator[str]:
    """Say what became of all nodes."""
    every = len(outcome.stored) + len(outcome.lost)
    yield f"{len(outcome.stored)} of {counted(every, 'node')} measured and stored"
    for node, reason in sorted(outcome.lost.items()):
        partial = outcome.partial.get(node)
        kept = f"; what it finished is in {partial}" if partial else ""
        yield f"not measured: {node}: {reason}{kept}"
    for node in sorted(outcome.failed):
        yield f"a case failed on {node}"
    if len(versions := Counter(outcome.torch.values())) > 1:
        usual = versions.most_common(1)[0][0]
        for node, version in sorted(outcome.torch.items()):
            if version != usual:
                yield f"{node} has torch {version}, most have {usual}: it is not compared with them"


def exit_code(outcome: FleetOutcome) -> int:
    """Return 0 if every node measured, 3 if one did not, and else 1 if a case failed."""
    return CANNOT if outcome.lost or not outcome.stored else FAILED * bool(outcome.failed)
