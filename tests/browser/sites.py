# SPDX-License-Identifier: MIT
"""Sites that hold every kind of page: of honest runs, of hostile ones, and of none."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from frobench.reports.purchase import purchase
from frobench.reports.purchase.prices import read
from frobench.reports.site import build as site
from frobench.suite.stored import asked_nodes, store
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.stored.types import Run, Telemetry
from tests.browser.hostile import called_as_every_object, everywhere, hostile_runs, write_prices
from tests.instruments.faults.judging import keep
from tests.instruments.processes.command import ROOT
from tests.instruments.runs import factory, made_up_fleet, many_machines
from tests.instruments.runs.good_runs import good_run
from tests.project.example import report
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
    return max((ROOT / "results").glob("*/*.json"), key=lambda path: path.name)


def _called(run: Run, name: str) -> Run:
    return replace(run, frobench=replace(run.frobench, run=name))


def _sensed(run: Run) -> Run:
    """Give a run the sensors' words on two of its devices, of which one reads less."""
    told = on_gpus().frobench.telemetry
    assert isinstance(told, Telemetry)
    run.frobench.telemetry = told
    return run


def _failed(run: Run) -> Run:
    """Let every case fail, so that the page has no number to show."""
    failed = partial(replace, status="failed", reason="RuntimeError: out of memory")
    outcomes = [*map(failed, run.frobench.outcomes)]
    return replace(run, benchmarks=[], frobench=replace(run.frobench, outcomes=outcomes))


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
    honest = _stored({name: _called(make(), name) for name, make in HONEST.items()}, runs)
    report(newest(), *honest, "-o", folder / "honest")
    machines = (many_machines.write_one(number, folder=runs) for number in range(MACHINES))
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
    labels = [made_up_fleet.label(number) for number in range(6)]
    reasons = "no sign of life for 120 s", "\N{HORIZONTAL ELLIPSIS}: No space left on device"
    lost = dict(zip(labels[4:], reasons, strict=True))
    asked = AskedNodes(fleet="20260101T120000000000Z", nodes=labels, lost=lost)
    asked_nodes.write(asked, folder / "asked")
    site.build([*_stored(nodes, runs), folder / "asked"], folder / "many-nodes")


def _small(seed: int) -> Run:
    """Return a run of few cases: where every text is hostile, each is an exercise of its own."""
    run = factory.run(seed=seed, accelerators=2)
    [first, *others] = run.frobench.environment.accelerators
    memory = seed * 64 * 2**30  # a device of its own
    run.frobench.environment.accelerators = [replace(first, memory_bytes=memory), *others]
    keep(run, lambda case: case.fullname in {one.fullname for one in run.benchmarks[::25]})
    return run


def _stored(runs: Mapping[str, Run], folder: Path) -> list[Path]:
    paths = {folder / f"{name}.json": run for name, run in runs.items()}
    for path, run in paths.items():
        path.write_bytes(store.encode(run))
    return [*paths]


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
