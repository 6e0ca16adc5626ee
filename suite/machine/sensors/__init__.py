# SPDX-License-Identifier: MIT
"""Sensors that can be read while a device works: one module for each source."""
