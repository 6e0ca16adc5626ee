# SPDX-License-Identifier: MIT
"""Executes the notebook for a rented GPU; `nox -s notebook` runs it."""
