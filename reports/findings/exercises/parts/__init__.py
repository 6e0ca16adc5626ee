# SPDX-License-Identifier: MIT
"""Parts of answers to exercises: pipelines, replicas, and what limits work."""
