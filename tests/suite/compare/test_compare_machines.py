# SPDX-License-Identifier: MIT
"""What two machines side by side show, and what they do not."""

import msgspec
import pytest

from frobench.reports.compare import verdicts
from frobench.suite.compare.matching import Matched, match_machines
from frobench.suite.stored.types import Outcome, Run
from frobench.suite.terminal import comparison
from tests.instruments.runs import factory


def _as_xpu(run: Run) -> Run:
    """Turn every ``cuda`` of a run into an ``xpu``, as another vendor's machine would name it."""
    text = msgspec.json.encode(run).decode().replace("cuda:", "xpu:")
    other = msgspec.json.decode(text, type=Run)
    for device in other.frobench.environment.accelerators:
        device.name = "Another accelerator"
    return other


@pytest.fixture(scope="module")
def found() -> Matched:
    """Match an H200 with another vendor's accelerator."""
    base = factory.run(seed=1, accelerators=1)
    return match_machines(base, _as_xpu(factory.run(seed=2, accelerators=1)))


def test_there_are_no_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    base = factory.run(seed=1, accelerators=1)
    new = _as_xpu(factory.run(seed=2, accelerators=1, slower=0.8))
    assert verdicts.machines(base, new, "training", as_json=False, cases=True) == 0
    told = capsys.readouterr().out
    for word in ("faster", "slower", "same", "unresolved", "incomparable"):
        assert word not in told
    assert "What differs and moves numbers:\n  accelerators: " in told


def test_a_case_that_one_machine_lacks_is_named_with_the_reason() -> None:
    base, new = factory.run(seed=1), factory.run(seed=2)
    lost = next(case for case in new.benchmarks if case.group == "matmul")
    new.benchmarks.remove(lost)
    outcome = next(one for one in new.frobench.outcomes if one.fullname == lost.fullname)
    outcome.status, outcome.reason = "skipped", "does not fit the memory"
    found = match_machines(base, new)
    assert [(one.fullname, one.measured_in, one.reason) for one in found.unmatched] == [
        (lost.fullname, "base", "skipped there: does not fit the memory")
    ]


def test_a_machine_without_an_accelerator_is_compared_on_the_cpu_alone() -> None:
    found = match_machines(factory.run(), factory.run(accelerators=1))
    assert not any("cuda" in pair.new.fullname for pair in found.pairs)
    assert {one.reason for one in found.unmatched if "cuda" in one.fullname} == {
        "0 accelerators measured there"
    }


def test_other_benchmarks_and_wrong_results_have_no_ratio() -> None:
    base, new = factory.run(seed=1), factory.run(seed=2)
    other, wrong = new.benchmarks[0], new.benchmarks[1]
    other.extra_info.version = "ffffffffffff"
    reason = Outcome(
        fullname=wrong.fullname, group=wrong.group, params={}, status="failed", reason="it hung"
    )
    new.frobench.outcomes.append(reason)
    found = match_machines(base, new)
    assert found.pairs[1].reason == "failed in new: it hung"
    assert [pair.reason for pair in found.pairs[2:]] == [None] * (len(found.pairs) - 2)
    told = comparison.of_machines(found, [])
    assert any(line.startswith("no ratio: ") and "another version" in line for line in told)


def test_what_failed_on_another_accelerator_than_the_one_compared_is_nothing_to_it() -> None:
    base = factory.run(seed=1, accelerators=1)
    first, second = _as_xpu(base), factory.run(seed=2, accelerators=1)
    second.benchmarks = [*first.benchmarks, *second.benchmarks]
    for outcome in second.frobench.outcomes:
        if "cuda:0" in outcome.fullname:
            outcome.status = "failed"
    found = match_machines(base, second)
    mine = [one for one in found.pairs if "cuda:0" in one.base.fullname]
    assert len(mine) > 1
    assert all("xpu:0" in one.new.fullname and one.reason is None for one in mine)
