# SPDX-License-Identifier: MIT
"""What else used the machine while a run measured, and where two runs are unlike in it."""

from msgspec import UNSET

from suite.model import Run

DISTURBING = frozenset(
    {"busy-accelerator", "busy-processor", "held-back", "little-memory", "on-battery"}
)
"""Codes of `frobench doctor` for what comes and goes and moves numbers."""
HELD_BACK = frozenset({"throttled-case"})
"""Codes of checks for a case whose device did not run as it could."""


def disturbing(run: Run) -> frozenset[str] | None:
    """Return the codes of what disturbed a run as it began; ``None`` where it does not say."""
    troubles = run.frobench.troubles
    if troubles is UNSET:
        return None
    return frozenset(trouble.code for trouble in troubles) & DISTURBING


def disturbances(base: Run, new: Run) -> dict[str, str]:
    """Return by a case's full name why the runs are unlike in what disturbed them.

    Where both were disturbed alike, nothing is said.
    """
    whole = _whole(base, new)
    names = (case.fullname for case in new.benchmarks)
    if whole:
        return dict.fromkeys(names, whole)
    before, after = _held_back(base), _held_back(new)
    return {
        name: f"disturbed: throttled in {'new' if name in after else 'base'} only"
        for name in before ^ after
    }


def _whole(base: Run, new: Run) -> str | None:
    """Say what disturbed one of the runs only, if anything did."""
    before, after = disturbing(base), disturbing(new)
    if before is None or after is None or before == after:
        return None
    sides = {"base": before - after, "new": after - before}
    parts = [f"{', '.join(sorted(codes))} in {side} only" for side, codes in sides.items() if codes]
    return f"disturbed: {'; '.join(parts)}"


def _held_back(run: Run) -> set[str]:
    return {
        one.case
        for one in run.frobench.conclusions
        if one.case is not None and one.code in HELD_BACK
    }
