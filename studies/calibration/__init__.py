# SPDX-License-Identifier: MIT
"""How often the harness errs: ``python -m studies.calibration``, or ``nox -s calibrate``."""
