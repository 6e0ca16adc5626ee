# SPDX-License-Identifier: MIT
"""How many small faults in the code the tests catch: the sampled mutation study."""
