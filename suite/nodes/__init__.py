# SPDX-License-Identifier: MIT
"""Several machines that measure together: how they meet, and what runs on each but the first."""
