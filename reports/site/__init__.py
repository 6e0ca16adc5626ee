# SPDX-License-Identifier: MIT
"""From stored runs to files on disk: what is built, what is kept from last time."""
