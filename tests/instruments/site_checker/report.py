# SPDX-License-Identifier: MIT
"""What a check of a site has found."""

from collections import Counter
from dataclasses import dataclass, field

NUMBERS, CELLS, LINKS = "numbers on pages", "cells of tables", "links"


@dataclass
class Report:
    """Faults, a line each, and how much was held against what.

    Parameters
    ----------
    checked
        How many, by kind.
    compared
        Numbers that only equal what a download says, by what they are.
    unknown
        Printed numbers that nothing tells how to check, a line each.
    """

    faults: list[str] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    compared: Counter[str] = field(default_factory=Counter)
    unknown: list[str] = field(default_factory=list)

    def check(self, right: object, kind: str, fault: str) -> None:
        """Count something that was checked, and note its fault if it is not right."""
        self.checked[kind] += 1
        if not right:
            self.faults.append(fault)
