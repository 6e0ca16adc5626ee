# SPDX-License-Identifier: MIT
"""Runs that are cut short, killed, or looked at before they end."""
