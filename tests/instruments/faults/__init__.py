# SPDX-License-Identifier: MIT
"""What is wrong on purpose: files, runs, arithmetic, a disk."""
