# SPDX-License-Identifier: MIT
"""Comparisons of stored runs, by what is asked of them.

`runs` gives a regression verdict, `versions` one between two versions inside a run,
`machines` holds two machines side by side, and `agreement` says whether a run that was
measured again agrees. All rest on `judge`; `gate` says whether a comparison decides anything, and
`across` which differences are its question. `others` finds the runs from which it is learned how
far separate runs of a machine lie apart.
"""
