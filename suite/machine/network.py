# SPDX-License-Identifier: MIT
"""What the system tells of this machine's network."""

import socket
from contextlib import suppress
from pathlib import Path

import psutil

from frobench.suite.machine.limits import ROOT, read

MEGABIT = 1e6 / 8
"""Bytes a second of the unit in which Linux tells a link's rate."""


def interface_of(address: str) -> str | None:
    """Return the name of this machine's network interface that has an address."""
    with suppress(OSError):
        for name, addresses in psutil.net_if_addrs().items():
            if any(known.address == address for known in addresses):
                return name
    return None


def link_rate(interface: str, root: Path = ROOT) -> float | None:
    """Return an interface's rate in bytes a second, if the system tells it: not of a loopback."""
    megabits = read(root / "sys/class/net" / interface / "speed")  # -1 where it is not known
    return int(megabits) * MEGABIT or None if megabits.isdecimal() else None


def own_address(host: str, port: int) -> str:
    """Return the address by which this machine reaches a host; raises `OSError` if it cannot."""
    family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.connect(where)  # a datagram's socket: nothing is sent before something is written
        return str(probe.getsockname()[0])
