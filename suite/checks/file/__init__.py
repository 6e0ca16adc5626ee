# SPDX-License-Identifier: MIT
"""Rules about a stored file as a whole, which make it invalid."""
