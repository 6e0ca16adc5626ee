# SPDX-License-Identifier: MIT
"""Rules about a stored file as a whole, which a run cannot be asked before it is stored."""

from collections.abc import Iterator

from suite.checks.rule import Fault
from suite.stored import store
from suite.stored.run import Run, Severity

SEVERITY: Severity = "error"


def digest_differs(run: Run) -> Iterator[Fault]:
    """The content is not what the digest was made of.

    The file was changed after it was stored. Take it again from where it was made.
    """
    computed = store.digest(run, decoded=True)
    if computed != run.frobench.digest:
        yield Fault(f"stored {run.frobench.digest[:12] or 'none'}, computed {computed[:12]}")
