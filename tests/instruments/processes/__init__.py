# SPDX-License-Identifier: MIT
"""Programs as tests start them: the command, pytest, git."""
