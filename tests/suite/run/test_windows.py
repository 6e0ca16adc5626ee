# SPDX-License-Identifier: MIT
"""Which cases a launch repeats for seconds, and why not others."""

from msgspec.structs import replace

from frobench.suite.journal import Measured
from frobench.suite.plan import CaseIdentity
from frobench.suite.profiles import LEAD, WINDOW, settings_for
from frobench.suite.run import planning
from frobench.suite.stored.types import Settings, Work
from tests.instruments.runs import made_up_records
from tests.instruments.runs.made_up_records import measured

SETTINGS = settings_for("standard", ["cuda:0"])


def identity(name: str, *devices: str, headline: bool = True) -> CaseIdentity:
    return made_up_records.identity(name, *(devices or ["cuda:0"]), headline=headline)


def working(flops: float | None = None, size: float | None = None) -> Measured:
    return measured("", samples=[1e-3], sampled=1e-3, work=Work(flops=flops, bytes=size))


COUNTS = {"cuda:0": None}


def test_as_many_cases_are_chosen_as_fit_those_with_most_work_first() -> None:
    ran = [(identity(f"n{n}"), working(flops=float(n))) for n in range(1, 21)]
    _, found, left_out = planning.choose_windows(ran, COUNTS, SETTINGS)
    assert found == [f"n{n}" for n in range(20, 20 - len(found), -1)]
    assert 1 <= len(found) < 20
    assert left_out == dict.fromkeys(
        [f"n{n}" for n in range(20 - len(found), 0, -1)], planning.NO_TIME
    )
    assert len(found) * (LEAD + WINDOW) * 8 <= planning.PART * SETTINGS.budget
    longer: Settings = replace(SETTINGS, budget=3 * SETTINGS.budget)
    assert len(planning.choose_windows(ran, COUNTS, longer)[1]) > len(found)


def test_only_headline_cases_whose_devices_count_are_chosen_and_others_have_a_reason() -> None:
    ran = [
        (identity("more", headline=False), working(flops=9.0)),
        (identity("other", "cuda:1"), working(flops=8.0)),
        (identity("half", "cpu/0", "cpu/1"), working(flops=1.0)),
        (identity("copy", "cuda:0", "cpu"), working(size=7.0)),
        (identity("strange", "xpu:0"), working(size=7.0)),
    ]
    _, found, left_out = planning.choose_windows(
        ran, {"cpu": "only root", "cuda:0": None, "cuda:1": "lost"}, SETTINGS
    )
    assert found == ["copy"]
    assert left_out == {
        "other": "cuda:1 counts no energy: lost",
        "half": "cpu counts no energy: only root",
        "strange": "xpu:0 counts no energy: nothing reads it",
    }
    assert planning.choose_windows(ran, {"cpu": None}, SETTINGS)[1] == ["half"]


def test_a_case_that_can_have_no_value_takes_no_others_place() -> None:
    rested = replace(working(flops=1e9), in_a_row=False)
    ran = [(identity(f"cold{n}"), rested) for n in range(20)] + [(identity("warm"), working(1.0))]
    _, found, left_out = planning.choose_windows(ran, COUNTS, SETTINGS)
    assert found == ["warm"]
    assert set(left_out.values()) == {planning.PAUSED}
