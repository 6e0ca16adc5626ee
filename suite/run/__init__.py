# SPDX-License-Identifier: MIT
"""The runner's process: the plan of a run, its launches, and the stored file they become."""
