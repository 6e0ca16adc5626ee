# SPDX-License-Identifier: MIT
"""What a terminal says of a fleet: each node's progress, and at the end what became of all."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from frobench.suite.exit_codes import CANNOT, FAILED
from frobench.suite.fleet.fleet import Fleet, Tell
from frobench.suite.units import counted

FEW = 16
"""Nodes of which every line of their runs is shown, at most."""
Unlike = Mapping[str, Mapping[str, float]]
"""Times of nodes by those of their peers, by label and by what they are unlike the others in."""


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


def lines(fleet: Fleet) -> Iterator[str]:
    """Say what became of all nodes."""
    every = len(fleet.stored) + len(fleet.lost)
    yield f"{len(fleet.stored)} of {counted(every, 'node')} measured and stored"
    for node, reason in sorted(fleet.lost.items()):
        partial = fleet.partial.get(node)
        kept = f"; what it finished is in {partial}" if partial else ""
        yield f"not measured: {node}: {reason}{kept}"
    for node in sorted(fleet.failed):
        yield f"a case failed on {node}"


def unlike_lines(fleet: Fleet, unlike: Unlike) -> Iterator[str]:
    """Name the nodes that are unlike the others, by their names and labels."""
    for name, label in sorted(fleet.labels.items()):
        if ratios := unlike.get(label):
            differences = (
                f"{abs(ratio - 1):.0%} {'slower' if ratio > 1 else 'faster'} in {subject}"
                for subject, ratio in ratios.items()
            )
            yield f"unlike: {name} ({label}): {', '.join(differences)}"


def as_json(fleet: Fleet, unlike: Unlike) -> dict[str, Any]:
    """Return what became of all nodes, for programs that drain or cordon some."""
    nodes = [
        {
            "name": name,
            "label": label,
            "stored": fleet.stored.get(name),
            "partial": fleet.partial.get(name),
            "lost": fleet.lost.get(name),
            "failed": name in fleet.failed,
            "unlike": unlike.get(label, {}),
        }
        for name, label in sorted(fleet.labels.items())
    ]
    return {"fleet": fleet.order["fleet"], "nodes": nodes}


def exit_code(fleet: Fleet) -> int:
    """Return 0 if every node measured, 3 if one did not, and else 1 if a case failed."""
    return CANNOT if fleet.lost or not fleet.stored else FAILED * bool(fleet.failed)
