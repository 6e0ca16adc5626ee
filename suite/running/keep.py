# SPDX-License-Identifier: MIT
"""Small files that are there whole or not at all, whenever the process is killed."""

from pathlib import Path


def keep(path: Path, data: bytes) -> None:
    """Put `data` into the place of whatever the file held."""
    draft = path.with_name(f"{path.name}.new")
    draft.write_bytes(data)
    draft.replace(path)
