# SPDX-License-Identifier: MIT
"""Stored runs made up for tests, without measuring."""
