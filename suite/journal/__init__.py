# SPDX-License-Identifier: MIT
"""What the runner and its launches write for each other."""
