# SPDX-License-Identifier: MIT
"""What tests measure and judge with: simulated devices, made-up runs, a checker of sites."""
