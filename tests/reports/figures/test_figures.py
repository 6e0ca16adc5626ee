# SPDX-License-Identifier: MIT
"""Figures for papers: each chart in three formats, the same bytes at every call, none clipped."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg

from frobench.reports.figures import files
from frobench.reports.figures.files import FORMATS, STYLE
from frobench.reports.findings import sections
from frobench.reports.findings.finding import Plot
from frobench.reports.findings.roofline import rooflines
from frobench.reports.making.workers import Workers
from frobench.reports.site import build
from frobench.suite.stored import store
from tests.instruments.processes.project_files import EXAMPLE_RUN
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import run_of
from tests.reports.findings.table import cases

SOURCE = "NVIDIA H200, 2026-01-02; Frobench"
PIXELS = round(160 / 25.4 * 300)


@pytest.fixture(scope="module")
def plots() -> dict[str, Plot]:
    """Return all charts of a stored run and of one on two accelerators, by name."""
    found: dict[str, Plot] = {}
    for run in (store.read(EXAMPLE_RUN), factory.run(accelerators=2, launches=8)):
        found |= {
            f"{one.exercise} {plot.name}": plot for one in sections(run) for plot in one.plots
        }
        found |= {roof.plot.name: roof.plot for roof in rooflines(run)}
    return found


@pytest.mark.parametrize("kind", ["curve", "points", "dots", "stack"])
def test_files_are_what_they_are_called_and_tell_no_date(plots: dict[str, Plot], kind: str) -> None:
    plot = next(one for one in plots.values() if one.kind == kind)
    made = files.drawn(plot, SOURCE)
    svg = ET.fromstring(made["svg"])  # noqa: S314 - made here
    assert svg.tag.endswith("}svg")
    assert svg.attrib["width"].endswith("pt")
    assert made["pdf"].startswith(b"%PDF-")
    assert made["png"].startswith(b"\x89PNG")
    assert int.from_bytes(made["png"][16:20], "big") in {PIXELS - 1, PIXELS}
    assert not re.search(rb"<dc:date>|https?://matplotlib|href=\"http", made["svg"])
    assert not re.search(rb"CreationDate|ModDate|/Producer", made["pdf"])
    assert b"Software" not in made["png"]


def test_points_lie_where_their_numbers_are(plots: dict[str, Plot]) -> None:
    for plot in plots.values():
        with style.context(STYLE, after_reset=True):
            figure = files.paint(plot, SOURCE)
            FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]  # matplotlib leaves it so
        (axes,) = figure.axes
        lines: list[Any] = [line for line in axes.lines if line.get_marker() not in {"", "None"}]
        marked = [line.get_xydata().tolist() for line in lines]
        shown = [plot.whole] if plot.whole else plot.series if plot.kind != "stack" else []
        upright = plot.kind in {"dots", "stack"}
        expected = [[point.y.value for point in one.points] for one in shown]
        bars: list[Any] = [*axes.patches]
        if plot.kind == "dots" and axes.get_xlim()[0] == 0:
            assert [bar.get_width() for bar in bars] == [value for one in expected for value in one]
            expected = []
        assert [[xy[0 if upright else 1] for xy in one] for one in marked] == expected
        if plot.kind == "stack":
            parts = [max(0.0, p.y.value) for one in plot.series for p in one.points]
            assert sorted(bar.get_width() for bar in bars) == pytest.approx(sorted(parts))


@pytest.mark.usefixtures("unjudged")
def test_a_site_has_figures_only_where_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "drawn", lambda *_: dict.fromkeys(FORMATS, b"drawn"))
    layers = "width=4096 layers=1 dtype=bfloat16 | 1e4 | flops=1e12 items=1000"
    layer = cases(f"+ transformer/train,prefill | cuda:0 | {layers}")
    run = run_of("transformer", [], accelerators=1, beside=layer)
    path, out = store.write(run, tmp_path / "results"), tmp_path / "site"
    drawn = files.Figures(out)
    build.build([path], out, workers=Workers(1), beside=[drawn])
    (folder,) = drawn.folders
    (page,) = out.glob("*/*.html")
    assert folder == page.with_name(f"{page.stem}-figures")
    assert len([*folder.iterdir()]) == 3
    build.build([path], out, workers=Workers(1))
    assert not folder.exists()
    assert page.exists()
