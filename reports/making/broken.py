# SPDX-License-Identifier: MIT
"""Runs that something goes wrong with, so that each costs its own page and no other.

Whatever is made of a run in a site is made through here. What fails ends the attempt to build the
site, with the runs at fault; the site is then built without them, from what is kept of the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct

from frobench.reports.making.workers import Workers
from frobench.suite import checks, privacy
from frobench.suite.printable import printable
from frobench.suite.stored.store import InvalidResult
from frobench.suite.stored.types import Conclusion

J = TypeVar("J")
R = TypeVar("R")
Blame = dict[str, list[Conclusion]]
"""What is wrong with runs, by the digests of their stored files."""
LONGEST = 200
"""Characters of a reason or of a file's name on the index."""


class Broken(NamedTuple):
    """A stored file without a page, as the index names it."""

    name: str
    reason: str


class BrokenRunsError(Exception):
    """Something cannot be made of some runs; `blame` says of which, and why."""

    def __init__(self, blame: Blame) -> None:
        super().__init__(", ".join(blame))
        self.blame = blame


class _Failed(Struct):
    """What a worker returns in place of a result; not every exception can be sent."""

    conclusion: Conclusion


@dataclass(frozen=True)
class _Guarded(Generic[J, R]):
    """Work that returns what goes wrong, wherever a process does it."""

    work: Callable[[J], R]

    def __call__(self, job: J) -> R | _Failed:
        try:
            return self.work(job)
        except (OSError, BrokenRunsError):  # no run is to blame for a full disk
            raise
        except InvalidResult as error:
            return _Failed(checks.unreadable(error))
        except Exception as error:  # noqa: BLE001 - whatever a file brings about
            return _Failed(checks.broken(error))


def each(
    workers: Workers,
    work: Callable[[J], R],
    jobs: Sequence[J],
    at_fault: Callable[[J, Conclusion], Blame],
) -> list[R]:
    """Return what becomes of each job, in their order.

    at_fault : returns the runs that are to blame for a job that fails, and why

    Raises `BrokenRunsError` if a job failed, after all others were done.
    """
    return begun(workers, work, jobs, at_fault)()


def begun(
    workers: Workers,
    work: Callable[[J], R],
    jobs: Sequence[J],
    at_fault: Callable[[J, Conclusion], Blame],
) -> Callable[[], list[R]]:
    """Let other processes begin with some jobs, and return what waits for them; see `each`."""
    pending = workers.map(_Guarded(work), jobs)

    def results() -> list[R]:
        made: list[R] = []
        blame: Blame = {}
        for job, result in zip(jobs, pending, strict=True):
            if isinstance(result, _Failed):
                blame |= at_fault(job, result.conclusion)
            else:
                made.append(result)
        if blame:
            raise BrokenRunsError(blame)
        return made

    return results


def of_several(make: Callable[[], R], runs: Sequence[str], alone: Callable[[str], object]) -> R:
    """Return what is made of several runs, given by their digests, the oldest first.

    alone : see `blamed`

    Raises `BrokenRunsError` if it cannot be made.
    """
    guarded: _Guarded[None, R] = _Guarded(lambda _: make())
    made = guarded(None)
    if isinstance(made, _Failed):
        raise BrokenRunsError(blamed(runs, alone, made.conclusion))
    return made


def blamed(runs: Sequence[str], alone: Callable[[str], object], why: Conclusion) -> Blame:
    """Return which runs are to blame for what cannot be made of several.

    runs : their digests, the oldest first
    alone : does to one run, or to a run and itself, what was done to all: to blame are those that
        it fails for. If it fails for none, the newest is
    why : what went wrong with all together
    """
    tried = {sha256: _Guarded(alone)(sha256) for sha256 in runs}
    failed = {
        name: [result.conclusion] for name, result in tried.items() if isinstance(result, _Failed)
    }
    return failed or {runs[-1]: [why]}


def named(name: str, conclusions: Sequence[Conclusion]) -> Broken:
    """Return how the index names a file, by the first thing that is wrong with it."""
    first = conclusions[0]
    more = f", and {len(conclusions) - 1} more" if len(conclusions) > 1 else ""
    fault = privacy.hide(printable(f"{first.code}: {first.message}"))
    return Broken(_short(privacy.hide(printable(name))), f"{_short(fault)}{more}")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\N{HORIZONTAL ELLIPSIS}"
