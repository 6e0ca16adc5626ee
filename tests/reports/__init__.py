# SPDX-License-Identifier: MIT
"""Tests of `reports`, in the folders of its packages."""
