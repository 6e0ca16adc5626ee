# SPDX-License-Identifier: MIT
"""What benchmarks are written with: cases, devices, lanes, workers, checks of results."""
