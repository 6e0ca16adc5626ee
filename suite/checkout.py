# SPDX-License-Identifier: MIT
"""Where this code lies."""

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
"""The folder that `suite/` lies in: a clone, or where Frobench is installed."""
MEASURING = ("benchmarks", "frobench", "suite")
"""What lies in it and moves numbers when it is changed; new results and other pages do not."""
