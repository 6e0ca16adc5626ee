# SPDX-License-Identifier: MIT
"""How often the harness errs: ``python -m tests.calibration``, or ``nox -s calibrate``."""
