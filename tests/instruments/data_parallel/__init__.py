# SPDX-License-Identifier: MIT
"""What PyTorch's data parallelism does, played on the accelerators of a process of its own."""
