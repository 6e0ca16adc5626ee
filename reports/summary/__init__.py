# SPDX-License-Identifier: MIT
"""One run in a few numbers and words: its axes, a paragraph, a card, a badge."""
