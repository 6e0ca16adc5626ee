# SPDX-License-Identifier: MIT
"""The names of a cluster's nodes: no two are equal."""

import socket
from typing import Any

import pytest

from frobench.suite.fleet.ray_cluster import look_for, named


def described(number: str, address: str, name: str = "", host: str = "host") -> dict[str, Any]:
    """Return a node as Ray describes it; one that was given no name has its address for one."""
    return {
        "NodeID": number,
        "NodeName": name or address,
        "NodeManagerAddress": address,
        "NodeManagerHostname": host,
        "Resources": {},
    }


def names(*nodes: dict[str, Any]) -> dict[str, str]:
    return {node.id: name for name, node in named(nodes).items()}


def test_a_node_has_the_name_that_it_was_given_or_that_of_its_host() -> None:
    given = described("1", "10.0.0.1", "a")
    unnamed = described("2", "10.0.0.2", host="gpu-2")
    assert names(given, unnamed) == {"1": "a", "2": "gpu-2"}


def test_nodes_of_one_name_are_told_apart_by_their_addresses_and_then_by_their_numbers() -> None:
    nodes = (
        described("1" * 56, "10.0.0.1", "a"),
        described("2" * 56, "10.0.0.2", "a"),
        described("3" * 56, "10.0.0.2", "a"),
    )
    assert [*names(*nodes).values()] == [
        "a (10.0.0.1)",
        f"a (10.0.0.2, {'2' * 16})",
        f"a (10.0.0.2, {'3' * 16})",
    ]


def test_an_address_where_nothing_listens_is_named_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        look_for(address)
    with pytest.raises(ConnectionRefusedError):
        look_for(address)


def test_ray_client_is_refused() -> None:
    with pytest.raises(ValueError, match="--address auto or HOST:PORT"):
        look_for("ray://10.0.0.1:10001")
