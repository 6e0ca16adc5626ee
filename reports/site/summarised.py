# SPDX-License-Identifier: MIT
"""What a site knows of its runs before it makes a page: whether each is whole, and its summary."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from frobench.reports.charts.words import slug
from frobench.reports.making.broken import Blame, each
from frobench.reports.making.workers import FEW, Workers
from frobench.reports.site import run_files
from frobench.reports.site.run_files import Pair, Source
from frobench.reports.summary.model import Summary
from frobench.suite.compare.between_runs import MOST_RUNS
from frobench.suite.stored.types import Conclusion

Tell = Callable[[Path, list[Conclusion]], None]
"""Called with each file that is not whole, and with the reasons."""


def whole(stored: dict[str, Source], workers: Workers, leave_out: Tell) -> dict[str, Source]:
    """Leave out the files that are not whole, and return the others."""
    known = {sha256: run_files.known_faults(source) for sha256, source in stored.items()}
    unknown = [stored[sha256] for sha256, faults in known.items() if faults is None]
    faults_of_each = each(_ready(workers, unknown), run_files.faults, unknown, _itself)
    known |= zip((source.sha256 for source in unknown), faults_of_each, strict=True)
    broken = {sha256: faults for sha256, faults in known.items() if faults}
    for sha256, faults in broken.items():
        leave_out(stored[sha256].path, faults)
    return {sha256: source for sha256, source in stored.items() if sha256 not in broken}


def _ready(workers: Workers, jobs: Sequence[Source]) -> Workers:
    """Return the processes for some jobs: for a few, this one alone, while others still import."""
    return workers if len(jobs) >= FEW else Workers(1)


def _itself(source: Source, why: Conclusion) -> Blame:
    return {source.sha256: [why]}


def summaries_of(stored: dict[str, Source], workers: Workers) -> list[Summary]:
    """Return what is known of the runs, oldest first, each with the address of its page."""
    known = {sha256: run_files.summary(source) for sha256, source in stored.items()}
    unknown = [stored[sha256] for sha256, summary in known.items() if summary is None]
    made = each(_ready(workers, unknown), run_files.summarised, unknown, _itself)
    summaries = [*filter(None, known.values()), *made]
    return _addressed(sorted(summaries, key=_age))


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


def _age(summary: Summary) -> tuple[str, ...]:
    """Return a key that sorts the oldest first."""
    return summary.datetime, summary.run, summary.sha256


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
    changes = {sha256: run_files.known_change(pair) for sha256, pair in pairs.items()}
    unknown = [pairs[sha256] for sha256, known in changes.items() if known is None]
    changed = each(workers, run_files.changed, unknown, run_files.to_blame)
    changes |= zip((pair.new.sha256 for pair in unknown), changed, strict=True)
    return [replace(summary, change=changes.get(summary.sha256)) for summary in summaries]
