# SPDX-License-Identifier: MIT
"""The pages as readers meet them: in a real browser, by eye, by keyboard and by ear."""
