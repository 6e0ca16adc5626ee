# SPDX-License-Identifier: MIT
"""What can be read of a device while it works: a small module for each source."""
