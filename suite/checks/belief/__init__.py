# SPDX-License-Identifier: MIT
"""Rules about results that are impossible, or very unlikely, on any machine."""
