# SPDX-License-Identifier: MIT
"""The comparison with other tools: what they say is read rightly, and shown as it is."""

from pathlib import Path

import msgspec

from studies.peers import page
from studies.peers.adapters import tools
from studies.peers.figures import Figures
from studies.peers.tool import ROOT, Order

PAGE, FIGURES = ROOT / "docs" / "peers.md", ROOT / "docs" / "peers.json"
BY_NAME = {tool.name: tool for tool in tools()}


def test_the_page_shows_the_figures_that_are_stored_in_every_table() -> None:
    figures = msgspec.json.decode(FIGURES.read_bytes(), type=Figures)
    written = PAGE.read_text(encoding="utf-8")
    assert page.fill(written, figures) == written
    assert [name for name in page.TABLES if f"<!-- {name} -->" not in written] == []


def test_a_tool_sees_at_least_what_a_wait_recorded_in_each_sample(tmp_path: Path) -> None:
    order = Order(bodies=("wait_500us",), folder=tmp_path, processes=1, budget=1.0)
    (seen,) = BY_NAME["Frobench"].measure(order)
    (process,) = seen.processes
    assert seen.body == "wait_500us"
    assert len(process.samples) == len(process.recorded) > 0
    pairs = zip(process.samples, process.recorded, strict=True)
    least = 500e-6 - 1e-9  # readings of a clock are rounded
    assert all(sample >= recorded >= least for sample, recorded in pairs)
    assert process.alone > sum(process.samples)
