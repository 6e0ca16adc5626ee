# SPDX-License-Identifier: MIT
"""`docs/architecture.md` and `docs/code-map.md` show the folders and layers that there are."""

import re
import tomllib
from pathlib import Path

from tests.instruments.processes.command import ROOT

PAGES = [(ROOT / "docs" / name).read_text("utf-8") for name in ("architecture.md", "code-map.md")]
TEXT = "\n".join(PAGES)
PACKAGES = ("suite", "reports")
INDENT = 4


def shown() -> set[str]:
    """Return the paths that the tree shows, folders with a slash behind them."""
    block = TEXT.partition("\n## The tree\n")[2].split("```")[1]
    paths: set[str] = set()
    above: list[str] = []
    for line in block.strip().splitlines():
        name = line.split()[0]
        above[(len(line) - len(line.lstrip())) // INDENT :] = [name]
        paths.add("".join(above))
    return paths


def modules(package: str) -> list[Path]:
    """Return the modules of a package by their paths in the repository."""
    files = sorted((ROOT / package).rglob("*.py"))
    return [file.relative_to(ROOT) for file in files if not file.stem.startswith("__")]


def test_the_tree_is_the_real_one() -> None:
    inits = [file for name in PACKAGES for file in (ROOT / name).rglob("__init__.py")]
    folders = {f"{file.parent.relative_to(ROOT).as_posix()}/" for file in inits}
    files = {path.as_posix() for name in PACKAGES for path in modules(name) if len(path.parts) == 2}
    assert shown() == {"frobench/", "benchmarks/", *folders, *files}


def test_the_layers_are_those_that_are_checked() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for number, package in enumerate(PACKAGES, start=1):
        (contract,) = (
            contract
            for contract in contracts["tool"]["importlinter"]["contracts"]
            if contract.get("containers") == [f"frobench.{package}"]
        )
        cells = [row.split("|")[number] for row in TEXT.splitlines() if row.startswith("  | `")]
        named = [" | ".join(re.findall(r"`(\w+)`", cell)) for cell in cells[1:]]
        assert [*filter(None, named)] == contract["layers"]


def test_every_path_that_the_pages_name_is_there() -> None:
    paths = set(re.findall(r"`((?:benchmarks|frobench|reports|suite|tests)/[\w./]*)`", TEXT))
    assert len(paths) > 20
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []
