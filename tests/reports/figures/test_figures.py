# SPDX-License-Identifier: MIT
"""Figures for papers: each chart in three formats, the same bytes at every call, none clipped."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib import style
from matplotlib.figure import Figure

from frobench.reports.figures import files
from frobench.reports.figures.files import FORMATS, STYLE
from frobench.reports.making.workers import Workers
from frobench.reports.site import build
from frobench.suite.stored import store
from tests.reports.charts.test_ruler import PLOTS, plain
from tests.reports.findings.table import cases
from tests.reports.summary.test_device_axes import run_of
from tests.reports.tables import Row, rows

SOURCE = "NVIDIA H200"
PIXELS = round(160 / 25.4 * 300)


TABLE = """
## figures
# lines
= Waits in loops; GFLOP/s; NVIDIA H200; n; 13.6 66.4 by 0 3.89e+09; -o 16 1e+09 64 5e+08; -s 16
    2e+09 64 3e+09; -- 16 2e+09 64 3e+09; -- 16 1e+09 64 5e+08; : 0 1e+09 1 1e+09; 16 9e+08 16
    1.2e+09; 64 4.5e+08 64 6e+08; 16 9e+08 16 1.2e+09 64 4.5e+08 64 6e+08; 16 1.8e+09 16 2.4e+09; 64
    2.7e+09 64 3.6e+09; 16 1.8e+09 16 2.4e+09 64 2.7e+09 64 3.6e+09; 64=64 16=16; 0=0 1e+09=1
    2e+09=2 3e+09=3; two, one, least, one, two
# bars
= Waits in loops; GFLOP/s; NVIDIA H200; ; 0 5.18e+09 by 1.5 -0.5; : 3e+09 0 3e+09 1; 9e+08 0.8
    1.2e+09 0.8; 3.6e+09 -0.2 4.8e+09 -0.2; 1.8e+09 1.2 2.4e+09 1.2; 2.7e+09 0.2 3.6e+09 0.2; 0 0.64
    1e+09 0.96; 0 -0.36 4e+09 -0.04; 0 1.04 2e+09 1.36; 0 0.04 3e+09 0.36; 1.00 GFLOP/s 1.2e+09 0.8;
    4.0 GFLOP/s 4.8e+09 -0.2; 2.0 GFLOP/s 2.4e+09 1.2; 3.0 GFLOP/s 3.6e+09 0.2; 0=0 2e+09=2 4e+09=4;
    0=parts 1=whole; most, on the GPU, on the CPU
# dots
= Waits in loops; Amount; NVIDIA H200; ; 0.792 1.91 by 1.5 -0.5; Noneo 1.5 1 1 0; : 1 0 1 1; 1.35 1
    1.8 1; 0.9 0 1.2 0; 1.5x 1.8 1; 1.00x 1.2 0; 0.8=0.8x 1.2=1.2x 1.6=1.6x; 0=b 1=a;
# stack
= Low.; Energy, J; NVIDIA H200; ; 0 11.7 by 2.5 -0.5; Noneo 9 2.2 5.5 0.2 7 1.2; 8.1 2.2 10.8 2.2;
    4.95 0.2 6.6 0.2; 6.3 1.2 8.4 1.2; 0 1.62 1 1.98; 0 -0.38 2 -0.02; 0 0.62 0 0.98; 1 1.62 3 1.98;
    2 -0.38 5 -0.02; 9.0 J 10.8 2.2; 5.5 J 6.6 0.2; 7.0 J 8.4 1.2; 0=0 4=4 8=8; 0=b 1=c 2=a; first,
    second, all
"""


def told(figure: Figure) -> str:
    """Return the words of a figure, and where all is in the units of its axes.

    These are its limits, lines, intervals and bands, bars, and values; then its ticks and legend.
    """
    axes: Any = figure.axes[0]
    words = [figure.get_suptitle(), *axes.get_title(loc="left").split("\n"), axes.get_xlabel()]
    limits = [f"{spelled(axes.get_xlim())} by {spelled(axes.get_ylim())}"]
    lines = [
        f"{one.get_linestyle()}{one.get_marker()} {spelled(one.get_xydata())}" for one in axes.lines
    ]
    paths = [path.vertices.tolist() for one in axes.collections for path in one.get_paths()]
    spans = [spelled(sorted({*map(tuple, path)})) for path in paths]
    bars = [spelled(bar.get_bbox().get_points()) for bar in axes.patches]
    texts = [f"{text.get_text()} {spelled(text.xy)}" for text in axes.texts]
    both = [(one.get_ticklocs(), one.get_ticklabels()) for one in (axes.xaxis, axes.yaxis)]
    named = [[f"{at:g}={text.get_text()}" for at, text in zip(*each, strict=True)] for each in both]
    ticks = map(" ".join, named)
    names = ", ".join(text.get_text() for one in figure.legends for text in one.get_texts())
    return plain("; ".join([*words, *limits, *lines, *spans, *bars, *texts, *ticks, names])).strip()


def spelled(places: Any) -> str:  # noqa: ANN401 - numbers as matplotlib has them
    return " ".join(f"{one:.3g}" for one in np.ravel(places))


@pytest.mark.parametrize("row", [*rows(TABLE)], ids=lambda row: row.what)
def test_all_lies_at_its_numbers_and_is_named(row: Row) -> None:
    with style.context(STYLE, after_reset=True):
        figure = files.paint(PLOTS[row.what], SOURCE)
    assert " ".join(told(figure).split()) == row.lines["="][0][0]


def test_files_are_what_they_are_called_and_tell_no_date() -> None:
    made = files.drawn(PLOTS["lines"], SOURCE)
    svg = ET.fromstring(made["svg"])  # noqa: S314 - made here
    assert svg.tag.endswith("}svg")
    assert svg.attrib["width"].endswith("pt")
    assert made["pdf"].startswith(b"%PDF-")
    assert made["png"].startswith(b"\x89PNG")
    assert int.from_bytes(made["png"][16:20], "big") in {PIXELS - 1, PIXELS}
    assert not re.search(rb"<dc:date>|https?://matplotlib|href=\"http", made["svg"])
    assert not re.search(rb"CreationDate|ModDate|/Producer", made["pdf"])
    assert b"Software" not in made["png"]


@pytest.mark.usefixtures("unjudged")
def test_figures_are_made_only_if_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "drawn", lambda *_: dict.fromkeys(FORMATS, b"drawn"))
    curve = "sort | cpu | n=64,1024,16384 | 1 + 0.01x"
    alike = (f"+ {name}/{curve}" for name in ("my_sort", "my-sort", "my+sort"))
    run = run_of(cases("\n".join(alike)), accelerators=0)
    path, out = store.write(run, tmp_path / "results"), tmp_path / "site"
    drawn = files.Figures(out)
    build.build([path], out, workers=Workers(1), beside=[drawn])
    (folder,) = drawn.folders
    (page,) = out.glob("*/*.html")
    assert folder == page.with_name(f"{page.stem}-figures")
    stems = [f"my-sort-bench-sort{more}" for more in ("", "-2", "-3")]
    assert {one.name for one in folder.iterdir()} == {f"{a}.{b}" for a in stems for b in FORMATS}
    build.build([path], out, workers=Workers(1))
    assert (folder.exists(), page.exists()) == (False, True)
