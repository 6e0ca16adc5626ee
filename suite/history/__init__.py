# SPDX-License-Identifier: MIT
"""Commits of a project measured side by side, and the one at which a case changed."""
