# SPDX-License-Identifier: MIT
"""Rules about figures too good to be taken as they are, and about devices held back.

Sensors show more devices held back: see `numbers.throttling` and `numbers.power`. `clock_set` and
`other_model` say which dates, and which datasheet, not to rely on.
"""

from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter
from statistics import median

from frobench.suite.checks.ceilings import (
    UNITS,
    CeilingOf,
    find_sheet,
    label,
    link_ceiling,
    memory_ceiling,
    peak_ceiling,
    precision,
)
from frobench.suite.checks.facts import (
    LARGEST_CORRECTION,
    LEAST_AGREEING,
    beginnings,
    by_launch,
    by_one_size,
    computed_once,
    efficiencies,
    highest_rate,
    is_accelerator,
    run_began,
    spell,
)
from frobench.suite.checks.rule import Fault
from frobench.suite.datasheets import catalog
from frobench.suite.datasheets.catalog import NotInCatalogError
from frobench.suite.stored.types import Case, Run, Severity

SEVERITY: Severity = "warning"

MORE_THAN_A_SHARE = 1.05
"""Work of each of several devices relative to a single one's, above which it is doubted."""
CAPPED = 0.99
"""A power limit relative to the usual one, below which it counts as lowered."""
LARGE, SLOWER = 2048, 1.05
"""Least n of a product whose time depends on its precision and not on its launch; and its time
in TF32 relative to float32, above which it is doubted."""
LESS_WORK, NO_LONGER = 4096, 1.1
"""Where this many times the work takes less than this multiple of the time, the wait is doubted."""


def near_peak(run: Run, case: Case) -> Iterator[str]:
    """A product is faster than the datasheet's dense peak, at the device's highest clock.

    Without a datasheet it is faster than units of the device's generation, or than the best card
    in the catalog. Cards may run above the datasheet's clock, or be another model of that name.
    Else its inputs were plain, its precision another one, or it was not waited for.
    """
    yield from _near(run, case, "flops", peak_ceiling)


def faster_than_link(run: Run, case: Case) -> Iterator[str]:
    """A copy is faster than its device's link, as the driver states it.

    A virtual machine may not tell the link that there is. Else the copy was not waited for.
    """
    yield from _near(run, case, "bytes", link_ceiling, "more than {why}")


def faster_than_memory(run: Run, case: Case) -> Iterator[str]:
    """A copy within a device is faster than its memory, or much faster than its caches usually are.

    What fits the last cache is left out of account. The memory's clock was raised, or the device
    is another model of the same name. Else the copy was not waited for.
    """
    yield from _near(run, case, "bytes", memory_ceiling)


def above_share(run: Run) -> Iterator[Fault]:
    """Several devices are a little more times as fast as one than they are many.

    The work of each is smaller and may fit its caches; or the single device was slowed, or some
    of the several were not waited for.
    """
    for case, shares in efficiencies(run, MORE_THAN_A_SHARE):
        many = len(case.extra_info.devices)
        message = f"{many} devices are {many * median(shares):.1f} times as fast as one"
        yield Fault(message, case.fullname)


def narrow_slower(run: Run) -> Iterator[Fault]:
    """A large product in TF32 is slower than the same one in float32.

    The units for it were not used, or the two were taken for each other. On some cards, which do
    both equally fast, it is no more than a little slower.
    """
    wide: dict[tuple[object, ...], Case] = {}
    for case in run.benchmarks:
        if precision(case) == "float32":  # of several alike the slowest is compared
            key = _but_precision(case)
            wide[key] = max(wide.get(key, case), case, key=lambda alike: alike.stats.median)
    for case in run.benchmarks:
        n = case.params.get("n")
        if precision(case) != "tfloat32" or not isinstance(n, int) or n < LARGE:
            continue
        other = wide.get(_but_precision(case))
        usual = {one.number: one.seconds for one in by_launch(run, other)} if other else {}
        launches = [launch for launch in by_launch(run, case) if launch.number in usual]
        ratios = [launch.seconds / usual[launch.number] for launch in launches]
        if len(ratios) >= LEAST_AGREEING and min(ratios) > SLOWER:
            yield Fault(f"it takes {median(ratios):.2f} times as long", case.fullname)


