# SPDX-License-Identifier: MIT
"""Output for browsers: templates, styles and scripts, and how a page is filled in."""
