# SPDX-License-Identifier: MIT
"""Figures of accelerators that their makers publish, as tables that people extend by hand."""
