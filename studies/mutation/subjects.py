# SPDX-License-Identifier: MIT
"""What is mutated, and the tests that should catch it."""

from typing import NamedTuple


class Subject(NamedTuple):
    """A part of the project, as patterns of paths in a checkout.

    code : modules, or folders of them
    tests : files of tests, or folders of them
    """

    code: tuple[str, ...]
    tests: tuple[str, ...]


SUBJECTS = {
    "measuring": Subject(("suite/measure",), ("tests/suite/measure",)),
    "launching": Subject(("suite/launch",), ("tests/suite/launch",)),
    "checks": Subject(("suite/checks",), ("tests/suite/checks",)),
    "statistics": Subject(
        ("suite/statistics.py", "suite/compare"),
        ("tests/suite/test_statistics.py", "tests/suite/compare"),
    ),
    "findings": Subject(("reports/findings",), ("tests/reports/findings",)),
}
"""Each part by its name: the tests mirror the code."""

BEFORE = "b85a3f2"
"""The commit before the code was sorted into folders."""

SUBJECTS_BEFORE = {
    "measuring": Subject(
        tuple(
            f"suite/{name}.py"
            for name in (
                *("caches", "clocks", "inputs", "interleaving", "measurement"),
                *("settling", "timing", "warming", "windows"),
            )
        ),
        tuple(
            f"tests/test_{name}.py"
            for name in (
                *("caches", "clocks", "inputs", "interleaving", "settling"),
                *("synchronisation", "timing"),
            )
        ),
    ),
    "launching": Subject(
        tuple(
            f"suite/{name}.py"
            for name in ("collection", "declared", "plugin", "replay", "searches", "session")
        ),
        tuple(f"tests/test_{name}.py" for name in ("collection", "declared", "searches")),
    ),
    "checks": Subject(
        ("suite/checks",),
        ("tests/test_bad_files.py", "tests/test_checks*.py", "tests/test_known_figures.py"),
    ),
    "statistics": Subject(
        (
            *("suite/statistics.py", "suite/ranks.py"),
            *("suite/compare/[!tw]*.py",),  # not its tables and words, which terminals show
        ),
        tuple(
            f"tests/test_{name}.py"
            for name in ("agreement", "alike", "compare", "compare_*", "statistics")
        ),
    ),
    "findings": Subject(
        ("reports/findings", "reports/roofline.py"),
        ("tests/test_findings*.py", "tests/test_roofline.py"),
    ),
}
"""The same parts of that commit, whose code and tests lay flat."""
