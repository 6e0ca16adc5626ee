# SPDX-License-Identifier: MIT
"""Answers of the project's own exercises: one module for each exercise."""
