# SPDX-License-Identifier: MIT
"""What is wrong, on purpose or not, is named and harms nothing."""
