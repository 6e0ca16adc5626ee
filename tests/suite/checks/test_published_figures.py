# SPDX-License-Identifier: MIT
"""No figure that others published is refused; nearly all of them are named once they are spoilt."""

import re

from tests.instruments.faults import published_figures
from tests.instruments.processes.command import ROOT

LEAST_NAMED = 95.0
"""Percent of impossible figures that a rule names, at least."""
LEAST_FIGURES = 1_800


def test_no_sound_figure_is_refused() -> None:
    refused, count = [], 0
    for one in published_figures.sound():
        count += 1
        if codes := published_figures.codes(one, "error"):
            refused.append((one.run.benchmarks[-1].name, one.value, codes))
    assert refused == []
    assert count > LEAST_FIGURES


def test_impossible_figures_are_named_as_often_as_the_document_says() -> None:
    table = published_figures.table()
    [named] = re.findall(r"\| all \| [\d,]+ \| ([\d.]+)%", table)
    assert float(named) >= LEAST_NAMED
    assert table in (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
