# SPDX-License-Identifier: MIT
"""Tests on a real NVIDIA GPU, against what its own events and its driver's command say.

Torch is imported inside them, so that collecting them costs nothing where there is no GPU.
"""
