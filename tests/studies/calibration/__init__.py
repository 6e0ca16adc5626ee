# SPDX-License-Identifier: MIT
"""How often the harness errs: ``python -m tests.studies.calibration``, or ``nox -s calibrate``."""
