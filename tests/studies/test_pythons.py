# SPDX-License-Identifier: MIT
"""The study of Pythons names each file in which two sites differ."""

from pathlib import Path

import pytest

from studies.pythons import differs


def test_a_site_of_another_python_that_differs_in_a_byte_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, other = tmp_path / "python3.11", tmp_path / "python3.13"
    for site in (mine, other):
        (site / "machine").mkdir(parents=True)
        (site / "index.html").write_text("the same")
        (site / "machine" / "run.html").write_text("the same")
    assert not differs(mine, tmp_path)
    (other / "machine" / "run.html").write_text("the sane")
    (other / "more.csv").touch()
    assert differs(mine, tmp_path)
    assert capsys.readouterr().out.splitlines() == [
        "python3.11 and python3.13: all 2 files are the same",
        "python3.11 and python3.13: machine/run.html, more.csv",
    ]
