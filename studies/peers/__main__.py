# SPDX-License-Identifier: MIT
"""The command: measure, conclude, show, write."""

import argparse
import platform
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import msgspec
import torch

from frobench.suite.errors import CannotRunError
from frobench.suite.machine import environment
from frobench.suite.run.lock import machine_lock
from studies.peers import page, studies
from studies.peers.adapters import tools
from studies.peers.alarms import alarms
from studies.peers.effort import effort
from studies.peers.figures import Effort, Figures, ToolFigures
from studies.peers.goals import goals
from studies.peers.plan import FULL, QUICK, REAL, SIMULATED, WAIT, Extent, Taken, carry_out, uses
from studies.peers.tool import ROOT, Tool

PAGE, FIGURES = ROOT / "docs" / "peers.md", ROOT / "docs" / "peers.json"


def main() -> None:
    """Compare Frobench with its peers on this machine."""
    parser = argparse.ArgumentParser(prog="python -m studies.peers", description=main.__doc__)
    parser.add_argument("--quick", action="store_true", help="a little of everything, unwritten")
    quick = parser.parse_args().quick
    try:
        figures = compare(QUICK if quick else FULL)
    except CannotRunError as error:  # the machine measures already
        sys.exit(str(error))
    for name, table in page.TABLES.items():
        say(f"\n{name}\n{table(figures)}")
    if not quick:
        FIGURES.write_bytes(msgspec.json.format(msgspec.json.encode(figures)) + b"\n")
        PAGE.write_text(page.fill(PAGE.read_text(encoding="utf-8"), figures), encoding="utf-8")
        say(f"\nwritten to {PAGE.relative_to(ROOT)} and {FIGURES.relative_to(ROOT)}")


def compare(extent: Extent) -> Figures:
    """Measure with every tool, and conclude."""
    begun, date = perf_counter(), datetime.now(UTC).date()
    every = tools()
    devices = [SIMULATED, *(["cuda:0"] if torch.cuda.is_available() else [])]
    with tempfile.TemporaryDirectory() as folder, machine_lock():
        taken, failed = carry_out(list(uses(every, devices, extent)), Path(folder), say)
    waits, empty = studies.waits(every, taken[WAIT]), studies.empty(every, taken[WAIT])
    on_devices = [
        row for device in devices for row in studies.on_devices(every, device, taken[device])
    ]
    efforts = _efforts(every, taken[REAL], extent)
    found = alarms(every, taken[REAL])
    return Figures(
        date=date.isoformat(),
        machine=environment.capture(["cpu", *devices[1:]]).machine,
        python=platform.python_version(),
        seconds=perf_counter() - begun,
        together=len(extent.main) + len(extent.more),
        tools=[_tool(tool) for tool in every],
        waits=waits,
        devices=on_devices,
        empty=empty,
        efforts=efforts,
        alarms=found,
        goals=goals(waits, empty, efforts),
        failed=failed,
    )


def _efforts(every: Sequence[Tool], taken: Taken, extent: Extent) -> list[Effort]:
    return [
        effort(tool.name, tool.rules, taken[tool.name, body])
        for body in extent.main
        for tool in every
        if (tool.name, body) in taken
    ]


def _tool(tool: Tool) -> ToolFigures:
    return ToolFigures(
        name=tool.name,
        version=version(tool.distribution),
        usage=tool.usage,
        interval_rule=tool.rules.interval_rule,
        alarm_rule=tool.rules.alarm_rule,
    )


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    main()
