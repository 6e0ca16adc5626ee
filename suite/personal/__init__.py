# SPDX-License-Identifier: MIT
"""How texts that name somebody look; `suite.private` finds and hides them."""
