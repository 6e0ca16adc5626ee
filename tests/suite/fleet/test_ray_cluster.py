# SPDX-License-Identifier: MIT
"""The names of a cluster's nodes: no two are equal, and a node keeps its own."""

import socket
from typing import Any

import pytest

from frobench.suite.fleet.ray_cluster import look_for, named, shared_names


def described(number: str, address: str, name: str = "", host: str = "host") -> dict[str, Any]:
    """Return a node as Ray describes it; one that was given no name has its address for one."""
    return {
        "NodeID": number,
        "NodeName": name or address,
        "NodeManagerAddress": address,
        "NodeManagerHostname": host,
        "Resources": {},
    }


def names(*nodes: dict[str, Any], shared: set[str] | None = None) -> dict[str, str]:
    found = named(nodes, shared_names(nodes) if shared is None else shared)
    return {node.id: name for name, node in found.items()}


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


def test_a_node_keeps_its_name_when_the_other_one_of_that_name_is_lost_and_comes_back() -> None:
    first, second = described("1", "10.0.0.1", "a"), described("2", "10.0.0.2", "a")
    shared = shared_names([first, second])
    assert names(second, shared=shared) == {"2": "a (10.0.0.2)"}
    again = described("0", "10.0.0.1", "a")
    assert names(again, second, shared=shared) == {"0": "a (10.0.0.1)", "2": "a (10.0.0.2)"}


def test_a_node_that_comes_back_has_its_name_while_the_lost_one_is_still_listed() -> None:
    lost, other = described("1", "10.0.0.1", "a"), described("2", "10.0.0.2", "b")
    again = described("3", "10.0.0.1", "a")
    shared = shared_names([lost, other])
    assert sorted(named([lost, other, again], shared)) == ["a", "b"]


def test_an_address_where_nothing_listens_is_named_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        look_for(address)
    with pytest.raises(ConnectionRefusedError):
        look_for(address)


def test_ray_client_is_refused() -> None:
    with pytest.raises(ValueError, match="--address auto or HOST:PORT"):
        look_for("ray://10.0.0.1:10001")
