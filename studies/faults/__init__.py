# SPDX-License-Identifier: MIT
"""The campaign of faults: what happens to a run, and what is sent to a reader, breaks nothing."""
