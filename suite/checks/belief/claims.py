# SPDX-License-Identifier: MIT
"""Rules about what cases and runs claim: work, parameters, checks, settings, date and machine."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from frobench.suite.checks import sources
from frobench.suite.checks.ceilings import path, precision
from frobench.suite.checks.facts import beginnings, moment, run_began
from frobench.suite.checks.rule import Fault
from frobench.suite.profiles import PROFILES
from frobench.suite.stored.names import benchmark_of, machine_name
from frobench.suite.stored.run import Case, Run, Severity

SEVERITY: Severity = "error"

_REVISION = re.compile(r"[0-9a-f]{7,64}")

WIDEST_BOUND = {"float64": 0.01, "float32": 0.01, "tfloat32": 1.0, "float16": 1.0, "int8": 1.0}
WIDEST_NARROW, WIDEST_OTHER = 4.0, 100.0
"""Bounds of products by their precision, of others, and of what is no product, at most."""
NARROWER = {"tfloat32", "bfloat16", "float16", "float8_e4m3fn"}
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
"""No run is older: Frobench was begun in this year."""
DAY = timedelta(days=1)
"""How wrong a machine's clock may honestly be, and how far time zones lie apart."""


def impossible_count(run: Run) -> Iterator[Fault]:
    """Work, calls or places of a case are not what can be counted.

    Work is more than nothing, and a launch that has samples of a case has calls of it, at a place
    of its own among its cases. Take the file again from where it was made.
    """
    positions: Counter[tuple[int, int]] = Counter()
    for case in run.benchmarks:
        info = case.extra_info
        amounts = (info.work.flops, info.work.bytes, info.work.items)
        if any(amount is not None and not amount > 0 for amount in amounts):
            yield Fault("it declares work of nothing, or less", case.fullname)
        counts = zip(info.launches, info.iterations, info.order, strict=False)
        if any(count < 0 or (count > 0 and min(one) < 1) for count, *one in counts):
            yield Fault("a launch has samples without calls, or without a place", case.fullname)
        positions.update((n, place) for n, place in enumerate(info.order, start=1) if place > 0)
    for (launch, position), cases in positions.items():
        if cases > 1:
            yield Fault(f"{cases} cases have place {position} of launch {launch}")
            break


def other_work(run: Run) -> Iterator[Fault]:
    """A benchmark declares other work for the same parameters, or other bytes than it is named for.

    Work depends on neither device nor precision. A number was changed or is in the wrong unit.
    """
    first: dict[tuple[object, ...], Case] = {}
    for case in run.benchmarks:
        info = case.extra_info
        named = {k: v for k, v in case.params.items() if k not in {"device", "dtype"}}
        key = (benchmark_of(case.fullname), len(info.devices), str(named))
        other = first.setdefault(key, case).extra_info.work
        if info.search is None and not _close(info.work.flops, other.flops):
            what = f"{info.work.flops or 0:g} operations, where another device has"
            yield Fault(f"{what} {other.flops or 0:g}", case.fullname)
        for unit, amount in _declared(case).items():
            stored = getattr(info.work, unit)
            if not _close(stored, amount):
                what = f"{stored or 0:g} {unit}"
                yield Fault(f"{what}, where its benchmark declares {amount:g}", case.fullname)
        size, moved = case.params.get("size"), info.work.bytes
        copies = moved / size if moved and isinstance(size, int) and size > 0 else 1.0
        # A copy moves its bytes once or twice for every device, never a part of them.
        named_for_it = info.work.path is None and path(case) is not None
        if named_for_it and not (1 <= copies <= 2 * len(info.devices) and copies == int(copies)):
            yield Fault(f"{moved:g} bytes, where {size} are copied", case.fullname)


