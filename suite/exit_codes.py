# SPDX-License-Identifier: MIT
"""The exit codes of the command, beside 0 for a good end and 2 for wrong usage."""

FAILED = 1
"""A case failed, or a file is invalid."""
CANNOT = 3
"""What was asked cannot be done: nothing was measured, or a comparison decides nothing."""
SLOWER = 4
"""A comparison found a case slower, or a result was not reproduced; this wins over `CANNOT`."""
INTERRUPTED = 130
"""The user ended it."""
