# SPDX-License-Identifier: MIT
"""Runs that something goes wrong with, so that each costs its own page and no other.

Whatever is made of a run in a site is made through here. What fails ends the attempt to build the
site, with the runs at fault; the site is then built without them, from what is kept of the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from frobench.reports.making.cache import Source
from frobench.reports.making.workers import Workers
from frobench.suite import checks, personal_data
from frobench.suite.printable import printable
from frobench.suite.stored.store import InvalidResult
from frobench.suite.stored.types import Conclusion

J = TypeVar("J", bound="Job")
Given = TypeVar("Given")
R = TypeVar("R")
Blame = dict[str, list[Conclusion]]
"""What is wrong with runs, by the digests of their stored files."""


class Broken(NamedTuple):
    """A stored file without a page, as the index names it."""

    name: str
    reason: str
    more: str


class BrokenRunsError(Exception):
    """Something cannot be made of some runs; `blame` says of which, and why."""

    def __init__(self, blame: Blame) -> None:
        super().__init__(", ".join(blame))
        self.blame = blame


def _tried(work: Callable[[Given], R], job: Given) -> R | Conclusion:
    """Return what work makes of a job, or what goes wrong: not every exception can be sent."""
    try:
        return work(job)
    except (OSError, BrokenRunsError):  # no run is to blame for a full disk
        raise
    except InvalidResult as error:
        return checks.unreadable(error)
    except Exception as error:  # noqa: BLE001 - whatever a file brings about
        return checks.broken(error)


class Job(Protocol):
    """What is made of a run, and maybe of more than it."""

    @property
    def source(self) -> Source:
        """The run."""


@dataclass(frozen=True)
class Stage(Generic[J, R]):
    """What is made of each run, or of a job of a run, and kept by its name.

    make : a function of a module, as `stands`, which tells whether what is kept is still good
    """

    name: str
    kind: type[R]
    make: Callable[[J], R]
    stands: Callable[[J, R], bool] | None = None

    def known(self, job: J) -> R | None:
        """Return what was made before."""
        made = job.source.get(self.name, self.kind)
        return None if made is None or (self.stands and not self.stands(job, made)) else made

    def __call__(self, job: J) -> R | Conclusion:
        """Make it and keep it, or return what goes wrong, wherever a process does that."""
        made = _tried(self.make, job)
        return made if isinstance(made, Conclusion) else job.source.kept(self.name, made)


def each(workers: Workers, stage: Stage[J, R], jobs: Sequence[J]) -> list[R]:
    """Return what is made of each job, in their order, unless it is kept.

    Raises `BrokenRunsError` with the runs of the jobs that failed, after all others were done.
    """
    known = [stage.known(job) for job in jobs]
    unknown = [job for job, one in zip(jobs, known, strict=True) if one is None]
    made = iter([*workers.map(stage, unknown)])
    found = [next(made) if one is None else one for one in known]
    both = zip(jobs, found, strict=True)
    blame = {job.source.sha256: [one] for job, one in both if isinstance(one, Conclusion)}
    if blame:
        raise BrokenRunsError(blame)
    return [one for one in found if not isinstance(one, Conclusion)]


def of_several(make: Callable[[], R], runs: Sequence[str], alone: Callable[[str], object]) -> R:
    """Return what is made of several runs, given by their digests, the oldest first.

    alone : does to one run, or to a run and itself, what is done to all

    Raises `BrokenRunsError` if it cannot be made. To blame are the runs that `alone` fails for; if
    it fails for none, the newest is.
    """
    made = _tried(lambda _: make(), None)
    if not isinstance(made, Conclusion):
        return made
    each_alone = {sha256: _tried(alone, sha256) for sha256 in runs}
    failed = {name: [why] for name, why in each_alone.items() if isinstance(why, Conclusion)}
    raise BrokenRunsError(failed or {runs[-1]: [made]})


def named(name: str, conclusions: Sequence[Conclusion]) -> Broken:
    """Return how the index names a file, by the first thing that is wrong with it."""
    first = conclusions[0]
    more = f", and {len(conclusions) - 1} more" if len(conclusions) > 1 else ""
    fault = personal_data.hide(printable(f"{first.code}: {first.message}"))
    return Broken(personal_data.hide(printable(name)), fault, more)
