# SPDX-License-Identifier: MIT
"""The label of a machine: it tells machines of one kind apart, and names none of them.

A label is a digest of the machine's name, made with a key that is only in the folder of the
results. Without the key nobody can find out a name by trying likely ones.
"""

import hashlib
import secrets
from contextlib import suppress
from pathlib import Path

from frobench.suite.files import create
from frobench.suite.stored.basics import LABEL_DIGITS

KEY = ".label-key"
"""The file of the key, in a folder of results; its name begins with a dot, so git ignores it."""
KEY_BYTES = 32


def label_of(name: str, results: Path) -> str:
    """Return the label of a machine in all runs of a folder; raises `OSError` as `key` may."""
    digest = hashlib.blake2b(name.encode(), key=key(results), digest_size=KEY_BYTES)
    return digest.hexdigest()[:LABEL_DIGITS]


def key(results: Path) -> bytes:
    """Return the key of a folder of results, made by whichever process comes first."""
    path = results / KEY
    if not path.exists():
        results.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):  # another process was faster
            create(path, secrets.token_bytes(KEY_BYTES))
    return path.read_bytes()[:KEY_BYTES]
