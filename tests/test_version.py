# SPDX-License-Identifier: MIT
"""A benchmark's version changes with what it measures, and with nothing else."""

import importlib.util
from pathlib import Path

import pytest

from suite.version import benchmark_version

SOURCE = '''
"""Is it quick?"""
import torch
SIZE = 4
OTHER = 5

def helper():
    return SIZE

def unrelated():
    return OTHER

def bench_it(measure):
    """Do it."""
    measure(lambda: torch.ones(helper()))
'''


def version_of(source: str, folder: Path) -> str:
    path = folder / f"bench_{abs(hash(source))}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return benchmark_version(module.bench_it)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.ones", "torch.zeros"),
        ("return SIZE", "return SIZE + 1"),
        ("SIZE = 4", "SIZE = 40"),
    ],
)
def test_it_changes_with_the_body_and_what_the_body_uses(
    tmp_path: Path, old: str, new: str
) -> None:
    assert version_of(SOURCE, tmp_path) != version_of(SOURCE.replace(old, new), tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Do it."""', '"""Do it well."""\n    # and quickly'),
        ("return OTHER", "return 2 * OTHER"),
        ("Is it quick?", "Is it slow?"),
    ],
)
def test_it_does_not_change_with_words_or_with_other_code(
    tmp_path: Path, old: str, new: str
) -> None:
    assert version_of(SOURCE, tmp_path) == version_of(SOURCE.replace(old, new), tmp_path)
