# SPDX-License-Identifier: MIT
"""Which cases a pilot loses when something disturbs it, over the cases of a stored run.

Each case takes the seconds that the rates of a made-up processor give its declared work. The pilot
is the real one, on a clock that the calls and their disturbances advance.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from frobench.suite.kit.cases import Parameters
from frobench.suite.profiles import settings_for
from frobench.suite.stored import store
from frobench.suite.stored.machine_identity import benchmark_of
from frobench.suite.stored.types import ProfileName, Settings, Work
from frobench.suite.units import counted
from studies.calibration.figures import Figure, Table, errors
from studies.calibration.work import Spread, Tell
from tests.instruments.devices.piloted import Delay, Disturb, MadeUp, Pilot
from tests.instruments.processes.command import ROOT

PROFILES: tuple[ProfileName, ...] = ("quick", "standard", "rigorous")
SLICE = 4e-3
"""Seconds that a processor is given away for; shorter calls are seldom interrupted."""
STALLED, SHORTEST, TAIL, LONGEST = 0.05, 5e-3, 0.7, 30.0
"""The share of calls that stall; seconds of the least stall; the exponent of Pareto's law for
longer ones; and seconds of the longest."""
NEAR = 2.0
"""Cases within this factor of a limit may be lost."""
MOST_LOST, MOST_LOST_OF_ALL = 0.01, 0.05


class Worked(NamedTuple):
    """A case, and its work."""

    function: str
    parameters: Parameters
    work: Work


class Cell(NamedTuple):
    """A profile and its cases with a disturbance, and how many pilots are made so."""

    profile: ProfileName
    cases: list[Worked]
    disturbance: str
    pilots: int


class Differing(NamedTuple):
    """On how many cases, of how many, calm and disturbed pilots differ.

    far, of_far : the same of those that are not near a limit
    """

    every: int
    of_every: int
    far: int
    of_far: int


def stalls(rng: random.Random, _seconds: float) -> Delay:
    """Let some calls stall, a few of them for long: another machine's share, or a slow disk."""
    if rng.random() >= STALLED:
        return Delay()
    return Delay(stalled=min(LONGEST, SHORTEST * rng.paretovariate(TAIL)))


def load(times: float, rng: random.Random, seconds: float, *, told: bool) -> Delay:
    """Let others have the processor by turns, so that long calls take so many times as long.

    told : whether the system accounts for it
    """
    turns = int(seconds / SLICE) + (rng.random() < seconds % SLICE / SLICE)
    lost = (times - 1.0) * SLICE * turns
    return Delay(waited=lost) if told else Delay(stalled=lost)


DISTURBANCES: dict[str, Callable[[random.Random, float], Delay]] = {
    "stalls": stalls,
    "others take half of the processor": partial(load, 2.0, told=True),
    "others take two thirds of it": partial(load, 3.0, told=True),
    "half of it, not accounted for": partial(load, 2.0, told=False),
}


def study(tell: Tell, spread: Spread, pilots: int) -> list[Table]:
    """Make so many pilots of each profile with each disturbance; return where they differ."""
    of_profile = {profile: suite_cases(profile) for profile in PROFILES}
    cells = [
        Cell(profile, cases, disturbance, pilots)
        for profile, cases in of_profile.items()
        for disturbance in DISTURBANCES
    ]
    figures: list[Figure] = []
    for done, (cell, found) in enumerate(zip(cells, spread(differing, cells), strict=True), 1):
        figures += shares(cell, found)
        tell(done / len(cells), f"{cell.disturbance}, {cell.profile}")
    return [
        Table(
            title="Cases that a disturbed pilot leaves out and a calm one measures, or the other "
            f"way round, in {counted(pilots, 'simulated pilot')} a cell, each on another processor",
            rows="",
            figures=figures,
            note="Near a limit are calls within a factor of 2 of what the profile allows.",
        )
    ]


def suite_cases(profile: ProfileName) -> list[Worked]:
    """Return the cases of the newest stored run on a CPU that declare their work.

    Those of the `quick` profile lead its answers; of the `rigorous` one it has no more than these.
    """
    run = store.read(max((ROOT / "results").rglob("*.json"), key=lambda path: path.name))
    return [
        Worked(benchmark_of(case.fullname), case.params, case.extra_info.work)
        for case in run.benchmarks
        if case.extra_info.work != Work()
        if profile != "quick" or case.extra_info.headline
    ]


def differing(cell: Cell) -> Differing:
    """Make the pilots of a cell, each calm and disturbed."""
    settings = settings_for(cell.profile, ["cpu"])
    counts = Counter[str]()
    for seed in range(cell.pilots):
        rng = random.Random(f"{cell.profile} {cell.disturbance} {seed}")  # noqa: S311 - no secret
        cases = on_a_processor(cell.cases, rng)
        calm = left_out(cases, settings, lambda _: Delay())
        disturbed = left_out(cases, settings, partial(DISTURBANCES[cell.disturbance], rng))
        far = {at for at, case in enumerate(cases) if is_far(case.seconds, settings)}
        counts.update(every=len(calm ^ disturbed), of_every=len(cases))
        counts.update(far=len((calm ^ disturbed) & far), of_far=len(far))
    return Differing(**counts)


def on_a_processor(cases: Sequence[Worked], rng: random.Random) -> list[MadeUp]:
    """Return the cases with the seconds that a processor takes whose rates are drawn at random."""
    call, item = 10 ** rng.uniform(-6, -4.5), 10 ** rng.uniform(-6, -5)
    flops, moved = 10 ** rng.uniform(9.5, 12.5), 10 ** rng.uniform(9.5, 11.5)
    emulated = 10 ** rng.uniform(0, 3)
    found = []
    for case in cases:
        work, narrow = case.work, case.parameters.get("dtype", "float32") != "float32"
        rate = flops / emulated if narrow else flops
        seconds = call + max((work.flops or 0) / rate, (work.bytes or 0) / moved)
        if not work.flops and not work.bytes:
            seconds += item * (work.items or 0)
        found.append(MadeUp(case.function, case.parameters, work, seconds))
    return found


def left_out(cases: Sequence[MadeUp], settings: Settings, disturb: Disturb) -> set[int]:
    """Return the places of the cases that a pilot leaves out."""
    pilot = Pilot(settings, disturb, keeps_accounts=True)
    pilot.explore(cases)
    return {*pilot.left_out}


def is_far(seconds: float, settings: Settings) -> bool:
    """Tell whether a call is not within a factor of what it may take."""
    return not 1 / NEAR <= seconds / settings.longest_sample <= NEAR


def shares(cell: Cell, found: Differing) -> list[Figure]:
    """Return the shares of one cell."""
    row, profile = cell.disturbance, cell.profile
    return [
        errors(row, f"{profile}, not near a limit", found.far, found.of_far, MOST_LOST),
        errors(row, f"{profile}, all", found.every, found.of_every, MOST_LOST_OF_ALL),
    ]
