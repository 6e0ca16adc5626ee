# SPDX-License-Identifier: MIT
"""Tests of `suite`, in the folders of its packages."""
