# SPDX-License-Identifier: MIT
"""What two machines can be held against each other by: the times of their cases."""

import re

from tests.site_checker.files import RunFiles
from tests.site_checker.recomputed import LEAST, pseudomedian

_ACCELERATOR = re.compile(r"[a-z]\w*:\d+")


def times(files: RunFiles) -> dict[tuple[str, str], float]:
    """Return the pseudomedian of each case that can stand in a ratio, by exercise and by case."""
    broken = {
        one["case"]
        for one in files.stored["frobench"]["conclusions"]
        if one["severity"] == "error" and one.get("case")
    }
    status = {cells["case"]: cells["status"] for cells in files.tables["cases"]}
    most = max((len(files.seconds(name)) for name in status), default=0)
    found: dict[tuple[str, str], float] = {}
    for name, state in status.items():
        case, seconds = files.stored_cases[name], files.seconds(name)
        info = case["extra_info"]
        if state == "failed" or name in broken or len(seconds) < min(LEAST, most):
            continue
        device = _ACCELERATOR.sub("accelerator", str(case["params"].get("device", info["device"])))
        params = sorted({**case["params"], "device": device}.items())
        alone = device.startswith("cpu") and "accelerator" not in device
        exercise = f"{case['group']}.cpu" if alone else case["group"]
        key = repr((name.partition("[")[0], info["version"], params))
        found.setdefault((exercise, key), pseudomedian([*seconds.values()]))
    return found
