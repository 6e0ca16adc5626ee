# SPDX-License-Identifier: MIT
"""Charts of a run as figures for papers and slides, drawn with matplotlib."""
