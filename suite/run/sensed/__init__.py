# SPDX-License-Identifier: MIT
"""What sensors show while a run measures: readings, energy of a call, summaries of cases."""
