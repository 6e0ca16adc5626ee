# SPDX-License-Identifier: MIT
"""How one body is timed in one process: warm-up, samples, controls and the gauge."""
