# SPDX-License-Identifier: MIT
"""What the project's files promise each other."""

import json
import os
import re
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import frobench
from tests.instruments.processes.command import ROOT, python

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_stated_requirement_is_pinned_within_its_range() -> None:
    lines = (line for line in text("constraints.txt").splitlines() if not line.startswith("#"))
    pinned = dict(line.split("==") for line in lines)
    groups = PROJECT["dependency-groups"].values()
    grouped = [need for group in groups for need in group if isinstance(need, str)]
    needs = [*PROJECT["build-system"]["requires"], *PROJECT["project"]["dependencies"], *grouped]
    for need in map(Requirement, needs):
        assert need.specifier.contains(pinned[canonicalize_name(need.name)]), need


def test_what_starts_launches_or_reads_results_starts_without_torch_and_pytest() -> None:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    [light] = [one for one in contracts if "torch" in one.get("forbidden_modules", [])]
    code = """
import importlib, json, pkgutil, sys
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), f"{name}."):
        importlib.import_module(found.name)
print(json.dumps(sorted({"torch", "pytest"} & sys.modules.keys())))
"""
    verbs = [f"frobench.{path.stem}" for path in (ROOT / "frobench").glob("*.py")]
    done = python("-c", code, *verbs, *light["source_modules"], "frobench.suite.run")
    assert json.loads(done.stdout) == []


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
    words |= {"_FROBENCH_COMPLETE": f"{shell}_complete"}
    assert completed in python("-c", code, variables=os.environ | words).stdout


def test_every_link_of_the_documents_leads_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text(encoding="utf-8")):
            if "://" not in link:
                assert (document.parent / link).exists(), f"{document.name}: {link}"
