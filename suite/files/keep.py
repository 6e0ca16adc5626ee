# SPDX-License-Identifier: MIT
"""Small files that are there whole or not at all, whenever the process is killed."""

import os
from contextlib import suppress
from pathlib import Path


def keep(path: Path, data: bytes) -> None:
    """Put `data` into the place of whatever the file held."""
    draft = path.with_name(f"{path.name}.new")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
