# SPDX-License-Identifier: MIT
"""One run in a few numbers and words: headlines, a paragraph, a card, a badge."""
