# SPDX-License-Identifier: MIT
"""Small charts show what the answer says, with its values, and keep labels apart."""

from collections.abc import Sequence
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from markupsafe import Markup

from frobench.reports.charts import screen
from frobench.reports.charts.screen import Bar
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.suite.stored.types import Estimate
from tests.reports.charts.test_ruler import RATE, N, around, line, read, told
from tests.reports.tables import Row, rows


def lead(value: float | None, unit: str, *cases: str) -> Finding:
    return Finding("name", "What?", "Much.", around(value) if value else None, unit, cases=cases)


NAMES = {"bfloat16": "bfloat 16", "float32": "float 32"}
"""The first has nine letters, one more than have room at the end of a line."""


def chart(found: Finding, *plots: Plot, **launches: Sequence[float]) -> Markup:
    return screen.chart(found, plots, launches, NAMES)


LINES = line("float32", {16: 16, 64: 64, 256: 256}), line("bfloat16", {16: 32, 64: 128, 256: 512})
TWO = Plot("p", "Title", "curve", N, Axis("Rate", "B/s"), LINES, "too low", 15.0)
SHORT = (line("a line of a GPU", {1: 3, 2: 1, 3: 2}),)
OF_A_LONG_NAME = Plot("p", "Title", "curve", N, Axis("Rate", RATIO), SHORT, "even", 1.5)
FAST, PAIR = replace(TWO, reference=257.0), (line("float32", {16: 16, 64: 64}),)
FOUR = (line("", {"one": 2, "two": 4, "three": -1, "four": 1}),)
ROWS = Plot("p", "Title", "dots", N, Axis("Time", "s"), FOUR)
WORD = "zweiundzwanzigtausendfach"
WAYS = (line("", {"the first way, which is long": 2, "a second way": 4, WORD: 1}),)
LONG = Plot("p", "Title", "dots", N, Axis("Time", "s"), WAYS)
MODES = {"processes, n=16": [1.13, 2.26, 1.5], "a product of two big": [3.0, 6.0], "a third": [1.0]}
PEAKS = {"slow": 5e14, "fast": 8e14}
ROOFS = [line(name, {4.0: 8e12, peak / 2e12: peak, 2e4: peak}) for name, peak in PEAKS.items()]
PRODUCTS = [line(name, {4.0: 6e12, 1024.0: peak / 1000}) for name, peak in PEAKS.items()]
ROOF = Plot("p", "Roof", "points", N, RATE, tuple(PRODUCTS), lines=tuple(ROOFS))
OTHERS = [3e9 * at for at in range(1, 42)]
RATED = Bar(Estimate(50e9, None, None, 3), "B/s", "Memory", 80e9, "datasheet", OTHERS[:3])
FREE = Estimate(2e-6, -1e-6, 3e-6, 8)
COST = Bar(FREE, "s", "Wait", 2e-6, "least", (1e-6, 2e-6, 3e-6), lower_is_better=True)
CHARTS = {
    "an answer of two lines": chart(lead(512, "B/s", "bfloat16 256", "float32 256"), TWO),
    "an answer of the second line": chart(lead(256, "B/s", "float32 64"), FAST),
    "a ratio": chart(lead(1.5, RATIO, "float32 64", "a line of a GPU 3"), TWO, OF_A_LONG_NAME),
    "an answer of a first point": chart(lead(512, "B/s", "float32 16"), TWO),
    "an answer in another unit": chart(lead(4, "1", " two"), ROWS),
    "an answer of a row": chart(lead(4, "s", " two"), ROWS),
    "an answer of a long row": chart(lead(1, "s", f" {WORD}"), LONG),
    "an answer of two points": chart(lead(64, "B/s", "float32 64"), replace(TWO, series=PAIR)),
    "nothing": chart(replace(lead(1, "1"), value=around(0))),
    "exactly one": chart(replace(lead(1, RATIO), value=Estimate(1, 1, 1, 8))),
    "more than one": chart(lead(1.5, RATIO)),
    "less than one": chart(lead(0.5, RATIO)),
    "no number": chart(lead(None, "")),
    "launches in two modes": chart(lead(1, RATIO), TWO, **MODES),
    "a rate": screen.bar(RATED, 0),
    "a cost": screen.bar(COST, 5e-6),
    "a roofline": screen.roofline(ROOF, {"fast": "fp8 800"}, "memory"),
}
TABLE = """
## small charts
# an answer of two lines
= Title. bfloat 16: 32 B/s at 16, 510 B/s at 256; float 32: 16 B/s at 16, 260 B/s at 256.; grid 0
    32, 58 32; k1 0 27, 29 16; k1 29 16, 58 5; f1 58 5; k2 0 32, 29 21; k2 29 21, 58 10; f2 # 58 10;
    lab l1 510 B/s 58 9; lab l2 float 32 58 22; 16 0 44; 256] 58 44
# an answer of the second line
= Title. float 32: 16 B/s at 16, 260 B/s at 256.; grid 0 32, 58 32; k1 0 32, 29 18; k1 29 18, 58 5;
    f1 58 5; lab l1 260 B/s 58 9; 16 0 44; 256] 58 44
# a ratio
= Title. a line of a GPU: 3.0x at 1, 2.0x at 3.; grid 0 32, 58 32; zero 0 18, 58 18; k1 0 5, 29 23;
    k1 29 23, 58 14; f1 58 14; lab l1 2.0x 58 18; 1 0 44; 3] 58 44
# an answer of a first point
= 510 B/s; f1 0 8, 48 8; 510 B/s 48 12
# an answer in another unit
= 400%; f1 0 8, 48 8; 400% 48 12
# an answer of a row
= two: 4.0 s; one: 2.0 s; three: -1.00 s; f1 0 8, 48 8; two 4.0 s 48 12; f0 0 24, 24 24; one 2.0 s
    24 28; f0 0 40, 0 40; three -1.00 s 0 44
# an answer of a long row
= zweiundzwanzigtausendfach: 1.00 s; the first way, which is long: 2.0 s; 1.00 s
    zweiundzwanzigtausendfa 0 11; f1 0 19, 25 19; 2.0 s the first way 0 36; f0 0 44, 50 44
# an answer of two points
= 64 B/s; f1 0 8, 48 8; 64 B/s 48 12
# nothing
= 0%; f1 0 8, 0 8; 0% 0 12
# exactly one
= 1.000x, interval 1.000 to 1.000x; grid 0 16, 100 16; zero 50 6, 50 26; fr 50 16, 50 16; f1 50 16;
    1x^ 50 38
# more than one
= 1.5x, interval 1.4 to 1.8x; grid 0 16, 100 16; zero 12 6, 12 26; fr 45 16, 88 16; f1 60 16; 1x^ 12
    38; 1.8x^ 88 38
# less than one
= 0.50x, interval 0.45 to 0.60x; grid 0 16, 100 16; zero 88 6, 88 26; fr 12 16, 33 16; f1 19 16; 1x^
    88 38; 0.45x^ 12 38
# no number
=
# launches in two modes
= processes, n=16: 3 launches, 1.1 s to 2.3 s; a product of two big: 2 launches, 3 s to 6 s; 1.1 s
    to 2.3 s processes, n=16 0 11; grid 0 21, 100 21; f1 47 21; f1 94 21; f1 63 21; 3 s to 6 s a
    product of two 0 41; grid 0 51, 100 51; f2 # 47 51; f2 # 94 51
# a rate
= Memory; zero 0 16, 0 50; 0 0 63; grid 47 16, 47 50; 40^ 47 63; grid 94 16, 94 50; 80] 94 63; f1 0
    27, 59 27; sheet 94 16, 94 38; datasheet 80] 94 10; spec 4 43; spec 7 43; spec 11 43
# a cost
= Wait; zero 0 16, 0 50; 0 0 63; grid 38 16, 38 50; 2^ 38 63; grid 75 16, 75 50; 4^ 75 63; f0 0 27,
    38 27; < lower is better 0 10; ci 0 27, 57 27; sheet 38 16, 38 38; least 2^ 38 10; spec 19 43;
    spec 38 43; spec 57 43
# a roofline
= Roof. Rate by n. slow: 6.0 TFLOP/s [5.4, 7.2] at 4, 500 GFLOP/s [450, 600] at 1,024; fast: 6.0
    TFLOP/s [5.4, 7.2] at 4, 800 GFLOP/s [720, 960] at 1,024; slow: 8.0 TFLOP/s [7.2, 9.6] at 4, 500
    TFLOP/s [450, 600] at 20,000; fast: 8.0 TFLOP/s [7.2, 9.6] at 4, 800 TFLOP/s [720, 960] at
    20,000.; grid 0 212, 100 212; 1] 0 216; grid 0 144, 100 144; 10] 0 148; grid 0 75, 100 75; 100]
    0 79; grid 0 7, 100 7; 1,000] 0 11; 10^ 11 263; 100^ 38 263; 1,000^ 65 263; 10,000^ 92 263; FLOP
    per byte] 100 282; zero 0 246, 100 246; k1 0 150, 54 14; k1 54 14, 100 14; k2 0 150, 49 28; k2
    49 28, 100 28; f2 dot # 0 159; f2 dot # 65 232; f1 dot 0 159; f1 dot 65 218; lab l1 fp8 800 100
    18; lab l2 slow 100 32; lab memory 0 170
"""


@pytest.mark.parametrize("row", [*rows(TABLE)], ids=lambda row: row.what)
def test_a_small_chart_shows_the_answer_first_beside_what_has_room(row: Row) -> None:
    drawn = CHARTS[row.what]
    assert told(drawn) == row.lines["="][0][0]
    if drawn:  # the last letters are not cut, and no row is left empty
        lowest = max(y for one in read(drawn) for _, y in one.places)
        assert 2 <= float(ET.fromstring(drawn).attrib["height"]) - lowest <= 11  # noqa: S314


def test_of_many_other_runs_every_so_many_and_the_greatest_have_a_dot() -> None:
    for others, dots in ((1, 1), (20, 20), (21, 11), (39, 20), (40, 14)):
        drawn = told(screen.bar(replace(RATED, others=OTHERS[:others]), 123e9))
        last = f"; spec {100 * OTHERS[others - 1] / 130.38e9:.0f} 43"
        assert (drawn.count("spec "), drawn.endswith(last)) == (dots, True)
