# SPDX-License-Identifier: MIT
"""The commits of a range, along the first parents."""

from pathlib import Path

from msgspec import Struct

from suite.errors import CannotRunError
from suite.project import git

SHORT = 9
"""Characters of a revision that people are shown and can type."""


class Commit(Struct, frozen=True):
    """A commit.

    parents : how many it has; a merge has several
    """

    id: str
    subject: str
    parents: int

    @property
    def short(self) -> str:
        """The beginning of its revision."""
        return self.id[:SHORT]


def commits_of(tree: Path, text: str) -> list[Commit]:
    """Return the commits of a range such as ``v1.0..main``, the oldest first.

    Before them stands the one that the range begins after. Of a merge, the first parent's side is
    followed, so that what it brings counts as one change.

    Raises `CannotRunError` if git does not know the range, or nothing is in it.
    """
    if ".." not in text or "..." in text or text.startswith("-"):
        raise CannotRunError(f"--range {text}: give two revisions, such as v1.0..main")
    listed = _listed(tree, text, "--first-parent", "--reverse", text)
    if not listed:
        raise CannotRunError(f"--range {text}: no commit is in it; are its ends exchanged?")
    if listed[0].parents == 0:
        hint = _hint(tree)
        raise CannotRunError(f"--range {text}: no commit comes before {listed[0].short}{hint}")
    return [*_listed(tree, text, "--max-count=1", f"{listed[0].id}^"), *listed]


def _listed(tree: Path, text: str, *arguments: str) -> list[Commit]:
    try:
        lines = git.do(tree, "log", "--format=%H%x1f%P%x1f%s", *arguments, "--").splitlines()
    except CannotRunError as error:
        raise CannotRunError(f"--range {text}: git says: {error}{_hint(tree)}") from error
    fields = (line.split("\x1f", 2) for line in lines)
    return [Commit(id, subject, len(parents.split())) for id, parents, subject in fields]  # noqa: A001


def _hint(tree: Path) -> str:
    """Say what makes commits known that a clone has left out, if it has."""
    if git.ask(tree, "rev-parse", "--is-shallow-repository") != "true":
        return ""
    return "; this clone is shallow: `git fetch --unshallow` fetches the other commits"
