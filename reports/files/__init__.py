# SPDX-License-Identifier: MIT
"""Output for programs: tables, and schema.org metadata."""
