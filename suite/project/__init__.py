# SPDX-License-Identifier: MIT
"""The project whose code benchmarks measure: its git repository, and what of it is stored."""
