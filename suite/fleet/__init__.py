# SPDX-License-Identifier: MIT
"""An ordinary run on every node of a Ray cluster: `fleet` decides, and `on_node` runs there."""
