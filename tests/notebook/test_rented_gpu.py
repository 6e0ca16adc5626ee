# SPDX-License-Identifier: MIT
"""The notebook measures the machine it runs on, shows the page and writes the file to publish."""

import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from frobench.suite.stored import store
from tests.instruments.faults.judging import validate_file

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Execute the notebook in a folder of its own; return the folder."""
    folder = tmp_path_factory.mktemp("rented")
    notebook = nbformat.read(ROOT / "docs" / "rented-gpu.ipynb", as_version=4)
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if "install" in tags:
            cell.source = ""  # this environment has Frobench
        if "profile" in tags:
            cell.source = 'PROFILE = "quick"'
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    (folder / "executed.json").write_text(nbformat.writes(notebook))
    return folder


def test_it_measures_and_shows_the_page(folder: Path) -> None:
    (stored,) = (folder / "results").glob("*/*.json")
    assert store.read(stored).frobench.profile == "quick"
    assert json.dumps("srcdoc=")[1:-1] in (folder / "executed.json").read_text()
    assert (folder / "site" / stored.parent.name / f"{stored.stem}.html").exists()


def test_it_writes_a_valid_file_to_publish(folder: Path) -> None:
    (shared,) = (folder / "shared").glob("*/*.json")
    assert not [one for one in validate_file(shared) if one.severity == "error"]


def test_it_is_stored_without_results_of_its_own() -> None:
    cells = json.loads((ROOT / "docs" / "rented-gpu.ipynb").read_text("utf-8"))["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
