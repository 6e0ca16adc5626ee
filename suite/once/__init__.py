# SPDX-License-Identifier: MIT
"""One call of one body in this process, for a profiler to attach to."""
