# SPDX-License-Identifier: MIT
"""How often the harness errs and what it costs, as studies that write into `docs/`."""
