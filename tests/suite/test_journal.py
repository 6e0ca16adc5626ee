# SPDX-License-Identifier: MIT
"""A process that is killed loses at most what it was writing, and no file is overwritten."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from frobench.suite.files import create
from frobench.suite.journal import Begun, Journal, Refused, Tried
from frobench.suite.kit.search_strategy import Shape, Try


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.jsonl")


def begun(case: str) -> Begun:
    return Begun(launch=0, case=case, at=1.0, settled=0.0)


def test_measured_cases_are_synced_first(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    journal.write(begun("a"))
    assert synced == []
    journal.write(Refused(launch=0, case="a", status="failed", reason="x"))
    assert len(synced) == 1


def test_a_half_line_is_not_news_until_it_is_whole(journal: Journal) -> None:
    journal.write(begun("a"))
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + whole[:10])
    reader = Journal(journal.path)
    assert list(reader.news()) == [begun("a")]
    journal.path.write_bytes(whole + whole)
    assert list(reader.news()) == [begun("a")]


@pytest.mark.parametrize("left", range(1, 30, 4))
def test_mending_cuts_a_half_line_off_so_the_next_is_whole(journal: Journal, left: int) -> None:
    journal.write(begun("a"))
    with journal.path.open("ab") as file:
        file.write(journal.path.read_bytes()[:left])
    journal.mend()
    journal.write(begun("b"))
    assert list(journal) == [begun("a"), begun("b")]


def test_beginning_again_forgets_all_but_what_was_tried(journal: Journal) -> None:
    tried = Tried(case="a", attempt=Try(Shape(64, 128, 256), 1e-3, 0.1))
    for record in (begun("a"), tried, Refused(launch=0, case="a", status="failed", reason="x")):
        journal.write(record)
    with journal.path.open("ab") as file:
        file.write(b'{"type":')  # it was killed here
    journal.begin_again()
    journal.write(begun("b"))
    assert list(journal) == [tried, begun("b")]


def test_a_file_is_made_once_also_where_there_are_no_hard_links(tmp_path: Path) -> None:
    path = tmp_path / "it"
    with patch.object(Path, "hardlink_to", side_effect=OSError):
        create(path, b"first")
        with pytest.raises(FileExistsError):
            create(path, b"second")
    assert [(one, one.read_bytes()) for one in tmp_path.iterdir()] == [(path, b"first")]
