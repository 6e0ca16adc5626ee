# SPDX-License-Identifier: MIT
"""What a terminal says of a run whose answers are known, line by line."""

from typing import Any

from msgspec.structs import replace

from frobench.suite.stored.types import Estimate, Project
from frobench.suite.terminal import answers
from frobench.suite.terminal.answers import Answer, AxisResult, CaseResult, ModelSpeed, RunAnswers

SHARP, WIDE = Estimate(40.0, 39.0, 42.0, 6), Estimate(2.0, 1.0, 2.1, 6)
ALONE, NOISY, UNCLEAR = Estimate(0.5, None, None, 3), ("noisy",), ("not conclusive",)
USUAL: dict[str, Any] = dict.fromkeys(("doubts", "cases", "remarks"), ())
USUAL |= dict.fromkeys(("value", "seconds", "rate", "reason", "decode", "prompt", "project"))
USUAL |= {"unit": "s", "rate_unit": "B/s", "fits": True, "leads": True, "small": {}}


def made(kind: Any, **facts: Any) -> Any:  # noqa: ANN401 - a kind of answer, and its fields
    return kind(**{field: USUAL.get(field, "") for field in kind.__struct_fields__} | facts)


def answer(number: int, exercise: str, rule: str = "", **more: Any) -> Any:  # noqa: ANN401 - as above
    texts = {"question": f"Why {number}?", "answer": f"It is {number}.", "brief": f"{number} s"}
    return made(Answer, name=f"n{number}", exercise=exercise, rule_of_thumb=rule, **texts | more)


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
        case("nap", "skipped", reason="a GPU is needed, of which there is none"),
    ),
    **FACTS | {"complete": True, "launches": 6, "device": "cores"},
    models_note=r"Of <a> & `b_*`, a \ b | [1].",
    absent={"no GPU": ("Why a?",), "too slow": ("Why b?", "Why c?")},
)


def test_axes_models_and_leading_answers_stand_beside_their_names() -> None:
    assert [*answers.lines(RUN, 60)] == [
        "Compute  40.0 s [39.0, 42.0], 80% of peak",
        "Memory   1.0 to 2.1 s (not conclusive)",
        "8B       0.5 tokens/s (no interval: 3 launches) decoding,",
        "         40.0 tokens/s [39.0, 42.0] prompt",
        "70B      does not fit: 20 GB of weights in bf16,",
        "         40.0 tokens/s [39.0, 42.0] decoding with int8",
        "         weights",
        "1B       fits",
        r"Of <a> & `b_*`, a \ b | [1].",
        "",
        "Copies   1 s → wait",
        "         3 s",
        "Norms    4 s → log (few)",
        "[a, b]: 95% interval over the launches of this run on this",
        "machine",
        "3 of these 5 numbers are noisy",
        'No answer to "Why a?": no GPU',
        "No answer to 2 questions: too slow",
    ]


def test_without_axes_each_answer_in_full_stands_below_its_question() -> None:
    plain = replace(RUN, axes=(), models=RUN.models[1:2], models_note="", absent={})
    assert [*answers.lines(plain, 59, every=True)] == [
        "70B",
        "  does not fit: 20 GB of weights in bf16,",
        "    40.0 tokens/s [39.0, 42.0] decoding with int8 weights",
        "",
        "Why 1?",
        "  It is 1. → wait",
        "Why 2?",
        "  It is 2.",
        "Why 3?",
        "  It is 3.",
        "Why 4?",
        "  It is 4. → log (few)",
        "[a, b]: 95% interval over the launches of this run on this",
        "machine",
        "3 of these 4 numbers are noisy",
    ]
    briefly = [*answers.lines(replace(plain, models=()), 60)]
    assert briefly[1:6] == ["Why 1?", "  1 s → wait", "  3 s", "Why 4?", "  4 s → log (few)"]


def test_the_first_line_says_what_was_measured_where() -> None:
    counts = "1 failed, 1 left out"
    said = "Two cores: 2 cases measured in 6 launches of the quick profile on 2026-01-02"
    assert answers.heading(RUN) == f"{said}; {counts}"
    partial = replace(RUN, complete=False, project=Project(name="p", id="0123456789abcdef"))
    code = "code of p at 0123456789ab"
    assert answers.heading(partial) == f"{said}, not all of its launches ended; {counts}; {code}"


def test_cases_stand_below_their_exercise_with_their_numbers_or_the_reason() -> None:
    assert [*answers.case_lines(RUN.cases, 50)] == [
        "c",
        "  copy: 40.0 s [39.0, 42.0], 2.0 B/s [1.0, 2.1]",
        "    (noisy)",
        "  chain: 500 ms (no interval: 3 launches)",
        "n",
        "  norm: failed: no reason was given",
        "  nap: left out: a GPU is needed, of which there",
        "    is none",
    ]


def test_markdown_has_tables_in_which_nothing_is_markup() -> None:
    few = replace(RUN, axes=RUN.axes[:1], models=RUN.models[2:], answers=RUN.answers[:3])
    assert answers.as_markdown(few).splitlines() == [
        *(answers.heading(RUN), ""),
        *("| axis | cores |", "| --- | --- |"),
        r"| Compute | 40.0 s \[39.0, 42.0], 80% of peak |",
        *("| 1B | fits |", "", r"Of &lt;a> &amp; \`b\_\*\`, a \\ b \| \[1].", ""),
        *("| question | answer | rule of thumb |", "| --- | --- | --- |"),
        *("| Why 1? | 1 s (noisy) | wait |", "| Why 3? | 3 s (noisy) |  |", ""),
        *("Not measured: Why a? (no GPU)", "", "Not measured: Why b?; Why c? (too slow)"),
    ]
    assert answers.cases_as_markdown(RUN.cases[::2]).splitlines()[2:] == [
        r"| bench\_copy | 40.0 s \[39.0, 42.0] | 2.0 B/s \[1.0, 2.1] | noisy |",
        "| bench\\_norm | failed |  |  |",
    ]


def test_csv_has_the_numbers_in_seconds_and_each_with_its_ends() -> None:
    names, *rows = answers.as_csv(RUN.cases[:3]).splitlines()
    ends = "seconds,seconds_low,seconds_high,seconds_launches"
    rate = ends.replace("seconds", "rate")
    assert names == f"exercise,case,status,{ends},{rate},rate_unit,doubts,reason"
    assert rows == [
        "c,b::bench_copy,passed,40.0,39.0,42.0,6,2.0,1.0,2.1,6,B/s,noisy,",
        "c,b::bench_chain,passed,0.5,,,3,,,,,B/s,,",
        "n,b::bench_norm,failed,,,,,,,,,B/s,,",
    ]
    _, *rows = answers.as_csv(RUN.answers[::3]).splitlines()
    assert rows == [
        "Copies,n1,Why 1?,It is 1.,1 s,wait,,s,40.0,39.0,42.0,6,noisy,,True",
        'Norms,n4,Why 4?,It is 4.,4 s,log,,s,,,,,"few, noisy",,True',
    ]
    assert not answers.as_csv([])
