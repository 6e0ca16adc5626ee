# SPDX-License-Identifier: MIT
"""The study of workloads says what its document says."""

from studies.workloads import CARDS, scores, table
from tests.instruments.processes.command import ROOT


def test_the_document_has_the_table_of_the_study() -> None:
    document = ROOT / "docs" / "decisions" / "cases-of-workloads.md"
    assert table() in document.read_text("utf-8")


def test_a_card_without_kernels_loses_coverage_and_no_speed() -> None:
    today, after, coverage = scores(*CARDS["kernels for int8 alone"], "decode")
    assert (today, after, coverage) == (1.0, 1.0, 0.75)
