# SPDX-License-Identifier: MIT
"""Output for programs: tables, schema.org metadata."""
