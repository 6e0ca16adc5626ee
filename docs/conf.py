# SPDX-License-Identifier: MIT
"""How Sphinx makes a site of these documents; `nox -s docs` calls it."""

import re
from inspect import isclass
from pathlib import Path
from typing import Any

import frobench

project = "Frobench"
project_copyright = "the Frobench authors"
version = release = frobench.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"Frobench {version}"
html_show_sphinx = False
myst_heading_anchors = 4
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # of csv and jsonc, which editors know
autodoc_typehints = "none"

ROOT = Path(__file__).parents[1]
ABOVE = {"index": "README.md", "contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
"""Pages of this site that begin with a document of the folder above."""


def setup(app: Any) -> None:  # noqa: ANN401 - Sphinx's own
    """Let Sphinx read those documents."""
    app.connect("source-read", _from_above)
    app.connect("source-read", _public_names)
    app.connect("autodoc-process-docstring", _fields)


def _from_above(_app: object, page: str, source: list[str]) -> None:
    """Put a document before the page's own text, its links as they lead from here."""
    if page in ABOVE:
        text = (ROOT / ABOVE[page]).read_text(encoding="utf-8")
        text = re.sub(r"\]\((?!https?:|#)", "](../", text).replace("](../docs/", "](")
        for name, document in ABOVE.items():
            text = text.replace(f"](../{document}", f"]({name}.md")
        source[0] = f"{text}\n{source[0]}"


def _public_names(_app: object, page: str, source: list[str]) -> None:
    """Let the reference describe every public name by its docstring."""
    if page == "reference":
        for name in sorted(frobench.__all__, key=str.lower):
            directive = f".. autofunction:: frobench.{name}"
            if isclass(getattr(frobench, name)):
                directive = f".. autoclass:: frobench.{name}\n   :members:"
                if name == "Measure":  # its call is what a benchmark needs
                    directive += "\n   :special-members: __call__"
            source[0] += f"\n```{{eval-rst}}\n{directive}\n```\n"


def _fields(*event: Any) -> None:  # noqa: ANN401 - as Sphinx calls it
    """Make a list of a docstring's lines `name : text`; `code` is in single backticks there."""
    lines: list[str] = event[-1]
    for number, line in enumerate(lines):
        spelled = re.sub("(?<!`)`([^`]+)`(?!`)", r"``\1``", line)
        lines[number] = re.sub(r"^(\w[\w, ]*) : ", r"* ``\1``: ", spelled)
