# SPDX-License-Identifier: MIT
"""What runs find on simulated devices is what the devices are made to be."""
