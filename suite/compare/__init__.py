# SPDX-License-Identifier: MIT
"""Comparisons of stored runs: of two runs, of two versions in a run, and of two machines."""
