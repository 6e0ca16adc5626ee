# SPDX-License-Identifier: MIT
"""The stored file: its types and their schema, reading, writing, differences of two files."""
