# SPDX-License-Identifier: MIT
"""What a terminal says of comparisons whose verdicts are known, line by line."""

from typing import Any

from msgspec.structs import replace

from frobench.suite.compare.matching import Matched, Pair, RunComparison, Unmatched
from frobench.suite.stored.differences import Difference
from frobench.suite.terminal import comparison as words
from frobench.suite.units import RATIO
from tests.instruments.runs import factory
from tests.suite.terminal.test_words import case, spelled

SLOWER = replace(case("b.py::bench_two", 1.2, "slower"), p_value=0.01, allowance=0.03)
FASTER = replace(case("one", 0.8, "faster"), p_value=0.02, smallest_change=0.123, allowance=0.01)
SAME = replace(case("six", 1.0, "same"), p_value=0.9, smallest_change=1.5, allowance=0.02)
UNTESTED = case("few", 1.0, "unresolved")
DISTURBED = [replace(case(f"n{n}", 1.1, "unresolved"), reason="disturbed: x") for n in range(11)]
OTHER = replace(case("bench_new", 9.9, "incomparable"), reason="another version")
LACKING = [
    Unmatched("bench_late", "new", "not selected there", headline=False),
    Unmatched("bench_lost", "base", "failed there: it hung", headline=True),
    Unmatched("bench_big", "base", "skipped there: too large", headline=True),
]
PACKAGES = [Difference(f"software.packages.{name}", "1", "2") for name in "ab"]
GOVERNOR, QUOTA = Difference("cpu.governor", None, "b"), Difference("cpu.x", base=True, new=False)
CPU, TORCH = Difference("cpu.model", "a", "b"), Difference("software.torch", "2", "2")
HARMLESS = [PACKAGES[0], GOVERNOR, PACKAGES[1]]


def compared(*cases: Any, base: str = "a", **facts: Any) -> RunComparison:  # noqa: ANN401 - any
    known = {"faults": [], "counts": {"same": 1, "slower": 2}} | facts
    return RunComparison(base=base, new="b", cases=[*cases], **known)


def test_two_runs_come_to_counts_changes_allowances_and_what_only_one_has() -> None:
    cases = (SAME, FASTER, *DISTURBED, OTHER, SLOWER, UNTESTED)
    known = {"harmless": HARMLESS, "unmatched": LACKING, "across": [TORCH, QUOTA]}
    named = ", ".join(f"n{n}" for n in range(10))
    allowed = "allowed between separate runs: 2% in half of the cases, at most 3%"
    assert words.of_runs(compared(*cases, learned_from=1, **known)) == [
        "software.torch is equal in both runs: 2",
        "compared across cpu.x: yes -> no",
        "16 cases in both runs: 2 slower, 1 same",
        f"  slower:  two: {spelled(1.2)}",
        f"  faster:  one: {spelled(0.8)}",
        f"unresolved: {named} and 1 more: disturbed: x",
        "incomparable: new: another version",
        f"{allowed} (learned from 1 other run of this machine)",
        "differs harmlessly: cpu.governor, 2 packages",
        "failed in new: lost: it hung",
        "only in base: big: skipped there: too large",
        "only in new: late: not selected there",
    ]
    run = compared(replace(SLOWER, allowance=0.0), *DISTURBED[1:], OTHER, base="b", faults=["x"])
    changed = f"  slower:  two: {spelled(1.2)}"
    assert words.of_runs(run) == ["12 cases with two versions: 2 slower, 1 same", changed]
    assumed = "assumed; it is learned where the folder holds three more runs of this machine"
    assert words.of_runs(compared(SLOWER))[2:] == [f"{allowed.replace('2', '3')} ({assumed})"]


WHAT = ["What differs and moves numbers:", "  cpu.model: a -> b", "  cpu.governor: unknown -> b"]


def test_two_machines_are_told_by_what_differs_and_each_lacks() -> None:
    side_by_side = "`frobench compare --purchase` shows two machines side by side"
    assert words.of_runs(compared(OTHER, differences=[CPU, GOVERNOR])) == [*WHAT, side_by_side]
    assert words.of_runs(compared(OTHER, differences=[GOVERNOR])) == [WHAT[0], WHAT[2]]
    one, two, *_ = factory.run(accelerators=1).benchmarks
    pairs = [Pair(one, two, "it hung"), Pair(two, one, None)]
    first = "No verdicts: above 1, a case takes less time on the new machine."
    name = words.kind(words.name_of(one.fullname))
    told = words.of_machines(Matched(pairs, LACKING[:1], []), [CPU, GOVERNOR])
    late = "only in new: late: not selected there"
    assert told == [first, *WHAT, f"no ratio: {name}: it hung", late]
    alike = words.of_machines(Matched(pairs, [], ["a fault"]), [])
    assert alike == [first, "Nothing differs that is known to move numbers."]


def test_each_case_has_a_row_with_the_smallest_change_that_would_be_found() -> None:
    cases = [SLOWER, OTHER, FASTER, SAME, replace(SAME, smallest_change=1.0)]
    rows = words.of_cases(cases, "old", "new").rows
    assert rows[:3] == [
        ("", "two", "1.200 s", "1.200 s", spelled(1.2), "slower", "-"),
        ("", "new", "9.900 s", "9.900 s", "-", "incomparable", "-"),
        ("", "one", "800 ms", "800 ms", spelled(0.8), "faster", "+12%"),
    ]
    assert [row[-1] for row in rows[3:]] == [f"2.5{RATIO}", f"2{RATIO}"]
    finds, few, alarms = words.legend(cases)
    assert (words.legend([OTHER]), words.legend([UNTESTED])) == ([finds], [finds, few])
    assert words.legend([FASTER]) == [finds, alarms]
