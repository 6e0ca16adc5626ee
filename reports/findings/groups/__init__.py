# SPDX-License-Identifier: MIT
"""Answers about processes that exchange data: of one machine, or of several nodes."""
