# SPDX-License-Identifier: MIT
"""A benchmark's version changes with what it measures, and with nothing else."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from frobench.suite.benchmark_version import benchmark_version, definitions, version_in
from tests.instruments.processes.alone import BENCHMARKS, load

STORED = Path(__file__).parent / "versions.txt"
"""The version of each benchmark: a change of one parts its later results from all earlier ones."""

SOURCE = '''"""Is it quick?"""
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
HELPING = '''"""Helps."""
import math
from frobench import Work
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


def version_of(source: str, helping: str = HELPING, *, runs: bool = True) -> str:
    """Return the version of a benchmark beside a module that helps it, which need not run."""
    with TemporaryDirectory() as folder:
        Path(folder, "helping.py").write_text(helping)
        path = Path(folder, "bench_it.py")
        path.write_text(source)
        return benchmark_version(load(path).bench_it) if runs else version_in(path, "bench_it")


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("torch.ones", "torch.zeros", True),
        ("return SIZE", "return SIZE + 1", True),
        ("FACTOR = 2", "FACTOR = 4", True),
        ("return size + 1", "return size + 2", True),
        ('"""Do it."""', '"""Do it well."""\n    # and quickly', False),
        ("return OTHER", "return 2 * OTHER", False),
        ('"""Help."""', '"""Help well."""', False),
        ("OTHER = 3", "OTHER = 4", False),
    ],
)
def test_it_changes_with_what_a_body_uses_and_no_more(old: str, new: str, *, changes: bool) -> None:
    assert old in SOURCE + HELPING
    changed = version_of(SOURCE.replace(old, new), HELPING.replace(old, new))
    assert (changed != version_of(SOURCE)) is changes


WORKING = """def bench_it(measure):
    work = Work(bytes=4{path})
    measure(lambda: SIZE, work=work{control})
"""


def test_it_does_not_change_with_what_only_the_checks_read() -> None:
    def version(path: str = "", control: str = "") -> str:
        working = WORKING.format(path=path, control=control)
        return version_of(SOURCE.partition("def bench_it")[0] + working)

    assert version(path=', path="host"', control=", control=SIZE > OTHER") == version()
    assert version(path=", items=1") != version()
    assert version(control=", cold=True") != version()


@pytest.mark.parametrize(
    ("imports", "changes"),
    [
        *((code, False) for code in ("", "import math", "from .frobench import Work")),
        ("import frobenches", False),
        ("import pytest", True),
        ("import frobench.suite.kit.check_result", True),
        ("from frobench import *", True),
        ("from suite import Work", True),  # as benchmarks were written before
    ],
)
def test_it_changes_with_helpers_and_not_with_code_measured(imports: str, *, changes: bool) -> None:
    helper = HELPING.replace("import math\nfrom frobench import Work", imports)
    changed = helper.replace("return more(size)", "return more(2 * size)")
    before, after = (version_of(SOURCE, text, runs=False) for text in (helper, changed))
    assert (after != before) is changes


@pytest.mark.golden
def test_versions_of_stored_results_are_those_of_the_benchmarks_here() -> None:
    stored = dict(line.split() for line in STORED.read_text().splitlines())
    today = {
        f"{module.stem}.{name}": version_in(module, name)
        for module in BENCHMARKS.glob("bench_*.py")
        for name in definitions(module)
        if name.startswith("bench_")
    }
    assert today == stored


def test_it_is_the_same_in_every_checkout_and_for_every_kind_of_import() -> None:
    direct = SOURCE.replace("FACTOR as factor", "FACTOR").replace("factor *", "FACTOR *")
    assert version_of(direct) == version_of(direct)
    alone = SOURCE.replace("from helping import FACTOR as factor, help_it", HELPING)
    assert version_of(alone) != version_of(SOURCE)
