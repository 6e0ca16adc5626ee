# SPDX-License-Identifier: MIT
"""What is said where a package is missing; nothing is imported here that may be missing itself."""

import re
import sys

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
OWN = frozenset({"benchmarks", "frobench", "reports", "suite"})
_TOLD = re.compile(r"^ModuleNotFoundError: No module named '(\w+)", re.MULTILINE)


def absent(module: str) -> str:
    """Say which package is missing, by one of its modules, and how to come by it."""
    package = PACKAGES.get(module, module)
    if sys.platform == "win32":  # where nothing is measured
        mend = "`nox -s report` installs what reads stored runs"
    else:
        mend = "`nox -s bench` installs everything"
    return (
        f"{sys.executable} has no package {package}; {mend}, and "
        "docs/offline.md says how to bring it where there is no package index"
    )


def absent_module(error: BaseException | None) -> str | None:
    """Return the module that an error, or what caused it, could not find; never one of our own."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name:
            module = error.name.partition(".")[0]
            return None if module in OWN else module
        error = error.__cause__
    return None


def absent_in(output: str) -> str | None:
    """Return the module that a process could not find, if that is why it ended."""
    match = _TOLD.search(output)
    return match[1] if match and match[1] not in OWN else None
