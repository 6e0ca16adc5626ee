# SPDX-License-Identifier: MIT
"""Where the figures are kept: a file for programs, and the regions of a document made from it.

A region holds what the study of its name found. What stands around it is written by people.
"""

from pathlib import Path

import msgspec

from studies.calibration.figures import Study
from studies.calibration.render import markdown
from studies.tables import filled
from tests.instruments.processes.command import ROOT

FIGURES = ROOT / "docs" / "calibration.json"
DOCUMENT = ROOT / "docs" / "calibration.md"

Studies = dict[str, Study]


def read(path: Path = FIGURES) -> Studies:
    """Return what the studies found, by name; nothing where nothing was kept."""
    return msgspec.json.decode(path.read_bytes(), type=Studies) if path.exists() else {}


def keep(found: Studies, figures: Path = FIGURES, document: Path = DOCUMENT) -> None:
    """Put what studies found in the place of what they found before, in file and document."""
    studies = read(figures) | found
    text = rendered(document.read_text(encoding="utf-8"), studies)
    encoded = msgspec.json.format(msgspec.json.encode(studies, order="deterministic"))
    figures.write_bytes(encoded + b"\n")
    document.write_text(text, encoding="utf-8")


def rendered(text: str, studies: Studies) -> str:
    """Return a document with its regions made anew."""
    return filled(
        text, lambda name: markdown(studies[name]) if name in studies else "Not made yet."
    )
