# SPDX-License-Identifier: MIT
"""Runs whose every text is hostile: found by walking the types, so that new fields are too."""

import csv
import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from msgspec.structs import replace

from frobench.reports.purchase.prices import Price
from frobench.suite import personal_data
from frobench.suite.stored.types import LONGEST_NAME, Run

HIT = "window.__hit=1"
"""What hostile text would do, if it could do anything."""
PARTS = (
    "../../../../up",
    f"<script>{HIT}</script>",
    f"</script></style></svg></title></textarea>--><script>{HIT}</script>",
    f"<img src=x onerror={HIT}><svg onload={HIT}>",
    f"\"' onfocus={HIT} autofocus tabindex=0 x='",
    f"javascript:{HIT}//",
    "<style>*{display:none}</style>;}*{display:none}",
    "{{7*7}}${7*7}$x^2$`",
    "\u202eright to left\u2066",
    "\x00\x07\x1b[31m\x7f\x85\ufeff",
    "\u0041\u030a\u0489\u0489 \U0001f600",
)
LONG = "W" * 10_000
EVERY_OBJECTS = ("constructor", "__proto__", "toString")
"""Names that every object of JavaScript has something under."""
_CHOSEN = re.compile(r"\.(profile|status|severity|digest|work\.path)$")
"""Where a text is one of a few words, or the seal."""
_NAMES = re.compile(
    r"\.(group|fullname|param|case|device|type|parts|exercises|empty_body|held_back)$"
    r"|\.(params|series|idle_watts)\b|\.devices\[\d+\]$|\.benchmarks\[\d+\]\.name$"
    r"|\.branch$"
)
"""Where a run says which exercise, case or device it speaks of, and where no text is valid."""


def hostile_runs(run: Run) -> dict[str, Run]:
    """Return the run with hostile texts only where nothing is found by, and above.

    The last has names that lead out of the site's folder. Both are valid.
    """
    told: Run = personal_data.rewritten(run, _spoil(_NAMES))
    environment = replace(run.frobench.environment, machine="../../up")
    above = replace(run, frobench=replace(run.frobench, run="..", environment=environment))
    return {"told": told, "above": above}


def everywhere(run: Run) -> Run:
    """Return the run with hostile texts wherever there is one; it is not valid.

    Runs that are alike stay so: in each the same text becomes the same.
    """
    found: Run = personal_data.rewritten(run, _spoil())
    return found


def called_as_every_object(run: Run) -> int:
    """Call the exercises of the first cases as what every object of JavaScript has.

    Returns
    -------
    int
        How many cases.
    """
    for case, name in zip(run.benchmarks, EVERY_OBJECTS, strict=False):
        case.group = name
    return len(EVERY_OBJECTS)


def write_prices(path: Path) -> None:
    """Write a table of prices of all devices, with hostile texts where any text is allowed."""
    told = "".join(PARTS) + LONG
    of_all, texts = f".|{re.escape(PARTS[1])}", (told, f"javascript:{told}")
    bought = (of_all, "", "31500", "EUR", "2024-11-02", *texts, "")
    rented = (of_all, "", "4.5", "EUR", "2024-11-02", *texts, "hour")
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([Price._fields, bought, rented])


def _spoil(spared: re.Pattern[str] = _CHOSEN) -> Callable[[str, str], str]:
    """Return what makes a text hostile: all at once and very long where a field is first met."""
    met: dict[str, Iterator[int]] = {}

    def change(where: str, text: str) -> str:
        if _CHOSEN.search(where) or spared.search(where):
            return text
        time = next(met.setdefault(re.sub(r"\[\d+\]", "", where), count()))
        if time == 0:
            whole = "".join(PARTS) + where + LONG  # so that no two are the same
            return whole[:LONGEST_NAME]  # the text may be a key
        return f"{PARTS[time % len(PARTS)]} {time} {where}"[:200]

    return change
