# SPDX-License-Identifier: MIT
"""The checker makes the numbers of the transformer anew, from its samples and declared work."""

from pathlib import Path

import pytest

from reports.making.workers import Workers
from reports.site import build
from suite import checks
from suite.stored import store
from suite.stored.run import Exercise
from tests.instruments.check_site import check
from tests.instruments.runs.exact_runs import run_of
from tests.reports.findings.exercises.test_findings_transformer import SECONDS, ceilings, layers


def test_every_number_of_the_transformer_is_recomputed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [
        layers("train", 0.6, 0.3),
        layers("train", 0.4, 0.3, width=2048, layers=4),
        layers("decode", 0.1, 0.2, tokens=32, batch=32, seconds=3 * SECONDS),
        layers("decode_graph", 0.1, 0.6, tokens=32, batch=32),
    ]
    run = run_of("transformer", cases, accelerators=1, beside=ceilings())
    for one in ceilings():
        run.frobench.exercises[one.group] = Exercise(question="What?", explanation="That.")
    # Made-up cases have made-up versions.
    monkeypatch.setattr(checks, "conclude", lambda *_, **__: [])
    build.build([store.write(run, tmp_path / "results")], tmp_path / "site", workers=Workers(1))
    found = check(tmp_path / "site")
    assert not found.faults
    assert not found.unknown
    assert not found.compared