def flat_time(run: Run) -> Iterator[Fault]:
    """Of one benchmark, four thousand times the work takes no longer.

    Its clock stopped before the work was done. See that waiting for the device does wait.
    """
    for family in computed_once(by_one_size, run):
        works = [(flops, one) for one in family if (flops := one.extra_info.work.flops)]
        if not works or not is_accelerator(family[0].extra_info.device):
            continue
        (less, small), (more, case) = (end(works, key=itemgetter(0)) for end in (min, max))
        quick, long = median(small.stats.data), median(case.stats.data)
        ceiling = peak_ceiling(run, case)
        least = (more - less) / ceiling.most if ceiling else 0.0
        # Where launching or waiting is dear, a fast device does much work in no more time.
        growth = NO_LONGER * quick
        if more >= LESS_WORK * less and long < growth and least > growth - quick:
            message = f"{more / less:,.0f} times the work takes {long / quick:.2f} times as long"
            yield Fault(message, case.fullname)


def capped_power(run: Run) -> Iterator[Fault]:
    """A device's power limit is below its usual one.

    Its figures are those of a device held back. Say so beside them, or raise the limit: by
    `amd-smi reset -g all --power-cap`, or by `nvidia-smi -pl` with the default in watts, which a
    laptop refuses.
    """
    for device in run.frobench.environment.accelerators:
        limit, usual = device.power_limit_watts, device.power_limit_default_watts
        whose = "its default"
        if not usual and (printed := find_sheet(device)) and "power_limit" in printed.figures:
            usual, whose = printed.figures["power_limit"].value, "that of its datasheet"
        if limit and usual and limit < CAPPED * usual:
            claim = f"{label(device)} may draw {limit:.0f} W"
            yield Fault(f"{claim}, {limit / usual:.0%} of {whose}")


def clock_set(run: Run) -> Iterator[Fault]:
    """The system's clock was set back while the run was measured.

    Nothing was measured by it, and nothing is wrong but the times of day at which launches began.
    """
    named = run_began(run)
    times = [(named, 0.0)] if named else []
    times += [(one.started, one.begun) for one in beginnings(run) if one.begun is not None]
    for (before, begun), (started, at) in pairwise(times):
        if (back := at - begun - (started - before).total_seconds()) > LARGEST_CORRECTION:
            yield Fault(f"it was set back by {spell(back, 's')}")


def other_model(run: Run) -> Iterator[Fault]:
    """A device has the name of one in the catalog, and not its memory or multiprocessors.

    It is another model of that name, or a part of one, so that its datasheet says nothing of it.
    Its rate is compared with what its multiprocessors can do by its generation.
    """
    for device in run.frobench.environment.accelerators:
        try:
            catalog.sheet(device)
        except NotInCatalogError as why:
            if "memory" in str(why):
                yield Fault(f"{label(device)}: {why}")


def _near(
    run: Run, case: Case, work: str, ceiling_of: CeilingOf, limit: str = "where {why} {likely}"
) -> Iterator[str]:
    """Compare the highest rate with what is likely; `rates` names what is impossible."""
    rate = highest_rate(case, work)
    if rate and (ceiling := ceiling_of(run, case)) and ceiling.likely < rate <= ceiling.most:
        likely = limit.format(why=ceiling.why, likely=spell(ceiling.likely, UNITS[work]))
        yield f"{spell(rate, UNITS[work])}, {likely}"


def _but_precision(case: Case) -> tuple[object, ...]:
    """Return what a product is but for its precision; its benchmark may be another."""
    params = {name: value for name, value in case.params.items() if name != "dtype"}
    return case.group, str(params), case.extra_info.work.flops
