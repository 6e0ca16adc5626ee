# SPDX-License-Identifier: MIT
"""What the doctor finds."""

from typing import NamedTuple

START_LOCALLY = "https://pytorch.org/get-started/locally/"
"""Where PyTorch tells which of its builds suits a machine."""


class Trouble(NamedTuple):
    """What is wrong, and the command or setting that mends it."""

    message: str
    mend: str
