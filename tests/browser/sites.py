# SPDX-License-Identifier: MIT
"""Sites that hold every kind of page: of honest runs, of hostile ones, and of none."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from frobench.reports.purchase import purchase
from frobench.reports.purchase.prices import read
from frobench.reports.site import build as site
from frobench.suite.stored import asked_nodes, store
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.stored.types import Run
from tests.browser.hostile import called_as_every_object, everywhere, hostile_runs, write_prices
from tests.instruments.faults.judging import keep, put
from tests.instruments.processes.command import ROOT
from tests.instruments.processes.project_files import stored_runs
from tests.instruments.runs import factory, made_up_fleet, many_machines
from tests.instruments.runs.good_runs import good_run
from tests.reports.run.test_sensors import on_gpus

HONEST: dict[str, Callable[[], Run]] = {
    "two-gpus": lambda: factory.run(seed=1, accelerators=2),
    "two-gpus-slower": lambda: factory.run(seed=2, accelerators=2, slower=1.2),
    "four-gpus-partial": lambda: _sensed(factory.run(seed=3, accelerators=4, partial=True)),
    "eight-gpus": lambda: good_run(18),
    "few-launches": lambda: factory.run(seed=4, launches=3),
    "all-failed": lambda: _failed(factory.run(seed=5, accelerators=1)),
}
"""Runs whose pages differ in kind, beside the newest that is stored."""

MACHINES = 6
SLOW = {1: ("matmul", 1.2), 2: ("copies", 0.8)}
"""Nodes that are unlike the others; see `tests.instruments.runs.made_up_fleet`."""
TWINS = ("honest/two-gpus-slower",)
"""Pages that are like another one, and are there to be compared with."""
HOSTILE = ("hostile", "spoilt")
"""Sites of hostile runs: valid ones, and others."""


def newest() -> Path:
    """Return the newest of the stored runs."""
    return stored_runs()[-1]


def _sensed(run: Run) -> Run:
    """Give a run the sensors' words on two of its devices, of which one reads less."""
    run.frobench.telemetry = on_gpus().frobench.telemetry
    return run


def _failed(run: Run) -> Run:
    """Let every case fail, so that the page has no number to show."""
    put(run, "benchmarks", [])
    put(run, "frobench.outcomes.*.status", "failed")
    put(run, "frobench.outcomes.*.reason", "RuntimeError: out of memory")
    return run


def build(folder: Path) -> None:
    """Write the sites `honest`, `machines`, `hostile`, `spoilt` and `empty` of runs in `runs`.

    The second has machines that can be compared, for the index and the purchase page. The command
    refuses runs in which every text is hostile: the pages of `spoilt` are asked of what it calls.
    Beside them is `many-nodes`, for the page that compares nodes.
    """
    runs = folder / "runs"
    runs.mkdir()
    prices = runs / "prices.csv"
    write_prices(prices)
    hostile = hostile_runs(_sensed(factory.run(accelerators=2)))
    honest = {name: make() for name, make in HONEST.items()}
    for name, run in honest.items():
        run.frobench.run = name
    machines = [many_machines.write_one(number, runs) for number in range(MACHINES)]
    report(newest(), *_stored(honest, runs), "-o", folder / "honest")
    report(*machines, "-o", folder / "machines")
    report(*_stored(hostile, runs), newest(), "--prices", prices, "-o", folder / "hostile")
    small = {f"everywhere-{seed}": everywhere(_sensed(_small(seed))) for seed in (1, 2)}
    called = called_as_every_object(small["everywhere-1"])
    del small["everywhere-2"].benchmarks[:called]  # has nothing under these names
    spoilt = _stored(small, runs)
    beside = purchase.Maker(spoilt, None, read(prices))
    site.build(spoilt, folder / "spoilt", beside=[beside], known=read(prices))
    site.build([], folder / "empty")
    nodes = {f"node-{n}": run for n, run in enumerate(made_up_fleet.runs(4, SLOW, accelerators=1))}
    *labels, fifth, sixth = (made_up_fleet.label(number) for number in range(6))
    full = "\N{HORIZONTAL ELLIPSIS}: No space left on device"
    lost = {fifth: "no sign of life for 120 s", sixth: full}
    asked = AskedNodes(fleet="20260101T120000000000Z", nodes=[*labels, *lost], lost=lost)
    asked_nodes.write(asked, folder / "asked")
    site.build([*_stored(nodes, runs), folder / "asked"], folder / "many-nodes")


def report(*given: str | Path) -> None:
    """Report as the command does."""
    command = [sys.executable, "-m", "frobench", "report", *map(str, given)]
    subprocess.run(command, cwd=ROOT, check=True)


def _small(seed: int) -> Run:
    """Return a run of few cases: where every text is hostile, each is an exercise of its own."""
    run = factory.run(seed=seed, accelerators=2)
    first = run.frobench.environment.accelerators[0]
    first.memory_bytes = seed * 64 * 2**30  # a device of its own
    keep(run, lambda case: case.fullname in {one.fullname for one in run.benchmarks[::25]})
    return run


def _stored(runs: Mapping[str, Run], folder: Path) -> list[Path]:
    for name, run in runs.items():
        (folder / f"{name}.json").write_bytes(store.encode(run))
    return [folder / f"{name}.json" for name in runs]


class Place(NamedTuple):
    """A page of a site.

    whole : whether it stands for its kind: the others differ in what they tell, not in how
    hostile : whether what it tells is hostile
    """

    name: str
    address: str
    whole: bool
    hostile: bool


def pages(folder: Path) -> list[Place]:
    """Return every page of the sites that is not like another one."""
    found: list[Place] = []
    met: set[Path] = set()  # folders of machines; runs in which all is hostile are alike
    whole = {"machines/index", "machines/purchase", "many-nodes/fleet", f"honest/{newest().stem}"}
    twins = {*TWINS, f"hostile/{newest().stem}"}
    roots = [*sorted(folder.glob("machines/*.html")), folder / "many-nodes" / "fleet.html"]
    for path in [*sorted(folder.glob("[!m]*/**/*.html")), *roots]:
        kind, *place = path.relative_to(folder).parts
        if f"{kind}/{path.stem}" in twins or (kind == "spoilt" and path.parent in met):
            continue
        if len(place) > 1:
            met.add(path.parent)
        told = "/".join(place) if kind == "honest" or len(place) == 1 else f"run {len(found)}"
        stands = f"{kind}/{path.stem}" in whole
        found.append(Place(f"{kind}/{told}", path.as_uri(), stands, kind in HOSTILE))
    return found
