# SPDX-License-Identifier: MIT
"""Tests of whole runs through the command."""
