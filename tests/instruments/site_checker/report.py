# SPDX-License-Identifier: MIT
"""What a check of a site has found."""

from collections import Counter
from dataclasses import dataclass, field

NUMBERS, CELLS, LINKS = "numbers on pages", "cells of tables", "links"


@dataclass
class Report:
    """Faults, a line each, and how much was checked.

    checked : how many, by kind
    copied : numbers that pages and downloads share and no formula here gives, by their table
    """

    faults: list[str] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    copied: Counter[str] = field(default_factory=Counter)

    def check(self, right: object, kind: str, fault: str) -> None:
        """Count something that was checked, and note its fault if it is not right."""
        self.checked[kind] += 1
        if not right:
            self.faults.append(fault)
