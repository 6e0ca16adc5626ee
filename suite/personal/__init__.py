# SPDX-License-Identifier: MIT
"""How texts that name somebody look; `suite.personal.private` finds and hides them."""
