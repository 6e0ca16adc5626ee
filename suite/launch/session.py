# SPDX-License-Identifier: MIT
"""One pytest session over benchmarks: what it was asked, its journal, and what its cases share."""

import os
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

import pytest

from frobench.suite.journal import records
from frobench.suite.journal.spec import DEVICE_LOST, DISK_REFUSES, OPTION, LaunchSpec, read_spec
from frobench.suite.kit.device import choose
from frobench.suite.kit.group import Group
from frobench.suite.launch.case_timer import CaseTimer
from frobench.suite.launch.collection import parameters
from frobench.suite.launch.resources import Resources
from frobench.suite.launch.search import Searches
from frobench.suite.launch.surroundings import Readiness, look_around
from frobench.suite.machine.accounts import Accounts, accounts
from frobench.suite.profiles import settings_for
from frobench.suite.project.imports import foreign, foreign_code, imported


class LaunchSession:
    """One pytest session over benchmarks: a launch of a run, or a user's own.

    is_changed : whether a case has changed the process for those behind it
    """

    def __init__(self, config: pytest.Config) -> None:
        path = config.getoption(OPTION)
        self.spec = _spec_alone(config) if path is None else read_spec(path)
        self.journal = records.Journal(Path(self.spec.journal)) if self.spec.journal else None
        self.spec.settings = look_around(self.spec, self.write)
        self.searches = Searches(self.spec, self.write)
        self.resources = Resources(self.spec)
        self.cases = CaseTimer(self.spec)
        self.is_changed = False
        self._readiness: Readiness | None = None
        self._begun = 0.0
        self._before: Accounts | None = None
        self._examined = False

    def write(self, record: records.Record) -> None:
        """Append to the journal, if there is one; end the launch if the disk refuses."""
        if self.journal is None:
            return
        if os.getppid() != self.spec.runner:  # another runner may be at work on the journal
            pytest.exit("the runner is gone", returncode=DEVICE_LOST)
        try:
            self.journal.write(record)
        except OSError as error:
            pytest.exit(f"the journal cannot be written: {error}", returncode=DISK_REFUSES)

    def group(self, device: str) -> Group:
        """Return a group by its name; a pilot records what its nodes are like."""
        group = self.resources.groups.find(device)
        if self.spec.mode == "pilot" and not self._examined:
            self._examined = True
            if nodes := self.resources.groups.examine():
                self.write(records.NodesSeen(nodes=nodes))
        return group

    def remember(self, items: Sequence[pytest.Function]) -> None:
        """Take up a pilot that a hung or crashed case ended."""
        if self.journal is None or self.spec.mode != "pilot":
            return
        by_name = {item.nodeid: item for item in items}
        for record in self.journal:
            if isinstance(record, records.Measured | records.Refused) and record.case in by_name:
                self.cases.remember(by_name[record.case], record)
            elif isinstance(record, records.Tried):
                self.searches.remember(record)

    def get_ready(self, cases: int) -> None:
        """Wait for early workers; bring the devices of a launch to where its cases can begin."""
        self.resources.seat_early_workers()
        if self.spec.mode == "measure" and self.journal is not None:
            self._readiness = Readiness(self.spec, cases, self.write)

    def begin(self, item: pytest.Item) -> None:
        """Make a case's devices ready again, and record that the case is in flight."""
        if self._readiness is not None and isinstance(item, pytest.Function):
            self._readiness.before_case(str(parameters(item)["device"]).split("+"))
        self._begun = monotonic()
        if self.spec.mode == "pilot":
            self._before = accounts()
        self.write(records.Begun(launch=self.spec.launch, case=item.nodeid, at=self._begun))

    def conclude(
        self, case: str, measured: records.Measured | None, refused: records.Refused | None
    ) -> None:
        """Record what became of a case, once it is over."""
        if measured is not None and refused is None:
            took = monotonic() - self._begun
            measured.wall_seconds = took - self.searches.took.get(case, 0.0)
            measured.search = self.searches.found.get(case)
            if self._before is not None and (now := accounts()) is not None:
                measured.accounts = now.since(self._before)
        if (record := refused or measured) is not None:
            self.write(record)
        self.searches.waiting.discard(case)
        if refused is not None:  # also where what seemed to be missing was the device
            lost = refused.reason if refused.lost else ""
            self.resources.recover(failed=refused.status == "failed", lost=lost)
        if self.is_changed and self.journal is not None:
            pytest.exit("a case changed the process for those behind it", returncode=DEVICE_LOST)

    def finish(self) -> None:
        """Record what the gauge has read, and where code came from, once every case is over."""
        if self._readiness is not None:
            self._readiness.finish()
        benchmarks = Path(self.spec.benchmarks)
        if self.spec.paths:
            inside, outside = imported(self.spec.paths, self.spec.kept_out)
            known = self.spec.project and foreign(Path(self.spec.project), benchmarks)
            self.write(
                records.Imported(
                    launch=self.spec.launch, inside=inside, outside=outside, foreign=known or None
                )
            )
        elif self.spec.project is not None:
            message = foreign_code(Path(self.spec.project), benchmarks)
            if message is not None:
                self.write(records.Stopped(message=message))


def _spec_alone(config: pytest.Config) -> LaunchSpec:
    wanted = [name for name in config.getoption("--frobench-devices").split(",") if name]
    settings = settings_for(config.getoption("--frobench-profile"), choose(wanted))
    return LaunchSpec(mode="alone", launch=0, journal="", benchmarks="", seed=0, settings=settings)
