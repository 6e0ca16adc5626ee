# SPDX-License-Identifier: MIT
"""What a terminal shows, beside `shown.txt`: what it must show of numbers that are known."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import asdict, replace

from frobench.suite.compare.matching import CaseComparison, Matched, Pair, RunComparison, Unmatched
from frobench.suite.doctor.examined import ExaminedAccelerator, ExaminedMachine, Host
from frobench.suite.doctor.torch_offer import Offer
from frobench.suite.fleet.fleet import Fleet
from frobench.suite.history.change_search import Culprit, Findings
from frobench.suite.history.commits import Commit
from frobench.suite.history.history import History
from frobench.suite.machine.host import Backend
from frobench.suite.machine.sensors.throttle_causes import IDLE
from frobench.suite.profiles import OVER
from frobench.suite.redaction import Removed
from frobench.suite.run.expected import Expected, ExpectedCase
from frobench.suite.stored.differences import Difference
from frobench.suite.stored.types import (
    Conclusion,
    Cpu,
    Estimate,
    Exercise,
    Project,
    Run,
    VerdictWord,
    Work,
)
from frobench.suite.terminal import (
    answers,
    comparison,
    disclosure,
    doctor_page,
    fleet_words,
    history_words,
    listing,
    output,
)
from frobench.suite.terminal.answers import Answer, AxisResult, CaseResult, ModelSpeed, RunAnswers
from frobench.suite.terminal.output import Table
from tests.instruments.runs import factory, made_up_records

SHARP, WIDE = Estimate(40.0, 39.0, 42.0, 6), Estimate(2.0, 1.0, 2.1, 6)
ALONE, NOISY, UNCLEAR = Estimate(0.5, None, None, 3), ("noisy",), ("not conclusive",)
USUAL: dict[str, Any] = dict.fromkeys(("doubts", "cases", "remarks"), ())
USUAL |= dict.fromkeys(("value", "seconds", "rate", "reason", "decode", "prompt", "project"))
USUAL |= {"unit": "s", "rate_unit": "B/s", "fits": True, "leads": True, "small": {}}


def made(kind: Any, **facts: Any) -> Any:  # noqa: ANN401 - a kind of answer, and its fields
    return kind(**{field: USUAL.get(field, "") for field in kind.__struct_fields__} | facts)


def answer(number: int, exercise: str, rule: str = "", **more: Any) -> Any:  # noqa: ANN401 - as above
    more |= {"question": f"Why {number}?", "answer": f"It is {number}.", "brief": f"{number} s"}
    return made(Answer, name=f"n{number}", exercise=exercise, rule_of_thumb=rule, **more)


def case(name: str, status: str, **more: Any) -> Any:  # noqa: ANN401 - as above
    return made(CaseResult, exercise=name[0], case=f"b::bench_{name}", status=status, **more)


FACTS = {"machine": "Two cores", "datetime": "2026-01-02T03:04:05Z", "profile": "quick"}
RUN = made(
    RunAnswers,
    axes=(
        made(AxisResult, title="Compute", value=SHARP, remarks=("80% of peak",)),
        made(AxisResult, title="Memory", value=WIDE, doubts=UNCLEAR),
    ),
    models=(
        made(ModelSpeed, name="8B", decode=ALONE, prompt=SHARP),
        made(ModelSpeed, name="70B", bytes=20.0 * 2**30, fits=False, small={"int8": SHARP}),
        made(ModelSpeed, name="1B"),
    ),
    answers=(
        answer(1, "Copies", "wait", value=SHARP, doubts=NOISY),
        answer(2, "Copies", leads=False),
        answer(3, "Copies", doubts=NOISY),
        answer(4, "Norms", "log", doubts=("few", "noisy")),
    ),
    cases=(
        case("copy", "passed", seconds=SHARP, rate=WIDE, doubts=NOISY),
        case("chain", "passed", seconds=ALONE),
        case("norm", "failed"),
        case("nap", "skipped", reason="it needs a GPU, and there is none"),
    ),
    **FACTS | {"complete": True, "launches": 6, "device": "cores"},
    models_note=r"Of <a> & `b_*`, a \ b | [1].",
    absent={"no GPU": ("Why a?",), "too slow": ("Why b?", "Why c?")},
)
PLAIN = replace(RUN, axes=(), models=RUN.models[1:2], models_note="", absent={})
HALF = replace(RUN, answers=RUN.answers[:3])
SINGLE = replace(PLAIN, answers=(answer(5, "Sums", value=ALONE, doubts=NOISY),))
PARTIAL = replace(RUN, complete=False, project=Project(name="p", id="0123456789abcdef"))


def near(value: float) -> Estimate:
    return Estimate(value, value - 0.01, value + 0.01, 6)


def compared(name: str, value: float, word: VerdictWord, **more: Any) -> CaseComparison:  # noqa: ANN401 - as above
    facts: dict[str, Any] = dict.fromkeys(("base", "new", "ratio"), near(value))
    facts |= dict.fromkeys(("p_value", "smallest_change", "reason")) | {"allowance": 0.0} | more
    return CaseComparison(fullname=name, group="", headline=True, word=word, **facts)


ROWS = [("one", "short", "1 s", "same"), ("one", "a longer name", "10 s", ""), ("two", "why")]
TABLE = Table({"base": ">", "": "<"}, ROWS)
SLOWER = compared("b.py::bench_two", 1.2, "slower", p_value=0.01, allowance=0.03)
FASTER = compared("one", 0.8, "faster", p_value=0.02, smallest_change=0.123, allowance=0.01)
SAME = compared("six", 1.0, "same", p_value=0.9, smallest_change=1.5, allowance=0.02)
DOUBLED, UNTESTED = replace(SAME, smallest_change=1.0), compared("few", 1.0, "unresolved")
DISTURBED = [compared(f"n{n}", 1.1, "unresolved", reason="disturbed: x") for n in range(11)]
OTHER = compared("bench_new", 9.9, "incomparable", reason="another version")
MANY = (SAME, FASTER, *DISTURBED, OTHER, SLOWER, UNTESTED)
LACKING = [
    Unmatched("bench_late", "new", "not selected there", headline=False),
    Unmatched("bench_lost", "base", "failed there: it hung", headline=True),
    Unmatched("bench_big", "base", "skipped there: too large", headline=True),
]
NUMPY, CLICK = (Difference(f"software.packages.{name}", "1", "2") for name in "ab")
GOVERNOR, QUOTA = Difference("cpu.governor", None, "b"), Difference("cpu.x", base=True, new=False)
CPU, TORCH = Difference("cpu.model", "a", "b"), Difference("software.torch", "2", "2")
BOTH: dict[str, Any] = {"harmless": [NUMPY, GOVERNOR, CLICK], "across": [TORCH, QUOTA]}
ONE, TWO, *_ = (one for one in factory.run(accelerators=1).benchmarks if "cuda" in one.fullname)
PAIRS = [Pair(ONE, TWO, "it hung"), Pair(TWO, ONE, None)]

SUBJECTS = ["Begin", "First", "Merge", "Third", " ".join(["A long subject"] * 3)]
COMMITS = [Commit(str(n) * 40, text, 2 if n == 2 else 1) for n, text in enumerate(SUBJECTS)]


def of_runs(*cases: Any, base: str = "a", **facts: Any) -> list[str]:  # noqa: ANN401 - as above
    known = {"faults": [], "counts": {"same": 1, "slower": 2}} | facts
    return comparison.of_runs(RunComparison(base=base, new="b", cases=[*cases], **known))


def history(ends: dict[str, float], *culprits: Culprit, **found: Any) -> History:  # noqa: ANN401 - as above
    """Return a history in which cases take so many times as long at the end as at first."""
    cases = {name: compared(name, n, "slower" if n > 1 else "faster") for name, n in ends.items()}
    runs = RunComparison(base="0", new="4", cases=[SLOWER, OTHER], faults=[], counts={})
    runs = replace(runs, unmatched=LACKING)
    return History(COMMITS, Findings(4, 6, cases, culprits=[*culprits], **found), runs, [])


def without_change(*ratios: float) -> History:
    ends = {f"bench_{ratio}": compared("", ratio, "same") for ratio in ratios}
    return history({})._replace(findings=Findings(4, 6, ends))


CHANGED = history(
    {"five": 0.8, "four": 1.2, "three": 1.3, "two": 1.4, "one": 1.5},
    Culprit("one", 0, 1, near(1.49)),
    Culprit("two", 1, 2, near(1.4)),
    Culprit("three", 2, 3, near(1.1)),
    Culprit("four", 2, 4, near(1.2)),
    Culprit("five", 1, 3, None),
    broken={3: "it is broken", 2: "it fails"},
    beside_first={1: {"two": near(1.0)}, 4: {"one": near(1.5), "five": near(0.8)}},
)


def expected(name: str, *devices: str, **facts: Any) -> ExpectedCase:  # noqa: ANN401 - as above
    one = made_up_records.identity(f"bench_{name}", *devices, title=name[:2].upper())
    facts = dict.fromkeys(("work", "call_seconds", "left_out")) | facts
    return ExpectedCase(**asdict(one) | facts)


LISTED = [
    expected("mm[64]", work=Work(flops=2e6, bytes=2**20, items=1), call_seconds=0.1),
    expected("mm[4]", work=Work(bytes=2**30, items=2), call_seconds=90.0, left_out=f"1 {OVER}"),
    expected("xx[cuda:0+cuda:1+cuda:2-4]", "cuda:0", "cuda:1", "cuda:2"),
    expected("yy[cuda:0+cuda:1-4]", "cuda:0", "cuda:1", left_out="no GPU"),
]
UNKNOWN: dict[str, Any] = dict.fromkeys(("before", "launches", "run_seconds"))
UNKNOWN |= {"profile": "quick", "machine": "here", "longest_sample": 0.02, "budget": 89.9}
MATMUL = {"matmul": Exercise(question="How fast?", explanation="")}
LIST = Expected(**UNKNOWN, cases=LISTED, exercises=MATMUL)
AGAIN = replace(LIST, before="r", launches=6, run_seconds=1800.0, cases=LISTED[:1])
LOST, LABELS = {"c": "gone", "b": "off"}, {"b": "B", "c": "C", "a": "A"}
NODES = {"stored": {"a": "s"}, "partial": {"b": "p"}, "lost": LOST, "labels": LABELS}
FLEET = msgspec.convert(NODES | {"order": {"fleet": "x"}, "failed": ["a"]}, Fleet)


def known(kind: Any, **facts: Any) -> Any:  # noqa: ANN401 - a part of a machine, and its fields
    return kind(**dict.fromkeys(kind.__struct_fields__) | facts)


PROCESSOR = known(Cpu, model="EPYC", usable_cores=2, boost=False, core_nodes=[0])
NOW = {"cores": 2, "clock_hz": 3e9, "others": 0.25, "container": True, "kernel": "6.1"}
HOST = known(Host, cpu=PROCESSOR, os="Debian", masks={"A": "0", "B": ""}, **NOW)
DEVICE = known(ExaminedAccelerator, vendor="AMD", type="cuda", name="Instinct", index=0)
OTHER_DEVICE = known(ExaminedAccelerator, vendor="Intel", name="Arc", memory_used_bytes=2**30)
DEVICE.held_back, DEVICE.temperature_celsius, DEVICE.pcie_width = [IDLE, "a", "b"], 33.0, 8
BUILT, NAMED = {"CUDA": "13.0", "ROCm": None, "XPU": "1"}, (("xpu:0", "Arc"), ("xpu:1", "Arc"))
OFFER, OTHER_OFFER = Offer("2.13.0", BUILT, 1, names=NAMED), Offer("2.13.0", {"CUDA": None})
THERE = ExaminedMachine(host=HOST, accelerators=[DEVICE, OTHER_DEVICE], torch=OFFER)
ALONE_THERE = ExaminedMachine(host=known(Host, cpu=PROCESSOR), accelerators=[], torch=OTHER_OFFER)
FAR = Conclusion(code="far", severity="info", message="It is far.", advice="Mend it, " * 7)


TAKEN = [Removed("$.a.b", "a path"), Removed("$.a", "a host"), Removed("$.a.b", "a path")]
HOSTS = {"a": "t" * 60, "b": "u" * 61, "c" * 17: "v", "d" * 18: "w"}


def shared(removed: list[Removed], *, everything: bool) -> list[str]:
    """Return the first lines of a run with texts up to the longest that is shown, and beyond."""
    run = factory.run()
    run.machine_info = HOSTS | dict.fromkeys("efg", "x")
    run.frobench.environment.unknown["cpu.governor"] = "n" * 70
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "78")
        lines = [*disclosure.lines(run, removed, everything=everything)]
    return lines[:16] + [line for line in lines if "nnn" in line]


def concluded(code: str, number: int, **facts: Any) -> Conclusion:  # noqa: ANN401 - as above
    facts |= {"message": f"\x1b[{number}J", "advice": f"Do {number}.", "case": f"b::{number}"}
    return Conclusion(code=code, **facts)


def doubted() -> Run:
    """Return a run with more warnings of a code than are shown, and as many errors."""
    run, kinds = factory.run(), {"noisy-case": "warning", "failed-case": "error", "busy": "info"}
    run.frobench.conclusions = [
        concluded(code, n, severity=severity)
        for code, severity in kinds.items()
        for n in range(1 if code == "busy" else 5)
    ]
    return run


TABLES, [STEADY] = history_words.tables(CHANGED), history_words.tables(without_change(0.97))
SHOWN: dict[str, Iterable[str]] = {
    "a run": answers.lines(RUN, 60),
    "a run half of whose numbers are noisy": answers.lines(HALF, 60),
    "a run with a single number, a noisy one": answers.lines(SINGLE, 60),
    "a run without axes": answers.lines(PLAIN, 60),
    "a run without axes, in full and narrow": answers.lines(PLAIN, 59, every=True),
    "first lines": [answers.heading(RUN), answers.heading(PARTIAL)],
    "cases": answers.case_lines(RUN.cases, 50),
    "a run in Markdown": answers.as_markdown(RUN).splitlines(),
    "cases in Markdown": answers.cases_as_markdown(RUN.cases).splitlines(),
    "answers as CSV": answers.as_csv(RUN.answers).splitlines(),
    "cases as CSV": answers.as_csv(RUN.cases).splitlines(),
    **{f"a table of {width} columns": TABLE.lines(width) for width in (27, 26, 14, 12, 11)},
    "two runs": of_runs(*MANY, learned_from=1, unmatched=LACKING, **BOTH),
    "two versions of a run with a fault": of_runs(OTHER, base="b", faults=["x"]),
    "two runs whose distance is assumed": of_runs(SLOWER),
    "runs on two machines": of_runs(OTHER, differences=[CPU, GOVERNOR]),
    "runs on a machine that was changed": of_runs(OTHER, differences=[GOVERNOR]),
    "two machines": comparison.of_machines(Matched(PAIRS, LACKING[:1], []), [CPU, GOVERNOR]),
    "two equal machines, a run with a fault": comparison.of_machines(Matched(PAIRS, [], ["x"]), []),
    "cases of two runs": comparison.of_cases(
        [*MANY[-3:], FASTER, SAME, DOUBLED], "old", "new"
    ).lines(80),
    "below cases": comparison.legend(MANY),
    "below cases of many launches": comparison.legend([FASTER, OTHER]),
    "below cases of few launches": comparison.legend([UNTESTED]),
    "a history": history_words.sentences(CHANGED),
    "what a history does not decide": history_words.refusals(CHANGED),
    "tables of a history": [line for table in TABLES for line in table.lines(90)],
    "a history without a change": history_words.sentences(without_change(0.97, 1.02)),
    "a history with a doubt": history_words.sentences(without_change(0.9, 1.02)),
    "the table of a history without a change": STEADY.lines(90),
    "a list before the first run": listing.lines(LIST, 70),
    "a list after a run": listing.lines(AGAIN, 70),
    "a machine": doctor_page.lines(THERE, [FAR], 60),
    "a machine without accelerators": doctor_page.lines(ALONE_THERE, [], 60),
    "a run to be shared": shared(TAKEN, everything=False),
    "a run to be shared, in full": shared([], everything=True),
    "doubts about a run": output.doubts(doubted(), 40),
    "a fleet": fleet_words.lines(FLEET),
    "unlike nodes": fleet_words.unlike_lines(FLEET, {"A": {"Matmul": 1.18, "Copies": 0.9}}),
}
SECTIONS = dict(
    section.split("\n", 1)
    for section in Path(__file__).with_name("shown.txt").read_text("utf-8").split("## ")[1:]
)


@pytest.mark.parametrize("name", sorted({*SHOWN, *SECTIONS}))
def test_a_terminal_shows_what_is_known(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(doctor_page, "installed", lambda: [Backend("npu", "torch-npu", "2.9.0")])
    assert "\n".join(SHOWN[name]).strip("\n") == SECTIONS[name].strip("\n")


def test_programs_are_told_of_each_node_of_a_fleet() -> None:
    told = fleet_words.as_json(FLEET, {"B": {"Copies": 1.2}})
    facts = {"stored": None, "partial": "p", "lost": "off", "failed": False}
    assert told["nodes"][1] == facts | {"name": "b", "label": "B", "unlike": {"Copies": 1.2}}
    assert [node["failed"] for node in told["nodes"]] == [True, False, False]
    whole = replace(FLEET, lost={})
    ends = (FLEET, whole, replace(whole, failed=[]), replace(whole, stored={}))
    assert [*map(fleet_words.exit_code, ends)] == [3, 1, 0, 3]


def test_the_lines_of_runs_are_told_of_sixteen_nodes() -> None:
    said: list[str] = []
    tell = fleet_words.teller(said.append, str.upper)
    for node in [*map(str, range(10, 26)), "z", "10"]:
        tell(f"n{node}", "| a line")
    assert said[:2] == ["n10: N10 on pages", "n10: | a line"]
    assert said[30:] == ["n25: N25 on pages", "n25: | a line", "nz: NZ on pages"]
    tell("nz", "ends")
    assert said[-1] == "nz: ends"
