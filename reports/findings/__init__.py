# SPDX-License-Identifier: MIT
"""Cases to answers with intervals: a module for each exercise that has rules of its own."""

import pandas as pd

from reports.findings import (
    copies,
    matmul,
    norm_logging,
    other,
    parallel_matmul,
    parameters,
    versions,
)
from reports.findings.model import Finding, Section
from reports.findings.select import Cases
from suite.model import Run

RULES = {
    "matmul": matmul,
    "norm_logging": norm_logging,
    "parallel_matmul": parallel_matmul,
    "parameters": parameters,
    "copies": copies,
}
"""Exercises in the order in which the report answers them; those without rules follow."""


def sections(run: Run, table: pd.DataFrame) -> list[Section]:
    """Answer every exercise of a run.

    Parameters
    ----------
    table
        The run's frame (`reports.frame.frame`).
    """
    order = [exercise for exercise in RULES if exercise in run.frobench.exercises]
    others = [exercise for exercise in run.frobench.exercises if exercise not in RULES]
    return [_section(run, table, exercise) for exercise in (*order, *others)]


def _section(run: Run, table: pd.DataFrame, exercise: str) -> Section:
    asked = run.frobench.exercises[exercise]
    cases = Cases(run, table, exercise)
    rules = RULES.get(exercise, other)
    absent = Finding("absent", asked.question, f"Not measured: {cases.reason()}.")
    found = [*rules.findings(cases), *versions.findings(run, exercise)] or [absent]
    lead = next((finding for finding in found if finding.value), found[0])
    return Section(
        exercise,
        exercise.replace("_", " ").capitalize(),
        asked.question,
        asked.explanation,
        (lead, *(finding for finding in found if finding is not lead)),
        tuple(rules.plots(cases)),
    )
