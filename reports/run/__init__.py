# SPDX-License-Identifier: MIT
"""The page of one run."""
