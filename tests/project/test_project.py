# SPDX-License-Identifier: MIT
"""What the project's files promise each other."""

import json
import os
import re
import shutil
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import frobench
import noxfile
from tests.instruments.processes.command import ROOT, python
from tests.project import example

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def pins() -> dict[str, str]:
    """Return the pinned versions by name."""
    lines = (line for line in text("constraints.txt").splitlines() if not line.startswith("#"))
    return dict(line.split("==") for line in lines)


def stated() -> list[Requirement]:
    """Return all requirements that the project states, of every group."""
    groups = PROJECT["dependency-groups"].values()
    grouped = [need for group in groups for need in group if isinstance(need, str)]
    needs = [*PROJECT["build-system"]["requires"], *PROJECT["project"]["dependencies"], *grouped]
    return [Requirement(need) for need in needs]


def test_every_stated_requirement_is_pinned_within_its_range() -> None:
    pinned = pins()
    for need in stated():
        assert need.specifier.contains(pinned[canonicalize_name(need.name)]), need


def test_what_reads_results_or_watches_a_run_starts_without_torch_and_pytest() -> None:
    [light] = [one for one in CONTRACTS if "torch" in one.get("forbidden_modules", [])]
    code = """
import importlib, json, pkgutil, sys
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), f"{name}."):
        importlib.import_module(found.name)
print(json.dumps(sorted({"torch", "pytest"} & sys.modules.keys())))
"""
    names = [f"frobench.{path.stem}" for path in (ROOT / "frobench").glob("*.py")]
    done = python("-c", code, "frobench.suite.run", *names, *light["source_modules"])
    assert json.loads(done.stdout) == [], done.stderr


def test_one_version_is_told_everywhere() -> None:
    version = PROJECT["project"]["version"]
    assert frobench.__version__ == version
    assert f"\nversion: {version}\n" in text("CITATION.cff")
    released = re.findall(r"^## \[(\d.*?)\]", text("CHANGELOG.md"), re.MULTILINE)
    assert released[:1] in ([], [version])


@pytest.mark.parametrize(
    ("shell", "completed"), [("bash", "plain,show\n"), ("fish", "plain,show\tPrint the answers")]
)
def test_the_completion_that_is_documented_completes_verbs(shell: str, completed: str) -> None:
    assert 'eval "$(_FROBENCH_COMPLETE=bash_source frobench)"' in text("README.md")
    words = {"COMP_WORDS": "frobench sh", "COMP_CWORD": "sh" if shell == "fish" else "1"}
    code = "from frobench.__main__ import main; main()"
    variables = os.environ | words | {"_FROBENCH_COMPLETE": f"{shell}_complete"}
    assert completed in python("-c", code, variables=variables).stdout


def test_every_link_of_the_documents_leads_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text(encoding="utf-8")):
            if "://" not in link:
                assert (document.parent / link).exists(), f"{document.name}: {link}"


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
    for number, package in enumerate(PACKAGES, start=1):
        (contract,) = (one for one in CONTRACTS if one.get("containers") == [f"frobench.{package}"])
        cells = [row.split("|")[number] for row in TEXT.splitlines() if row.startswith("  | `")]
        named = [" | ".join(re.findall(r"`(\w+)`", cell)) for cell in cells[1:]]
        assert [*filter(None, named)] == contract["layers"]


def test_every_path_that_the_pages_name_is_there() -> None:
    paths = set(re.findall(r"`((?:benchmarks|frobench|reports|suite|tests)/[\w./]*)`", TEXT))
    assert len(paths) > 20
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


SOURCE = "from setuptools import build_meta; build_meta.prepare_metadata_for_build_wheel('made')"
ADDRESS = "https://example.org/frobench"


def metadata(folder: Path, address: str) -> str:
    """Return the metadata of a wheel whose project has an address."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    text = (ROOT / "setup.py").read_text("utf-8")
    assert text.count('REPOSITORY = ""') == 1
    (folder / "setup.py").write_text(text.replace('REPOSITORY = ""', f'REPOSITORY = "{address}"'))
    (folder / "made").mkdir()
    python("-c", SOURCE, folder=folder)
    (made,) = (folder / "made").glob("*.dist-info/METADATA")
    return made.read_text("utf-8")


def test_every_link_of_a_release_is_whole(tmp_path: Path) -> None:
    made = metadata(tmp_path, ADDRESS)
    links = re.findall(r"\]\(([^)]+)\)", made)
    assert len(links) > 20
    assert all(link.startswith(("https://", "#")) for link in links)
    assert f"{ADDRESS}/blob/main/docs/methodology.md" in links
    assert f"{ADDRESS}/raw/main/docs/screenshots/run-light.png" in links
    assert f"Project-URL: Source, {ADDRESS}\n" in made


@pytest.mark.parametrize("address", ["", ADDRESS])
def test_a_release_without_an_address_is_refused(tmp_path: Path, address: str) -> None:
    made = metadata(tmp_path, address)
    wheel = tmp_path / "frobench.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("frobench.dist-info/METADATA", made)
    assert noxfile.has_address(wheel) == bool(address)


@pytest.mark.golden
def test_the_example_pages_are_what_their_stored_run_gives(tmp_path: Path) -> None:
    kept, site = example.pages(example.FOLDER), example.build(example.run_shown(), tmp_path)
    advice = "`python -m tests.project.example` writes them anew, `nox -s screenshots` all"
    assert kept.keys() == site.keys(), advice
    assert all(kept[name] == content for name, content in site.items()), advice


@pytest.mark.golden
def test_the_pictures_show_the_example_pages() -> None:
    pictured = json.loads(example.PICTURED.read_text(encoding="utf-8"))
    advice = "`nox -s screenshots` takes the pictures anew"
    assert pictured == example.digests(example.pages(example.FOLDER)), advice
