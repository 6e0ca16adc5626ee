# SPDX-License-Identifier: MIT
"""Sessions over benchmarks that no pytest runs, and cases in them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.suite.journal import Record
from frobench.suite.launch.case import Measure
from frobench.suite.launch.session import Session
from frobench.suite.plan import LaunchSpec
from frobench.suite.profiles import settings_for
from frobench.suite.stored.types import Settings
from tests.instruments.runs.made_up_records import spec


def launch_spec(
    mode: Any,  # noqa: ANN401 - as a specification has it
    *devices: str,
    settings: Settings | None = None,
    **more: Any,  # noqa: ANN401 - as above
) -> LaunchSpec:
    """Return what a launch is told; by default the quick profile on the CPU, without a journal."""
    settings = settings or settings_for("quick", [*devices] or ["cpu"])
    return replace(spec(mode, settings), **more)


def listening(spec: LaunchSpec) -> tuple[Session, list[Record]]:
    """Return a session without a journal, and the records that it writes."""
    session, records = Session(spec), list[Record]()
    session.write = records.append  # type: ignore[assignment,method-assign]
    return session, records


def item(name: str = "bench_made_up.py::bench_body[cpu-16]", **parameters: object) -> Any:  # noqa: ANN401 - stands for a case that pytest has collected
    """Return what stands for a case of a made-up benchmark."""
    return SimpleNamespace(
        nodeid=name,
        path=Path(name.partition("::")[0]),
        stash=pytest.Stash(),
        module=SimpleNamespace(__name__="bench_made_up"),
        function=SimpleNamespace(__name__="bench_body"),
        callspec=SimpleNamespace(params={"device": "cpu", "n": 16} | parameters),
    )


def case(session: Session, name: str = "bench_made_up.py::bench_body[cpu-16]") -> Measure:
    """Begin a case of a session."""
    return Measure(session, item(name), settled=0.25)
