# SPDX-License-Identifier: MIT
"""The fleet page: which node is not like the others, from the stored runs of equal machines."""
