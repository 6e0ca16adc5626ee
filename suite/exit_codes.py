# SPDX-License-Identifier: MIT
"""Exit codes of the command, and messages about packages that are missing.

Nothing is imported here that may be missing itself.
"""

import re
import sys

FAILED = 1
"""A case failed, or a file is invalid."""
CANNOT = 3
"""What was asked cannot be done: nothing was measured, or a comparison decides nothing."""
SLOWER = 4
"""A comparison found a case slower, or a result was not reproduced; this wins over `CANNOT`."""
INTERRUPTED = 130
"""The user ended it."""

PACKAGES = {
    "cpuinfo": "py-cpuinfo2",
    "dateutil": "python-dateutil",
    "fontTools": "fonttools",
    "PIL": "pillow",
    "quickjs": "quickjs-ng",
    "pynvml": "nvidia-ml-py",
    "pytest_benchmark": "pytest-benchmark",
}
"""Packages whose modules have other names than they have themselves."""
_MISSING = re.compile(r"^ModuleNotFoundError: No module named '(\w+)", re.MULTILINE)


def absent(module: str) -> str:
    """Say which package is missing, by one of its modules, and how to install it."""
    mend = "`nox -s bench` installs everything"
    if sys.platform == "win32":  # where nothing is measured
        mend = "`nox -s report` installs what reads stored runs"
    return (
        f"{sys.executable} has no package {PACKAGES.get(module, module)}; {mend}, and "
        "docs/offline.md says how to bring it where there is no package index"
    )


def absent_module(error: BaseException | None) -> str | None:
    """Return the module that an error, or what caused it, could not find; never one of our own."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name:
            module = error.name.partition(".")[0]
            return None if module == "frobench" else module
        error = error.__cause__
    return None


def absent_in(output: str) -> str | None:
    """Return the module that a process did not find, by what it printed before it ended."""
    match = _MISSING.search(output)
    return match[1] if match and match[1] != "frobench" else None
