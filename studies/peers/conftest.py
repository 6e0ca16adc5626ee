# SPDX-License-Identifier: MIT
"""What pytest leaves alone when it collects the project's tests."""

collect_ignore = ["bench"]  # benchmarks; `frobench run` collects them
