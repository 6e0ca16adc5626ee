# SPDX-License-Identifier: MIT
"""Rules about what a stored file must never say: who measured, and on which host of all."""

from collections.abc import Iterator

from frobench.suite.checks.rule import Fault
from frobench.suite.personal_data import disclosures
from frobench.suite.stored.types import Run, Severity

SEVERITY: Severity = "error"

COMMON_BRANCHES = (None, "HEAD", "main", "master")


def personal_data(run: Run) -> Iterator[Fault]:
    """A text has a path, an address, an account, or the UUID of a device.

    Such things are never stored. `frobench share` writes the file without them; report how they
    came into it.
    """
    # What was found is not repeated: conclusions are stored too.
    yield from map(Fault, disclosures(run))


def branch_name(run: Run) -> Iterator[Fault]:
    """A branch's own name is stored, which is often called after who works on it.

    `frobench share` writes the file without it.
    """
    if run.commit_info.branch not in COMMON_BRANCHES:
        yield Fault("$.commit_info.branch is a branch of somebody's own")


def host_name(run: Run) -> Iterator[Fault]:
    """The host's name is stored where pytest-benchmark writes it.

    Replace ``machine_info.node`` by the name of the kind of machine.
    """
    if run.machine_info.get("node") not in (None, "", run.frobench.environment.machine):
        yield Fault("machine_info.node is not the kind of machine")
