# SPDX-License-Identifier: MIT
"""Files that other programs may change or cut off: opened with care, written whole or by lines."""
