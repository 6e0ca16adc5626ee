# SPDX-License-Identifier: MIT
"""What pytest loads wherever Frobench is installed; it acts in projects with `[tool.frobench]`.

There `pytest benchmarks/` measures functions named `bench_*`, with pytest-benchmark's table and
options. Elsewhere it reads one file and imports nothing.
"""

import re
from typing import Any

PLUGIN = "frobench.suite.launch.plugin"


def pytest_load_initial_conftests(early_config: Any, args: list[str]) -> None:  # noqa: ANN401 - without importing pytest
    """Load the plugin of launches, unless it is loaded, and let pytest collect benchmarks.

    The table's profile comes first, so that an option of the command line overrides it.
    """
    try:
        text = (early_config.rootpath / "pyproject.toml").read_text("utf-8", "replace")
    except OSError:
        return
    if re.search(r"^\s*\[tool\.frobench[].]", text, re.MULTILINE):
        import tomllib  # noqa: PLC0415 - for those who have such a table

        if profile := tomllib.loads(text)["tool"]["frobench"].get("profile"):
            args.insert(0, f"--frobench-profile={profile}")
        early_config.pluginmanager.import_plugin(PLUGIN)
        early_config.addinivalue_line("python_files", "bench_*.py")
        early_config.addinivalue_line("python_functions", "bench_*")
