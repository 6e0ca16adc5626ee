# SPDX-License-Identifier: MIT
"""What runs on a host that others can send changes to is given little, and trusts no text."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FROM_EVENTS = r"\$\{\{.*?(github\.(event|head_ref)|steps\.|inputs\.).*?\}\}"
"""Expressions whose text somebody else may have chosen."""


def commands(text: str) -> list[str]:
    """Return what a workflow's steps run, each with the lines that belong to it."""
    return re.findall(r"^ *(?:- )?run: (.*(?:\n {10,}.*)*)", text, re.MULTILINE)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_read_what_is_there_and_names_its_tools_by_version(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "\npermissions:\n  contents: read\n\n" in text
    used = re.findall(r"uses: (\S+)", text)
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", one) for one in used)
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_text_from_outside_becomes_a_command(path: Path) -> None:
    found = commands(path.read_text(encoding="utf-8"))
    assert found
    assert not any(re.search(FROM_EVENTS, command) for command in found)


def test_only_what_publishes_may_write() -> None:
    writing = {
        (path.stem, right)
        for path in WORKFLOWS
        for right in re.findall(r"^ +([a-z-]+): write", path.read_text("utf-8"), re.MULTILINE)
    }
    assert writing == {("report", "pages"), ("report", "id-token")}


def test_the_site_is_published_with_its_address_and_without_what_is_kept() -> None:
    text = (ROOT / ".github" / "workflows" / "report.yml").read_text(encoding="utf-8")
    (report,) = [one for one in commands(text) if "nox -s report" in one]
    assert '-- --address "$ADDRESS"' in report
    assert "ADDRESS: ${{ steps.pages.outputs.base_url }}" in text
    assert text.index("actions/cache@") < text.index("nox -s report")
    assert "include-hidden-files" not in text


def test_who_adds_a_result_is_shown_its_page() -> None:
    text = (ROOT / ".github" / "workflows" / "results.yml").read_text(encoding="utf-8")
    (report,) = [one for one in commands(text) if "nox -s report" in one]
    assert "git diff -z" in report
    assert "xargs -0" in report  # whatever the files are called
    assert text.index("nox -s validate") < text.index("nox -s report")
