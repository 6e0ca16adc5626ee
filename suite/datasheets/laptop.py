# SPDX-License-Identifier: MIT
"""Which accelerators are chips of laptops, by the names that their drivers give them."""

import re

_LAPTOP = re.compile(
    r"\b(Laptop|Max-Q|Max-P|Mobile|Notebook)\b"
    r"|\bMX\d{3}\b|\b\d{3}MX\b"  # GeForce MX450, 940MX
    r"|\b[A-Z]?\d{3,4}M\b"  # GeForce GTX 1060M, Quadro M2000M, Radeon 780M, Arc A370M
    r"|\bRX \d{4}S\b|\b8\d{3}S\b"  # Radeon RX 7600S, Radeon 8060S
    r"|\bGTX 1650 Ti\b"  # of which no card for a desktop was made
)
_DESKTOP = re.compile(r"\bMax-Q Workstation\b")
"""RTX PRO 6000 Blackwell Max-Q Workstation Edition, a card of 300 W."""


def is_laptop(name: str) -> bool:
    """Tell whether a device of this name is a laptop's, whose power limit moves while it works.

    Some laptops of the GeForce 10, 16 and 20 series have the name of the desktop's card, which
    tells nothing.
    """
    return _LAPTOP.search(name) is not None and _DESKTOP.search(name) is None
