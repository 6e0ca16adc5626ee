# SPDX-License-Identifier: MIT
"""What people call a case, whose full name is its file's path and pytest's name for it."""


def short_name(fullname: str) -> str:
    """Return a case's name without its file."""
    return fullname.rpartition("::")[2]


def name_of(fullname: str) -> str:
    """Return a case's name without its file and the word ``bench``."""
    return short_name(fullname).removeprefix("bench_")
