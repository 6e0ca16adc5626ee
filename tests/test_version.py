# SPDX-License-Identifier: MIT
"""A benchmark's version changes with what it measures, and with nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from suite.version import benchmark_version
from tests.alone import load

SOURCE = '''
"""Is it quick?"""
import torch
from helping import FACTOR as factor, help_it
SIZE = 4
OTHER = 5

def helper():
    return SIZE

def unrelated():
    return OTHER

def bench_it(measure):
    """Do it."""
    measure(lambda: torch.ones(factor * help_it(helper())))
'''
HELPING = '''
"""Helps."""
import math
FACTOR = 2
OTHER = 3

def help_it(size):
    """Help."""
    return more(size)

def more(size):
    return size + 1

def unrelated():
    return OTHER
'''


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return what makes new folders."""
    return lambda: tmp_path_factory.mktemp("benchmarks")


def version_of(source: str, folder: Path, helping: str = HELPING) -> str:
    (folder / "helping.py").write_text(helping)
    path = folder / "bench_it.py"
    path.write_text(source)
    return benchmark_version(load(path).bench_it)


def test_a_declaration_that_no_body_uses_changes_no_version(folder: Callable[[], Path]) -> None:
    declared = SOURCE.replace(
        "SIZE = 4", "from suite import cpu_twins\npytestmark = cpu_twins()\nSIZE = 4"
    )
    assert declared != SOURCE
    assert version_of(declared, folder()) == version_of(SOURCE, folder())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.ones", "torch.zeros"),
        ("return SIZE", "return SIZE + 1"),
        ("SIZE = 4", "SIZE = 40"),
    ],
)
def test_it_changes_with_the_body_and_what_the_body_uses(
    folder: Callable[[], Path], old: str, new: str
) -> None:
    assert version_of(SOURCE, folder()) != version_of(SOURCE.replace(old, new), folder())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Do it."""', '"""Do it well."""\n    # and quickly'),
        ("return OTHER", "return 2 * OTHER"),
        ("Is it quick?", "Is it slow?"),
    ],
)
def test_it_does_not_change_with_words_or_with_other_code(
    folder: Callable[[], Path], old: str, new: str
) -> None:
    assert version_of(SOURCE, folder()) == version_of(SOURCE.replace(old, new), folder())


WORKING = """

def bench_it(measure):
    work = Work(bytes=4{path})
    measure(lambda: SIZE, work=work{control})
"""


def test_it_does_not_change_with_what_only_the_checks_read(folder: Callable[[], Path]) -> None:
    bare = SOURCE.partition("def bench_it")[0] + WORKING
    plain = version_of(bare.format(path="", control=""), folder())
    declared = bare.format(path=', path="host"', control=", control=SIZE > OTHER")
    assert version_of(declared, folder()) == plain
    assert version_of(bare.format(path=", items=1", control=""), folder()) != plain
    assert version_of(bare.format(path="", control=", cold=True"), folder()) != plain


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FACTOR = 2", "FACTOR = 4"),
        ("return more(size)", "return more(size) + 1"),
        ("return size + 1", "return size + 2"),
    ],
)
def test_it_changes_with_what_the_body_uses_of_a_module_beside_its_own(
    folder: Callable[[], Path], old: str, new: str
) -> None:
    changed = version_of(SOURCE, folder(), HELPING.replace(old, new))
    assert version_of(SOURCE, folder()) != changed


@pytest.mark.parametrize(
    ("old", "new"),
    [('"""Help."""', '"""Help well."""'), ("OTHER = 3", "OTHER = 4"), ("import math", "import re")],
)
def test_it_does_not_change_with_the_rest_of_that_module(
    folder: Callable[[], Path], old: str, new: str
) -> None:
    changed = version_of(SOURCE, folder(), HELPING.replace(old, new))
    assert version_of(SOURCE, folder()) == changed


def test_it_is_the_same_in_every_checkout_and_for_every_kind_of_import(
    folder: Callable[[], Path],
) -> None:
    direct = SOURCE.replace("FACTOR as factor", "FACTOR").replace("factor *", "FACTOR *")
    assert version_of(direct, folder()) == version_of(direct, folder())
    alone = SOURCE.replace("from helping import FACTOR as factor, help_it", HELPING)
    assert version_of(alone, folder()) != version_of(SOURCE, folder())
