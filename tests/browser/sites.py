# SPDX-License-Identifier: MIT
"""Sites that hold every kind of page: of honest runs, of hostile ones, and of none."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from reports import site
from suite import store
from suite.model import Run, Telemetry
from tests import factory, many_machines
from tests.browser.hostile import hostile_runs
from tests.command import ROOT
from tests.good_runs import good_run
from tests.test_courses import on_gpus

HONEST: dict[str, Callable[[], Run]] = {
    "two-gpus": lambda: factory.run(seed=1, accelerators=2),
    "two-gpus-slower": lambda: factory.run(seed=2, accelerators=2, slower=1.2),
    "four-gpus-partial": lambda: _sensed(factory.run(seed=3, accelerators=4, partial=True)),
    "eight-gpus": lambda: good_run(12),
    "few-launches": lambda: factory.run(seed=4, launches=3, machine="two-cores"),
    "all-failed": lambda: _failed(factory.run(seed=5, accelerators=1)),
}
"""Runs whose pages differ in kind, beside the newest that is stored."""

MACHINES = 6
TWINS = ("honest/two-gpus-slower",)
"""Pages that are like another one, and are there to be compared with."""


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
    outcomes = [
        replace(one, status="failed", reason="RuntimeError: out of memory")
        for one in run.frobench.outcomes
    ]
    return replace(run, benchmarks=[], frobench=replace(run.frobench, outcomes=outcomes))


def build(folder: Path) -> None:
    """Write the sites `honest`, `machines`, `hostile` and `empty` of runs stored in `runs`.

    The second has machines that can be compared, for the index and the purchase page.

    The command refuses most hostile runs, so that their pages are asked of what it calls.
    """
    (folder / "runs").mkdir()
    given = [(name, _called(make(), name)) for name, make in HONEST.items()]
    honest = [newest(), *(_stored(run, folder / "runs" / f"{name}.json") for name, run in given)]
    hostile = hostile_runs(_sensed(factory.run(accelerators=2)))
    spoilt = [_stored(run, folder / "runs" / f"{name}.json") for name, run in hostile.items()]
    like = [many_machines.write_one(number, folder / "runs") for number in range(MACHINES)]
    for name, paths in {"honest": honest, "machines": like}.items():
        command = [sys.executable, "-m", "frobench", "report", *map(str, paths)]
        subprocess.run([*command, "-o", str(folder / name)], cwd=ROOT, check=True)
    site.build([newest(), *spoilt], folder / "hostile")
    site.build([], folder / "empty")


def _stored(run: Run, path: Path) -> Path:
    path.write_bytes(store.encode(run))
    return path


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
    whole = {"machines/index", "machines/purchase", f"honest/{newest().stem}"}
    twins = {*TWINS, f"hostile/{newest().stem}"}
    for path in [*sorted(folder.glob("[!m]*/**/*.html")), *sorted(folder.glob("machines/*.html"))]:
        kind, *place = path.relative_to(folder).parts
        if f"{kind}/{path.stem}" in twins:
            continue
        told = "/".join(place) if kind == "honest" or len(place) == 1 else f"run {len(found)}"
        stands = f"{kind}/{path.stem}" in whole
        found.append(Place(f"{kind}/{told}", path.as_uri(), stands, kind == "hostile"))
    return found
