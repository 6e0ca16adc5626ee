# SPDX-License-Identifier: MIT
"""How often a comparison may err, over all cases that are compared together."""
