# SPDX-License-Identifier: MIT
"""From stored runs to pages: a tidy frame, answers with intervals, charts, HTML."""
