# SPDX-License-Identifier: MIT
"""A stored run as tables of numbers and names: launches, estimates, spread, equipment."""
