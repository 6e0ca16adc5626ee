# SPDX-License-Identifier: MIT
"""A fleet: what is asked for, settled, and given to every node of a Ray cluster."""

from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from suite.checkout import CHECKOUT, MEASURING
from suite.fleet.bridge import Bridge
from suite.fleet.gathered import Gathered, Outcome
from suite.fleet.messages import Asked
from suite.fleet.on_node import digest
from suite.fleet.schedule import Limits, Schedule, Tell
from suite.profiles import settings_for
from suite.run.label import KEY, key, seal
from suite.run.lock import LOCK, VARIABLE
from suite.stored.run import ProfileName

BEATS = 6
"""Signs of life that a node gives in the time in which one is expected."""
FACTOR, EXTRA_SECONDS = 3.0, 600.0
"""What a node may take: so many times the budget of its run, and so much longer."""


class FleetRequest(Struct, frozen=True, kw_only=True):
    """What the user asked for.

    address : of the Ray cluster
    benchmarks : a folder that lies on every node, or none for each node's own
    deadline : seconds for the run of a node; by default what its budget makes plausible
    patience : see `suite.fleet.schedule.Limits`
    """

    results: Path
    address: str = "auto"
    profile: ProfileName = "standard"
    expression: str = ""
    benchmarks: Path | None = None
    budget: float | None = None
    launches: int | None = None
    deadline: float | None = None
    patience: float = 120.0


def measure(request: FleetRequest, tell: Tell) -> Outcome:
    """Measure every node of a cluster, and return what became of each.

    Raises `CannotRunError` if Ray is not installed, or there is no cluster or no node.
    """
    request.results.mkdir(parents=True, exist_ok=True)
    with Bridge(request.address) as cluster:
        wanted, limits = asked(request), Limits(request.patience)
        gathered = Gathered(request.results, wanted.fleet, lambda name: seal(name, request.results))
        return Schedule(cluster, wanted, gathered, limits, tell).run()


def asked(request: FleetRequest) -> Asked:
    """Settle what every node is asked to do."""
    budget = settings_for(request.profile, [], budget=request.budget).budget
    options = ["--profile", request.profile]
    given = {"-k": request.expression, "--budget": request.budget, "--launches": request.launches}
    for option, value in given.items():
        if value:
            options += [option, str(value)]
    return Asked(
        fleet=f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}",
        options=options,
        benchmarks=str(request.benchmarks) if request.benchmarks else None,
        code=digest(CHECKOUT, MEASURING),
        sources=list(MEASURING),
        deadline=request.deadline or FACTOR * budget + EXTRA_SECONDS,
        beat=request.patience / BEATS,
        lock=str(LOCK),
        lock_variable=VARIABLE,
        key=key(request.results).hex(),
        key_file=KEY,
    )
