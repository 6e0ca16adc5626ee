# SPDX-License-Identifier: MIT
"""How much of what may go wrong in the code the tests catch: the sampled mutation test."""
