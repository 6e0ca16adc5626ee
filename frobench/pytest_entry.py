# SPDX-License-Identifier: MIT
"""What pytest loads wherever Frobench is installed; it acts in projects with `[tool.frobench]`.

There `pytest benchmarks/` measures functions named `bench_*`, with pytest-benchmark's table and
options. Elsewhere it reads one file and imports nothing.
"""

import re
from typing import Any

PLUGIN = "frobench.suite.launch.plugin"


def pytest_load_initial_conftests(early_config: Any) -> None:  # noqa: ANN401 - without importing pytest
    """Load the plugin of launches, unless it is loaded, and let pytest collect benchmarks."""
    try:
        text = (early_config.rootpath / "pyproject.toml").read_text("utf-8")
    except (OSError, ValueError):
        return
    if re.search(r"^\s*\[tool\.frobench[].]", text, re.MULTILINE):
        early_config.pluginmanager.import_plugin(PLUGIN)
        early_config.addinivalue_line("python_files", "bench_*.py")
        early_config.addinivalue_line("python_functions", "bench_*")
