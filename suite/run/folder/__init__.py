# SPDX-License-Identifier: MIT
"""The folder of a run that is not finished: its lock, its clock, and a look into it."""
