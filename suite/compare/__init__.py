# SPDX-License-Identifier: MIT
"""Comparisons of stored runs, by what is asked of them.

`runs` gives a regression verdict, `versions` one between two versions inside a run,
`machines` holds two machines side by side, and `agreement` says whether a run that was
measured again agrees. All rest on `judge`; `gate` says whether a comparison decides anything, and
`across` which differences are its question; `tables` is what a terminal shows of them. `others`
finds the runs from which it is learned how far separate runs of a machine lie apart.
"""

from suite.compare.across import unknown_fact
from suite.compare.agreement import Agreement, agreement
from suite.compare.gate import exit_code
from suite.compare.machines import compare_machines
from suite.compare.model import CaseComparison, MachineComparison, RunComparison, VersionComparison
from suite.compare.others import others
from suite.compare.runs import compare_runs
from suite.compare.verdicts.levels import Levels, levels
from suite.compare.versions import compare_versions

__all__ = (
    "Agreement",
    "CaseComparison",
    "Levels",
    "MachineComparison",
    "RunComparison",
    "VersionComparison",
    "agreement",
    "compare_machines",
    "compare_runs",
    "compare_versions",
    "exit_code",
    "levels",
    "others",
    "unknown_fact",
)
