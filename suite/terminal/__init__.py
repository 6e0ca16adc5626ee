# SPDX-License-Identifier: MIT
"""What people read in a terminal."""
