# SPDX-License-Identifier: MIT
"""Benchmarks without rules of their own: a speedup, a crossover, rates and times of any function.

All of it follows from the parameters, the devices and the declared work.
"""

from reports.findings.own.plots import plots
from reports.findings.own.questions import findings

__all__ = ["findings", "plots"]
