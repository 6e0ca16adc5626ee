# SPDX-License-Identifier: MIT
"""Tables and lists on terminals of some widths, line by line."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import asdict, replace

from frobench.suite.fleet.fleet import Fleet
from frobench.suite.profiles import OVER
from frobench.suite.redaction import Removed
from frobench.suite.run.expected import Expected, ExpectedCase
from frobench.suite.stored.types import Exercise, Work
from frobench.suite.terminal import disclosure, fleet_words, listing, output
from tests.instruments.runs import factory, made_up_records

NAMES, ABOVE = ["  short", "  a longer name"], ["  a longer", "    name:"]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (27, [" " * 17 + "base", "one", f"{NAMES[0]}           1 s  same", f"{NAMES[1]}  10 s"]),
        (26, [" " * 9 + "base", "one", f"{NAMES[0]}   1 s  same", NAMES[1], " " * 9 + "10 s"]),
        (14, ["    base", "one", NAMES[0], "     1 s  same", NAMES[1], "    10 s"]),
        (12, ["  base", "one", NAMES[0], "   1 s  same", NAMES[1], "  10 s"]),
        (11, ["one", NAMES[0] + ":", "    base 1", "    s, same", *ABOVE, "    base 10", "    s"]),
    ],
)
def test_cells_stand_beside_their_name_or_below_it_or_in_a_sentence(
    width: int, lines: list[str]
) -> None:
    rows = [("one", "short", "1 s", "same"), ("one", "a longer name", "10 s", ""), ("two", "why")]
    found = [*output.Table({"base": ">", "": "<"}, rows).lines(width)]
    assert found == [*lines, "two", "  why"]


def expected(name: str, *devices: str, **facts: Any) -> ExpectedCase:  # noqa: ANN401 - its fields
    case = made_up_records.identity(f"bench_{name}", *devices, title=name[:2].upper())
    return ExpectedCase(
        **asdict(case) | dict.fromkeys(("work", "call_seconds", "left_out")) | facts
    )


def test_the_list_has_what_is_expected_of_each_case_and_of_the_run() -> None:
    cases = [
        expected("mm[64]", work=Work(flops=2e6, bytes=2**20, items=1), call_seconds=0.1),
        expected("mm[4]", work=Work(bytes=2**30, items=2), call_seconds=90.0, left_out=f"1 {OVER}"),
        expected("xx[cuda:0+cuda:1+cuda:2-4]", "cuda:0", "cuda:1", "cuda:2"),
        expected("yy[cuda:0+cuda:1-4]", "cuda:0", "cuda:1", left_out="no GPU"),
    ]
    facts: dict[str, Any] = {"profile": "quick", "machine": "here", "longest_sample": 0.02}
    facts |= dict.fromkeys(("before", "launches", "run_seconds")) | {"budget": 89.9}
    exercises = {"matmul": Exercise(question="How fast?", explanation="")}
    found = Expected(**facts, cases=cases, exercises=exercises)
    assert [*listing.lines(found, 70)] == [
        "Times are unknown before the first run of this machine, here.",
        "Left out: one call takes longer than this profile allows (20 ms).",
        "",
        "matmul: How fast?",
        "                           work of a call   a call",
        "MM",
        "  mm[64]                   2 MFLOP, 1 MiB   100 ms",
        "  mm[4]                    1 GiB, 2 items    2 min  left out",
        "XX",
        "  xx[cuda:0+...+cuda:2-4]                  unknown",
        "YY",
        "  yy[cuda:0+cuda:1-4]: not here: no GPU",
        "",
        "quick: budget 90 s; 2 cases, 2 left out or not here",
    ]
    first, *_, last = listing.lines(replace(found, before="r", launches=6, run_seconds=1800), 70)
    assert first == "Work and time of a call are those of a run of here, r."
    assert last == "quick: about 30 min, 6 launches; 2 cases, 2 left out or not here"


def test_a_few_of_many_texts_are_shown_and_the_machines_in_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "78")
    run, away, beside = factory.run(), Removed("$.a.b", "a path"), " " * 34
    for case, title in zip(run.benchmarks, ("t" * 60, "u" * 61), strict=False):
        case.extra_info.title = title
    run.frobench.environment.unknown["cpu.governor"] = "n" * 70
    told = "\n".join(disclosure.lines(run, [away, Removed("$.a", "a host"), away]))
    first = f"Taken out\n  a host{beside[8:]}a\n  a path, 2 times{beside[17:]}a.b\n\nWhat would"
    assert told.startswith(
        f"{first} be published: 4,344 samples of 60 cases in 8 launches, numbers"
    )
    for lines in (
        f"system; and 2 more\n  machine_info.processor{beside[24:]}x86_64",
        f"{beside}parameters; copies; transformer\n  benchmarks[].name  ",
        f"title{beside[31:]}{'t' * 60};\n{beside}{'u' * 60}...;\n{beside}Do it.",
        f"\n  frobench.environment.unknown.cpu.governor\n{beside}{'n' * 70}\n",
    ):
        assert lines in told
    every = [*disclosure.lines(run, [], everything=True)]
    assert every[0] == "Taken out: nothing, for there was nothing to take out"
    assert f"{beside}{'u' * 61};" in every


LOST, LABELS = {"c": "gone", "b": "off"}, {"b": "B", "c": "C", "a": "A"}
NODES = {"stored": {"a": "s"}, "partial": {"b": "p"}, "lost": LOST, "labels": LABELS}
FLEET = msgspec.convert(NODES | {"order": {"fleet": "x"}, "failed": ["a"]}, Fleet)


def test_a_fleet_is_told_node_by_node() -> None:
    assert [*fleet_words.lines(FLEET)] == [
        "1 of 3 nodes measured and stored",
        "not measured: b: off; what it finished is in p",
        "not measured: c: gone",
        "a case failed on a",
    ]
    keys = ("name", "label", "stored", "partial", "lost", "failed", "unlike")
    facts = [
        ("a", "A", "s", None, None, True, {"Copies": 1.2}),
        ("b", "B", None, "p", "off", False, {}),
        ("c", "C", None, None, "gone", False, {}),
    ]
    nodes = [dict(zip(keys, node, strict=True)) for node in facts]
    found = fleet_words.as_json(FLEET, {"A": {"Copies": 1.2}})
    assert found == {"fleet": "x", "nodes": nodes}
    ends = ({}, {"lost": {}}, {"lost": {}, "failed": []}, {"lost": {}, "stored": {}})
    assert [fleet_words.exit_code(replace(FLEET, **end)) for end in ends] == [3, 1, 0, 3]


def test_the_lines_of_runs_are_told_of_sixteen_nodes() -> None:
    said: list[str] = []
    tell = fleet_words.teller(said.append, str.upper)
    for node in [*map(str, range(10, 26)), "z", "10"]:
        tell(f"n{node}", "| a line")
    assert said[:2] == ["n10: N10 on pages", "n10: | a line"]
    assert said[30:] == ["n25: N25 on pages", "n25: | a line", "nz: NZ on pages"]
    tell("nz", "ends")
    assert said[-1] == "nz: ends"
