# SPDX-License-Identifier: MIT
"""The harness: everything between the body of a benchmark and a stored number."""
