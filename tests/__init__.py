# SPDX-License-Identifier: MIT
"""What a user relies on, as tests; they mirror the packages."""
