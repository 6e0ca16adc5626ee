# SPDX-License-Identifier: MIT
"""Intel's GPUs: the kernel shows them."""

from pathlib import Path

from frobench.suite.machine.vendors.vendor import DISPLAYS, Vendor

INTEGRATED = "0000:00:02."
"""Where on the bus the display of an Intel processor always is."""


class Intel(Vendor):
    """Intel's cards, without the displays and NPUs of its processors."""

    name, type, build, pci = "Intel", "xpu", "XPU", "0x8086"
    guide = "https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html"
    driver = ("sys/module/i915", "sys/module/xe")
    nodes = "dev/dri/renderD*"
    masks = ("ZE_AFFINITY_MASK",)
    container = "--device /dev/dri"

    def is_accelerator(self, card: Path, kind: str) -> bool:
        """Return whether a device of the vendor is an accelerator; `kind` is its PCI class."""
        return kind in DISPLAYS and INTEGRATED not in card.name
