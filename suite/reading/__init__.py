# SPDX-License-Identifier: MIT
"""Files of other people: opened only where they are files, and read only where they have bounds."""
