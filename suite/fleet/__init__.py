# SPDX-License-Identifier: MIT
"""The same suite on every node of a cluster: an ordinary run on each, gathered in one place.

`fleet` decides what happens to each node. `bridge` and `ray_cluster` reach the nodes through
Ray, and `on_node` is what runs there. `messages` are what they say to each other.
"""
