# SPDX-License-Identifier: MIT
"""Short tests of the studies."""
