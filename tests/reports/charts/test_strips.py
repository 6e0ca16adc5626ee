# SPDX-License-Identifier: MIT
"""Strips of samples: a row a launch, outliers there, small, and told in words."""

import re
from itertools import accumulate

from frobench.reports.charts.strips import Strip
from frobench.suite.statistics import estimate, launch_medians
from frobench.suite.stored import store
from tests.instruments.runs.exact_runs import case


def drawn(*launches: list[float]) -> Strip:
    samples = [sample for launch in launches for sample in launch]
    one = case("bench_it", 1.0)
    one.stats = store.case_stats(samples, 1)
    one.extra_info.launches = [len(launch) for launch in launches]
    return Strip(one, estimate(launch_medians(samples, one.extra_info.launches)))


def dots(found: Strip) -> dict[float, list[int]]:
    """Return where the dots of each launch lie, from left to right, by their height."""
    (path,) = re.findall('class="dots" d="([^"]*)"', str(found.drawing))
    rows = re.findall(r"M(\d+) ([\d.]+)h0([^M]*)", path)
    return {
        float(height): [*accumulate(map(int, [first, *re.findall(r"m(\d+) 0h0", steps)]))]
        for first, height, steps in rows
    }


def test_each_launch_has_a_row_and_each_sample_a_dot() -> None:
    found = drawn([1.0, 2.0, 4.0], [2.0], [], [1.0, 4.0])
    assert dots(found) == {4.5: [0, 300, 600], 13.5: [300], 31.5: [0, 600]}
    assert found.medians == ["2 s", "2 s", "none", "2.5 s"]
    assert found.range == ("1 s", "4 s")
    assert "6 samples by launch, 1 s to 4 s" in found.drawing
    assert 'class="medians" d="M300 0v9M300 9v9M397 27v9"' in found.drawing
    assert "band" not in found.drawing  # of too few launches for an interval


def test_the_interval_is_a_band_within_the_samples_and_never_too_thin_to_see() -> None:
    for spread, band in ((0.0, "M300 0h1v72h-1z"), (0.5, "M200 0h200v72h-200z")):
        medians = [2.0 ** (1 + spread * side) for side in (0, 0, 0, 0, -1, 1, -1, 1)]
        found = drawn(*([median / 2, median, median * 2] for median in medians))
        assert f'class="band" d="{band}"' in found.drawing
    assert '"M0 0h600v54h-600z"' in drawn([1.0], [1.0], [2.0], [2.0], [4.0], [4.0]).drawing


def test_what_is_much_is_thinned_but_never_an_outlier() -> None:
    found = drawn([2.0 ** (index / 300) for index in range(3000)])
    assert (found.thinned, dots(found)) == (5, {4.5: [*range(601)]})
    found = drawn(*([*(1.0 + 1e-6 * index for index in range(73)), 50.0, 0.5] for _ in range(41)))
    assert all({0, 600} < set(row) for row in dots(found).values())
    assert len(found.drawing) < 12 * 600
    assert (found.thinned, 'height="360"' in found.drawing) == (6, True)
