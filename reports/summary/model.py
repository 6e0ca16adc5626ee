# SPDX-License-Identifier: MIT
"""What the index and comparisons need of a run: little enough that a thousand fit in memory."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from frobench.reports.summary.device_axes import DeviceAxes, device_axes, device_name
from frobench.reports.table import facts
from frobench.reports.table.equipment import Equipment, equipment
from frobench.reports.table.launches import CaseEstimate
from frobench.reports.table.scored import Scored, left_out, scored
from frobench.suite.checks.case_facts import busy
from frobench.suite.checks.noise import noisy_case
from frobench.suite.checks.rule import code
from frobench.suite.compare.matching import by_key, faults
from frobench.suite.project import git
from frobench.suite.statistics import Medians
from frobench.suite.stored.machine_identity import device_id, distinctions, machine_id
from frobench.suite.stored.types import Environment, Run
from frobench.suite.units import counted

NOISY = code(noisy_case)


class Summary(Struct, frozen=True, kw_only=True):
    """A run, as the index and comparisons see it.

    sha256 : of the stored file
    run : its name, unique together with `machine`, unless two files have the same
    href : its page, below the folder of the index; empty until the site gave it one
    machine : name of the kind of machine, and the folder of its results
    machine_id : equal for runs of what may be one machine, which have a history together
    device_id : equal for runs of equal devices, see `suite.stored.machine_identity`
    device : see `first_device`; the name of its device, which others may share
    count : how many accelerators of that name it has; 1 for a processor
    places : what torch calls the devices that cases ran on, such as ``cuda:0``
    datetime : when the run ended, ISO 8601, as it is stored
    complete : whether every launch that was planned ended
    cases, failed, skipped : numbers of cases that have samples, that failed, that were left out
    commit : of the suite, empty where it is not known
    code : whose benchmarks were measured, and at which commit; empty for those of the suite
    faults : errors of the whole run, with any of which no number counts
    doubt : why its speed is not trusted: other programs, or most of the cases that can be compared
        are noisy; empty where it is
    scored : what scores are made of
    """

    sha256: str
    run: str
    machine: str
    machine_id: str
    device_id: str
    title: str
    device: str
    count: int
    places: tuple[str, ...]
    datetime: str
    profile: str
    complete: bool
    launches: int
    cases: int
    failed: int
    skipped: int
    commit: str
    code: str
    environment: Environment
    axes: DeviceAxes
    faults: tuple[str, ...]
    doubt: str
    scored: Scored
    href: str = ""


def first_device(run: Run) -> str:
    """Name the first accelerator of a run, or its processor with its cores."""
    accelerators = run.frobench.environment.accelerators
    return accelerators[0].name if accelerators else device_name(run, "cpu")


def device_names(runs: Sequence[Summary]) -> list[str]:
    """Name the device of each run; those that share a name are told apart by what differs."""
    words = {run.device_id: distinctions(run.environment) for run in runs}
    namesakes: dict[str, set[str]] = {}
    for run in runs:
        namesakes.setdefault(run.device, set()).add(run.device_id)

    def name(run: Summary) -> str:
        others = [words[other] for other in namesakes[run.device]]
        own = [one for one in words[run.device_id] if any(one not in other for other in others)]
        return ", ".join([run.device, *own])

    return [name(run) for run in runs]


def equipment_of(run: Summary) -> Equipment:
    """Return the devices of a run that have a price: those that cases ran on, or all there are."""
    there = {device.place for device in run.environment.accelerators}
    return equipment(run.environment, run.places or there)


def summarise(run: Run, sha256: str, estimated: Sequence[CaseEstimate]) -> Summary:
    """Return what is known of a run by itself; its page's address comes later.

    sha256 : of the stored file
    estimated : the estimates of its cases (`reports.table.launches.estimates`)
    """
    part, first = run.frobench, first_device(run)
    here = part.environment
    names = [one.name for one in part.environment.accelerators]
    medians = {one.case: one.medians for one in estimated}
    status = Counter(outcome.status for outcome in part.outcomes)
    return Summary(
        sha256=sha256,
        run=part.run,
        machine=part.environment.machine,
        machine_id=machine_id(here.cpu, here.accelerators, here.label),
        device_id=device_id(here),
        title=facts.machine_title(run),
        device=first,
        count=max(1, names.count(first)),
        places=tuple(sorted({place for one in estimated for place in one.device.split("+")})),
        datetime=run.datetime,
        profile=part.profile,
        complete=part.complete,
        launches=len(part.launches),
        cases=len(run.benchmarks),
        failed=status["failed"],
        skipped=status["skipped"],
        commit=run.commit_info.id or "",
        code=git.describe(part.project) if part.project else "",
        environment=part.environment,
        axes=device_axes(run),
        faults=tuple(faults(run, "")),
        doubt=busy(run) or _noise(run, medians),
        scored=scored(run, medians),
    )


def _noise(run: Run, medians: Medians) -> str:
    """Say how many of the cases that can be compared are noisy, if most are."""
    noisy = {one.case for one in run.frobench.conclusions if one.code == NOISY}
    first = {case.fullname for case in by_key(run).values()} & medians.keys()
    comparable = first - left_out(run, {name: medians[name] for name in first}).keys()
    count = len(comparable & noisy)
    few = count <= len(comparable) / 2
    return "" if few else f"{count} of {counted(len(comparable), 'case')} noisy"
