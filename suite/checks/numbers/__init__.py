# SPDX-License-Identifier: MIT
"""Rules about what was measured, and about what sensors showed meanwhile."""
