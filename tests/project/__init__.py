# SPDX-License-Identifier: MIT
"""Tests of the project's own files: packaging, workflows, the example pages."""
