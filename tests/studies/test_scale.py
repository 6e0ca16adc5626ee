# SPDX-License-Identifier: MIT
"""The study of scale builds sites of made-up machines; here of two, whatever time that takes."""

import pytest

from studies import scale


def test_one_more_result_leaves_the_pages_of_a_site_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "MORE", 1)
    size = scale.measured(2)
    assert (size.machines, size.runs, size.untouched) == (2, 3, True)
    assert 0 < size.judging < size.first.seconds
    assert f"{size.page:.2f} s a page" in scale.told(size)
