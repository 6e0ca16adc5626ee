# SPDX-License-Identifier: MIT
"""Comparisons of stored runs, by what is asked of them.

`runs` gives a verdict on two runs, or on two versions inside a run, and `machines` holds two
machines side by side. `gate` says whether a comparison decides anything, and whether a run that
was measured again agrees with the first.
"""
