# SPDX-License-Identifier: MIT
"""What is measured, in which order: every tool in every round, in an order of the round's own."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from studies.peers.bodies import EMPTY, MAIN, MORE, WAITS
from studies.peers.tool import Measurement, Order, Tool

WAIT, REAL = "waits", "real bodies"
SIMULATED = "sim:0"
Taken = dict[tuple[str, str], list[Measurement]]
"""Measurements in their order, by tool and body."""


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much is measured.

    rounds : with real bodies
    wait_rounds, device_rounds : with waits, and on devices; the first ones
    wait_processes : of a tool whose users choose their number, for waits and on devices
    most_processes, most_uses : for real bodies, if fewer than the tool has
    budget : seconds of a run of real bodies, of a tool that takes a budget
    """

    rounds: int = 4
    wait_rounds: int = 3
    device_rounds: int = 1
    waits: tuple[str, ...] = (*WAITS, EMPTY)
    main: tuple[str, ...] = MAIN
    more: tuple[str, ...] = MORE
    wait_processes: int = 2
    most_processes: int = 20
    most_uses: int = 4
    budget: float = 50.0


FULL = Extent()
QUICK = Extent(
    rounds=1,
    wait_rounds=1,
    waits=("wait_50us", EMPTY),
    main=("python_loop",),
    more=(),
    wait_processes=1,
    most_processes=6,
    most_uses=2,
    budget=8.0,
)


@dataclass(frozen=True, kw_only=True)
class Use:
    """One use of a tool, in a study: `WAIT`, `REAL`, or a device by its name."""

    study: str
    tool: Tool
    bodies: tuple[str, ...]
    processes: int
    budget: float | None = None
    device: str = "cpu"


def uses(tools: Sequence[Tool], devices: Sequence[str], extent: Extent) -> Iterator[Use]:
    """Yield every use of every tool, the rounds one after the other."""
    for round_ in range(extent.rounds):
        found = [use for tool in tools for use in _of_round(tool, devices, extent, round_)]
        random.Random(round_).shuffle(found)  # noqa: S311 - not for secrets
        yield from found


def _of_round(tool: Tool, devices: Sequence[str], extent: Extent, round_: int) -> Iterator[Use]:
    few, ways = extent.wait_processes, tool.devices
    for device in devices if round_ < extent.device_rounds else ():
        yield Use(study=device, tool=tool, bodies=ways, processes=few, device=device)
    if round_ < extent.wait_rounds:
        yield Use(study=WAIT, tool=tool, bodies=extent.waits, processes=few)
    many = min(tool.processes, extent.most_processes)
    for place, body in enumerate(extent.main if tool.costly else ()):
        if (place + round_) % 2 == 0:
            yield Use(study=REAL, tool=tool, bodies=(body,), processes=many)
    bodies = (*extent.main, *extent.more)
    for _ in range(0 if tool.costly else min(tool.uses, extent.most_uses)):
        yield Use(study=REAL, tool=tool, bodies=bodies, processes=many, budget=extent.budget)


def carry_out(
    planned: Sequence[Use], folder: Path, tell: Callable[[str], None]
) -> tuple[dict[str, Taken], list[str]]:
    """Measure everything; return what was taken by study, and what failed.

    Parameters
    ----------
    tell
        Is given a line before each use.
    """
    begun = perf_counter()
    taken: dict[str, Taken] = defaultdict(lambda: defaultdict(list))
    failed = []
    for place, use in enumerate(planned):
        minutes, seconds = divmod(round(perf_counter() - begun), 60)
        what = f"{use.tool.name}: {use.study}"
        tell(f"[{place + 1:2}/{len(planned)}] {minutes:2}:{seconds:02}  {what}")
        order = Order(
            bodies=use.bodies,
            folder=folder / f"{place:03}",
            processes=use.processes,
            budget=use.budget,
            device=use.device,
        )
        try:
            for measurement in use.tool.measure(order):
                taken[use.study][use.tool.name, measurement.body].append(measurement)
        except RuntimeError as error:  # the others have still something to say
            tell(str(error))
            failed.append(what)
    return taken, failed
