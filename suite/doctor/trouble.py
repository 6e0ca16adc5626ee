# SPDX-License-Identifier: MIT
"""What the doctor finds."""

from typing import NamedTuple


class Trouble(NamedTuple):
    """What is wrong, and the command or setting that mends it."""

    message: str
    mend: str
