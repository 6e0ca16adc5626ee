# SPDX-License-Identifier: MIT
"""What a machine is: its processor, its accelerators, its software."""
