# SPDX-License-Identifier: MIT
"""A project and its commits in words."""

from suite.stored.run import Project

SHOWN = 12
"""Characters of a revision that people are shown."""


def describe(project: Project) -> str:
    """Return a project's name with its commit, for people."""
    changes = ", with uncommitted changes" if project.dirty else ""
    return f"{project.name or 'a project'} at {(project.id or 'no commit')[:SHOWN]}{changes}"
