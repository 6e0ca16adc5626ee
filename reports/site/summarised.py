# SPDX-License-Identifier: MIT
"""What a site knows of its runs before it makes a page: whether each is whole, and its summary."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from pathlib import Path

from msgspec.structs import replace

from frobench.reports.charts.words import slug
from frobench.reports.making.broken import each
from frobench.reports.making.cache import Source
from frobench.reports.making.workers import FEW, Workers
from frobench.reports.site import run_files
from frobench.reports.site.run_files import Pair
from frobench.reports.summary.model import Summary
from frobench.suite.compare.between_runs import MOST_RUNS
from frobench.suite.stored.types import Conclusion

Tell = Callable[[Path, list[Conclusion]], None]
"""Called with each file that is not whole, and with the reasons."""


def whole(stored: dict[str, Source], workers: Workers, leave_out: Tell) -> dict[str, Source]:
    """Leave out the files that are not whole, and return the others."""
    every = [*stored.values()]
    faults = dict(zip(stored, each(_ready(workers, every), run_files.FAULTS, every), strict=True))
    for sha256, why in faults.items():
        if why:
            leave_out(stored[sha256].path, why)
    return {sha256: source for sha256, source in stored.items() if not faults[sha256]}


def _ready(workers: Workers, jobs: Sequence[Source]) -> Workers:
    """Return the processes for some jobs: for a few, this one alone, while others still import."""
    return workers if len(jobs) >= FEW else Workers(1)


def summaries_of(stored: dict[str, Source], workers: Workers) -> list[Summary]:
    """Return what is known of the runs, oldest first, each with the address of its page."""
    every = [*stored.values()]
    summaries = each(_ready(workers, every), run_files.SUMMARY, every)
    age = attrgetter("datetime", "run", "sha256")
    return _addressed(sorted(summaries, key=age))


def _addressed(oldest_first: Iterable[Summary]) -> list[Summary]:
    """Give each run the address of its page below the index: a folder a machine.

    Of two runs of one name the older has the plain one, whatever comes later.
    """
    taken: dict[str, Summary] = {}
    for summary in oldest_first:
        plain = f"{slug(summary.machine)}/{slug(summary.run)}"
        href = f"{plain}-{summary.sha256[:8]}.html" if f"{plain}.html" in taken else f"{plain}.html"
        taken[href] = replace(summary, href=href)
    return list(taken.values())


def with_changes(
    summaries: list[Summary], stored: dict[str, Source], workers: Workers
) -> list[Summary]:
    """Add how each run compares with the one before it on its machine."""
    earlier: dict[str, list[Summary]] = {}
    pairs = {}
    for summary in summaries:
        if machine := earlier.setdefault(summary.machine_id, []):
            before, *others = machine[: -2 - MOST_RUNS : -1]
            pairs[summary.sha256] = Pair(
                stored[before.sha256],
                before.href,
                stored[summary.sha256],
                tuple(stored[other.sha256] for other in others),
            )
        machine.append(summary)
    changes = each(workers, run_files.CHANGE, [*pairs.values()])
    by_run = dict(zip(pairs, changes, strict=True))
    return [replace(summary, change=by_run.get(summary.sha256)) for summary in summaries]