def impossible_check(case: Case) -> Iterator[str]:
    """An error or its bound is no number that a check gives.

    Neither is below zero, and a bound above all rounding lets every result pass. Take the file
    again from where it was made.
    """
    if (check := case.extra_info.check) is None:
        return
    narrow = WIDEST_BOUND.get(precision(case), WIDEST_NARROW)
    widest = WIDEST_OTHER if check.precision is None else narrow
    if not (0 <= check.error < math.inf and 0 <= check.bound <= widest):
        yield f"error {check.error:.3g}, bound {check.bound:.3g}"


def other_precision(case: Case) -> Iterator[str]:
    """A case that names float32 passed, although its result has the error of a narrower type.

    Its speed is that of the narrower type: TF32 passes for float32. Measure again, with
    `torch.set_float32_matmul_precision("highest")`, or name what was measured.
    """
    check = case.extra_info.check
    if check and precision(case) == "float32" and check.precision in NARROWER:
        yield f"computed in {check.precision} where float32 was asked"


def other_settings(run: Run) -> Iterator[Fault]:
    """The run says twice what it was told to do, and not the same.

    One of them was changed. Take the file again from where it was made.
    """
    settings, whole = run.frobench.settings, run.frobench
    stated, longest = settings.longest_sample, PROFILES[settings.profile].longest_sample
    if stated != longest:
        yield Fault(f"a call may take {stated:g} s, in a {settings.profile} run {longest:g} s")
    if settings.profile != whole.profile:
        yield Fault(f"a {whole.profile} run with the settings of a {settings.profile} one")
    if whole.complete and settings.launches and len(whole.launches) < settings.launches:
        claim = f"{settings.launches} launches were asked for"
        yield Fault(f"{claim}, there are {len(whole.launches)}, and it counts as complete")


def impossible_date(run: Run) -> Iterator[Fault]:
    """A run's date is none, older than Frobench, in the future, or not that of its name.

    Set the clock of the machine that measured, or of the one that reads. Else the date was changed:
    take the file again from where it was made.
    """
    dated, named, now = moment(run.datetime), run_began(run), datetime.now(UTC)
    if dated is None:
        yield Fault(f"{run.datetime[:40]!r} is no date")
        return
    if not FIRST - DAY <= dated <= now + DAY:
        yield Fault(f"it is dated {dated.date()}, today is {now.date()}")
        return
    took = timedelta(seconds=min(max(run.frobench.seconds, 0.0), DAY.total_seconds()))
    if named and not -DAY <= dated - named <= DAY + took:
        yield Fault(f"it is dated {dated.date()}, and named for {named.date()}")
    launches = beginnings(run)
    if launches and launches[0].started < dated - DAY - took:
        yield Fault(f"it is dated {dated.date()}, and began {launches[0].started.date()}")


def impossible_commit(run: Run) -> Iterator[Fault]:
    """The revision that a run names is none that git gives.

    It was changed. Take the file again from where it was made.
    """
    project = run.frobench.project
    for revision in (run.commit_info.id, project.id if project else None):
        if revision is not None and not (_REVISION.fullmatch(revision) and len({*revision}) > 1):
            yield Fault(f"{revision[:40]!r} is no revision")


def other_machine(run: Run) -> Iterator[Fault]:
    """The name of a run's kind of machine is not the one that its processor and devices give.

    One of them was changed. Take the file again from where it was made.
    """
    environment = run.frobench.environment
    stored, name = environment.machine, machine_name(environment.cpu, environment.accelerators)
    if stored != name:
        yield Fault(f"it is stored for {stored[:80]!r}, and its facts are those of {name!r}")


def _declared(case: Case) -> dict[str, float]:
    """Return the work that the benchmark declares, if it is the one that was measured."""
    info, (module, _, name) = case.extra_info, benchmark_of(case.fullname).partition("::")
    source = sources.source(module)
    if source is None or sources.version(source, name) != info.version:
        return {}
    return sources.declared(source, name, case.params, len(info.devices))


def _close(first: float | None, other: float | None) -> bool:
    if first is None or other is None:
        return first is other
    return math.isclose(first, other)
