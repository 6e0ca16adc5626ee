# SPDX-License-Identifier: MIT
"""The name of a kind of machine, made from its facts alone; no device is looked at."""

import re
from collections import Counter
from collections.abc import Sequence

from suite.stored.run import Accelerator, Cpu


def machine_name(cpu: Cpu, accelerators: Sequence[Accelerator]) -> str:
    """Name the kind of machine, fit for a folder: `nvidia-h200`, `2x-nvidia-h200`.

    Without an accelerator it is the processor and the cores that may be used.
    """
    counts = Counter(device.name for device in accelerators)
    parts = [name if count == 1 else f"{count}x {name}" for name, count in counts.items()]
    named = " ".join(parts) or f"{cpu.model or cpu.architecture} {cpu.usable_cores} cores"
    noise = r"\((r|tm)\)|@ *[\d.]+ *ghz|\b(\d+-core|cpu|processor)\b"
    words = re.findall(r"[a-z0-9]+", re.sub(noise, " ", named.lower()))
    return "-".join(words)[:80].rstrip("-")
