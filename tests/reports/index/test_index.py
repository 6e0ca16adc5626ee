# SPDX-License-Identifier: MIT
"""The index tells every run without a script, and hands a script what it needs to compare them."""

import json
import math
import re
from collections.abc import Callable
from functools import cache
from statistics import fmean
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from frobench.reports.findings.finding import RATIO
from frobench.reports.index import index
from frobench.reports.purchase import script
from frobench.reports.purchase.prices import Price
from frobench.reports.summary.model import Change, Summary, equipment_of, summarise
from frobench.reports.table.estimates import STEP, estimates
from frobench.suite.stored.types import Case, Conclusion, Estimate, Run
from tests.instruments.faults.judging import made, samples, set_samples
from tests.instruments.runs import factory
from tests.reports.index.test_packing import unpack
from tests.reports.run.test_page import HOSTILE, Reader

BEFORE = "20260101T000000Z-before"


def of(run: Run, name: str) -> Summary:
    """Return what is known of a run, as one of the machine `name`."""
    return replace(
        summarise(run, "0" * 64, estimates(run)), machine_id=name, href=f"{name}/run.html"
    )


@cache
def measured(accelerators: int, seed: int = 1) -> Summary:
    return of(factory.run(seed=seed, accelerators=accelerators), "a")


def summary(name: str = "a", accelerators: int = 1, **changes: Any) -> Summary:  # noqa: ANN401
    """Return what is known of a run of the machine `name`."""
    made = measured(accelerators, changes.pop("seed", 1))
    named = {"machine_id": name, "href": f"{name}/run.html"}
    if "device" in changes:
        named["device_id"] = changes["device"]
    return replace(made, **(named | changes))


def on_day(day: int, name: str = "a", **changes: Any) -> Summary:  # noqa: ANN401
    return summary(
        name, datetime=f"2026-03-{day:02d}T12:30:00+00:00", href=f"{name}/{day}.html", **changes
    )


def rows(page: str) -> list[str]:
    """Return the rows of the table of runs, each its text."""
    return [Reader(row).text for row in body(page, "runs").split("<tr")[1:]]


def body(page: str, table: str) -> str:
    """Return the rows of a table, as markup: of ``devices``, or of ``runs``."""
    key = "devices-table" if table == "devices" else "runs"
    begun = page.index("<tbody>", page.index(f'id="{key}"'))
    return page[begun : page.index("</tbody>", begun)]


def links(page: str, table: str = "runs") -> list[str]:
    return re.findall(r'<a href="([^"]+)"', body(page, table))


def devices(page: str) -> list[str]:
    """Return the rows of the table of devices, each its text."""
    apart = [row.replace("</td>", " ") for row in body(page, "devices").split("<tr>")[1:]]
    return [" ".join(Reader(row.replace("<small>", " ")).text.split()) for row in apart]


def data(page: str) -> Any:  # noqa: ANN401 - it is JSON
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(text)


def changed(**changes: Any) -> Change:  # noqa: ANN401
    nothing: dict[str, Any] = {"compared": 9, "slower": (), "faster": (), "differences": ()}
    return Change(base=BEFORE, base_href="", faults=(), **(nothing | changes))


def test_runs_are_newest_first_with_the_earlier_ones_beneath_their_machine_s_newest() -> None:
    runs = [on_day(1, "a"), on_day(4, "b"), on_day(3, "a"), on_day(2, "b"), on_day(9, "c")]
    assert links(index.page(runs)) == ["c/9.html", "b/4.html", "b/2.html", "a/3.html", "a/1.html"]


def test_a_row_tells_what_ran_where_and_when() -> None:
    run = on_day(7, accelerators=2)
    (row,) = rows(index.page([run]))
    for word in (f"2{RATIO} NVIDIA H200", "2026-03-07 12:30", "2.13.0", "standard"):
        assert word in row
    assert str(run.cases) in row


def named(
    name: str,
    device: str,
    day: int,
    speed: float = 1.0,
    **changes: Any,  # noqa: ANN401
) -> Summary:
    """Return a run of a machine with another device, so many times as fast in all."""
    faster = {
        exercise: {case: log - math.log(speed) for case, log in each.items()}
        for exercise, each in measured(1).times.items()
    }
    return on_day(day, name, **({"device": device, "times": faster} | changes))


CARDS = [
    named("a", "Card A", 1),
    named("a", "Card A", 2),
    named("b", "Card B", 3, 3.0),
    named("c", "Card A", 4, 1.1),
    named("d", "Card C", 5, 2.0),
]


def test_a_device_has_one_row_and_the_fastest_comes_first() -> None:
    page = index.page(CARDS)
    speeds = {}
    for row, words in zip(
        devices(page),
        ("Card B", "Card C", "Card A 3 runs, 2 specimens"),
        strict=True,
    ):
        assert words in row
        speeds[words[:6]] = [float(one) for one in re.findall(rf"([\d.]+)(?={RATIO}| to)", row)]
    assert speeds["Card B"][0] == pytest.approx(3 / 1.1, rel=0.01)
    assert speeds["Card C"][0] == pytest.approx(2 / 1.1, rel=0.01)
    assert speeds["Card A"] == [1, pytest.approx(1 / 1.1, rel=0.01), 1]
    assert links(page, "devices") == ["b/3.html", "d/5.html", "c/4.html"]
    assert f"Fastest under training: Card B, 1.5{RATIO} Card C." in Reader(page).text


def test_the_best_is_named_and_bold_only_where_that_is_conclusive() -> None:
    price = Price(re.compile("NVIDIA"), None, 500.0, "USD", "2026-01-01", "list", "a list", "")
    cards = [named("a", "Card A", 1), named("b", "Card B", 2, 2.0), named("c", "Card C", 3, 2.001)]
    page = index.page(cards, [price])
    text = Reader(page).text
    assert "Fastest under training: Card C or Card B (not conclusive)." in text
    assert "Most speed for its price: Card C or Card B (not conclusive)." in text
    assert 'class="best"' not in body(page, "devices")
    page = index.page(cards[:2], [price])
    assert f"Card B, 2{RATIO} Card A. Most speed for its price: Card B." in Reader(page).text
    assert body(page, "devices").count('class="best"') == 1


def test_a_doubtful_run_is_marked_and_leads_no_sentence_among_others() -> None:
    price = Price(re.compile("NVIDIA"), None, 500.0, "USD", "2026-01-01", "list", "a list", "")
    doubt = "142 of 144 cases noisy"
    noisy = named("e", "Card E", 6, 9.0, doubt=doubt)
    page = index.page([*CARDS[1:3], CARDS[4], noisy], [price])
    assert doubt in devices(page)[0]
    assert (
        sum(doubt in row for row in devices(page)) == sum(doubt in row for row in rows(page)) == 1
    )
    text = Reader(page).text
    assert f"Fastest under training: Card B, 1.5{RATIO} Card C." in text
    assert "Most speed for its price: Card B. Left out: 1 device whose run is doubtful." in text
    assert "Fastest under" not in Reader(index.page([CARDS[1], noisy], [price])).text


def test_a_run_is_doubtful_if_most_of_its_cases_are_noisy_or_other_programs_ran() -> None:
    run = factory.run(profile="quick")
    assert not of(run, "a").doubt
    for launch in run.frobench.launches:
        launch.others = 1.0
    assert of(run, "a").doubt == "other programs used 1.0 of 2 cores"
    for launch in run.frobench.launches:
        launch.others = 0.01
    run.frobench.conclusions = [
        Conclusion(code="noisy-case", severity="warning", message="", advice="", case=one.fullname)
        for one in run.benchmarks
    ]
    count = len(run.benchmarks)
    assert of(run, "a").doubt == f"{count} of {count} cases noisy"
    del run.frobench.conclusions[: count // 2 + 1]
    assert not of(run, "a").doubt


def test_the_baseline_is_named_or_the_newest_run_of_the_device_with_most_runs() -> None:
    assert "Baseline, 1\N{MULTIPLICATION SIGN}: Card A." in Reader(index.page(CARDS)).text
    page = index.page(CARDS, reference="b/3.html")
    assert "Baseline, 1\N{MULTIPLICATION SIGN}: Card B." in Reader(page).text


def test_of_runs_of_one_second_the_baseline_is_the_one_with_the_last_address() -> None:
    cards = [named("a", "Card A", 1), named("b", "Card B", 1)]
    for runs in (cards, cards[::-1]):
        assert "Baseline, 1\N{MULTIPLICATION SIGN}: Card B." in Reader(index.page(runs)).text


def test_an_invalid_run_says_why_in_its_row() -> None:
    fault = "clock: it stood still"
    page = index.page(
        [on_day(2, "a"), named("b", "Card B", 1, faults=(fault,), times={}, scored={})]
    )
    assert f"invalid run, not ranked {fault}" in devices(page)[1]
    assert data(page)["invalid"] == {"1": fault}


def test_a_device_has_its_newest_run_that_ended_without_errors() -> None:
    runs = [
        on_day(1, "a"),
        on_day(2, "a", complete=False),
        on_day(3, "b", faults=("clock: it stood still",), times={}),
    ]
    page = index.page(runs)
    assert links(page, "devices") == ["a/1.html"]
    assert "3 runs, 2 specimens" in devices(page)[0]


def test_devices_without_a_common_case_come_last_and_say_so() -> None:
    page = index.page([on_day(1, "cpu", accelerators=0), on_day(2, "gpu")])
    assert links(page, "devices") == ["gpu/2.html", "cpu/1.html"]
    assert "no common case" in devices(page)[1]


def test_prices_and_values_are_those_of_one_device() -> None:
    two = named("two", "Card B", 2, 3.0, count=2)
    price = Price(re.compile("NVIDIA"), None, 500.0, "USD", "2026-01-01", "list", "a list", "")
    found = devices(index.page([named("a", "Card A", 1), two], [price]))
    assert all("500" in row for row in found)
    assert "unknown" not in found[0].partition("500")[2]


def test_amounts_have_the_digits_and_the_memory_of_the_run_s_page() -> None:
    run = summary("a", accelerators=0)
    first, *others = run.axes.axes
    vague = replace(first, value=Estimate(44.2e9, 36e9, 55e9, launches=7))
    found = data(index.page([replace(run, axes=replace(run.axes, axes=[vague, *others]))], []))
    assert found["axes"][0][0][1] == 44e9
    (hardware,) = found["hardware"]["values"]
    assert run.axes.memory_bytes
    assert hardware[3] == run.axes.memory_bytes


def test_devices_of_a_run_that_used_none_of_them_are_priced_alike_everywhere() -> None:
    run = summary("a", places=())
    assert equipment_of(run).device == "NVIDIA H200"
    assert equipment_of(summary("a")).count == 1


def test_without_an_engine_the_index_says_so_and_shows_the_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(*_: object) -> object:
        message = "quickjs-ng is missing."
        raise script.MissingEngineError(message)

    monkeypatch.setattr(script, "call", missing)
    page = index.page([on_day(1)])
    assert "No speed is shown: quickjs-ng is missing." in Reader(page).text
    assert links(page, "runs") == ["a/1.html"]


def test_a_run_with_an_error_has_no_axis_where_others_have_theirs() -> None:
    found = data(index.page([on_day(2, "a"), on_day(1, "b", faults=("clock: it stood still",))]))
    names = [found["axis_kinds"][kind][0] for kind, _ in found["axes"][0]]
    assert {"compute", "memory", "link_to_device"} <= set(names)
    assert found["axes"][1] == []


def test_a_row_tells_what_to_doubt() -> None:
    runs = [
        on_day(9, complete=False, failed=2, faults=("clock: it stood still",)),
        on_day(8, "b", change=changed(slower=("matmul.square[16]",), compared=4)),
        on_day(7, "c", change=changed(differences=("software.torch",))),
        on_day(6, "d", change=changed()),
    ]
    page = index.page(runs)
    partial, slower, other, same = rows(page)
    assert "partial" in partial
    assert "2 failed" in partial
    assert "errors" in partial
    assert "1 slower of 4" in slower
    assert "not comparable: torch" in other
    assert "no conclusive change in 9 cases" in same
    assert "On 1 machine cases became slower" in Reader(page).text


def test_the_order_of_the_runs_moves_nothing() -> None:
    runs = [on_day(day, name, seed=day % 3) for day in (1, 2, 3) for name in ("a", "b")]
    assert index.page(runs) == index.page(runs[::-1])


def test_no_runs_are_told_plainly() -> None:
    page = index.page([])
    assert "There is nothing to show yet" in page
    assert "<table" not in page


def against(page: str, run: int, reference: int) -> dict[str, list[float]]:
    """Return the log speed ratios that a script finds, by exercise."""
    found = data(page)
    names = [one["name"] for one in found["exercises"] for _ in range(one["cases"])]
    mine, other = (unpack(found["times"], place) for place in (run, reference))
    logs: dict[str, list[float]] = {}
    for case in mine.keys() & other.keys():
        logs.setdefault(names[case], []).append((other[case] - mine[case]) * STEP)
    return logs


def slowed(run: Run, times: float) -> Run:
    for case in run.benchmarks:
        set_samples(case, [[times * one for one in each] for each in samples(case)])
    return run


def renamed(run: Run) -> Run:
    """Return a run whose accelerators have another maker."""
    return msgspec.json.decode(msgspec.json.encode(run).replace(b"cuda", b"xpu"), type=Run)


def test_cases_of_other_devices_of_the_kind_are_held_against_each_other() -> None:
    run = made(accelerators=2, seed=1)
    passed = sum(one.status == "passed" for one in run.frobench.outcomes)
    fast = on_day(2, "fast", accelerators=2)
    slow = of(renamed(slowed(run, 3)), "slow")
    logs = against(index.page([fast, slow]), 0, 1)
    assert sum(map(len, logs.values())) == passed
    assert {"matmul", "matmul.cpu"} <= logs.keys()
    for ratios in logs.values():
        assert ratios == [pytest.approx(math.log(3), abs=STEP)] * len(ratios)


def an_error(case: str | None = None) -> Conclusion:
    return Conclusion(code="clock", severity="error", message="Stood still.", advice="", case=case)


def other_version(case: Case, _: Run) -> None:
    case.extra_info.version = "another"


def no_time(case: Case, _: Run) -> None:
    set_samples(case, [[0.0] * len(each) for each in samples(case)])


def failed(case: Case, run: Run) -> None:
    (mine,) = (one for one in run.frobench.outcomes if one.fullname == case.fullname)
    mine.status = "failed"


def in_error(case: Case, run: Run) -> None:
    run.frobench.conclusions.append(an_error(case.fullname))


@pytest.mark.parametrize("change", [other_version, no_time, failed, in_error])
def test_what_is_not_the_same_work_or_does_not_count_has_no_ratio(
    change: Callable[[Case, Run], None],
) -> None:
    good, run = on_day(2, "good"), made(accelerators=1, seed=1)
    for case in run.benchmarks:
        if case.group == "matmul":
            change(case, run)
    assert compared(good, of(run, "odd")) == compared(good, good) - {"matmul", "matmul.cpu"}


def test_a_run_with_an_error_has_no_ratio() -> None:
    run = made(accelerators=1, seed=1)
    run.frobench.conclusions.append(an_error())
    assert compared(on_day(2, "good"), of(run, "faulty")) == set()


def compared(one: Summary, other: Summary) -> set[str]:
    """Return the exercises in which two runs have a ratio."""
    page = index.page([one, replace(other, machine_id="other", href="other/run.html")])
    return {name for name, logs in against(page, 0, 1).items() if logs}


HELD = """(data) => {
    const reader = ratios.reader(data), against = reader.against(1);
    const mean = against.mean(0, "training"), own = against.mean(1, "training");
    const told = ratios.comparison(data, reader, [1, 0], (i) => ({ run: i }));
    const weights = economics.weightsOf(told, "training");
    const score = economics.score(told, told.machines[1], weights);
    return { mean, estimate: ratios.estimate(mean), own, told, score };
}"""


def test_the_script_s_score_is_that_of_the_runs() -> None:
    one, other = on_day(2, "a", seed=1), on_day(1, "b", seed=2)
    found = data(index.page([one, other]))
    got: Any = script.call(HELD, found)
    reference, machine = got["told"]["machines"]
    parts = {part["name"]: part["weights"].get("training", 0) for part in got["told"]["parts"]}
    weights = {name: weight for name, weight in parts.items() if weight}
    logs = machine["parts"]["logs"]
    mean = sum(weights[name] * logs[name] for name in weights) / sum(weights.values())
    assert got["mean"]["log"] == pytest.approx(mean) == got["score"]["speed"]["log"]
    assert got["mean"]["count"] == got["mean"]["total"] == got["score"]["cases"] > 0
    assert got["mean"]["error"] == pytest.approx(got["score"]["speed"]["error"])
    assert got["estimate"]["low"] < got["estimate"]["value"] < got["estimate"]["high"]
    assert got["own"]["log"] == got["own"]["error"] == 0
    assert reference["logs"] == dict.fromkeys(reference["logs"], 0)
    for name, ratios in by_exercise(one, other).items():
        assert machine["logs"][name] == pytest.approx(fmean(ratios), abs=STEP)
        assert machine["counts"][name] == len(ratios)
        assert machine["worst"][name] <= machine["logs"][name] <= machine["best"][name]


def test_missing_cases_are_bounded_by_the_best_and_the_worst_that_the_machine_has() -> None:
    one = on_day(2, "a")
    (whole, (first, second, *_)), (lost, _), *_ = (
        (name, [*cases]) for name, cases in one.times.items() if not name.endswith(".cpu")
    )
    its = {
        case: one.times[whole][case] - math.log(times) for case, times in ((first, 8), (second, 2))
    }
    few = on_day(3, "b", times={whole: its, "matmul.cpu": one.times["matmul.cpu"]})
    _, machine = script.call(HELD, data(index.page([few, one])))["told"]["machines"]  # type: ignore[index]
    count = len(one.times[whole])
    for end, times in (("best", 8), ("worst", 2)):
        bound = (math.log(8) + math.log(2) + (count - 2) * math.log(times)) / count
        assert machine[end][whole] == pytest.approx(bound, abs=STEP)
        assert machine[end][lost] == pytest.approx(math.log(4), abs=STEP)


def by_exercise(one: Summary, other: Summary) -> dict[str, list[float]]:
    """Return the logs of the speed ratios of cases that need an accelerator, by exercise."""
    return {
        name: [other.times[name][case] - log for case, log in each.items()]
        for name, each in one.times.items()
        if not name.endswith(".cpu")
    }


def test_hostile_strings_are_shown_and_do_nothing() -> None:
    run = summary()
    software = replace(run.environment.software, torch=HOSTILE)
    hostile = replace(
        run,
        title=HOSTILE,
        device=HOSTILE + "W" * 10_000,
        datetime=HOSTILE,
        environment=replace(run.environment, software=software),
        times={HOSTILE: {1: -3.0}},
        change=changed(slower=(HOSTILE,), differences=(HOSTILE,)),
    )
    page = index.page([hostile, on_day(1, "b")])
    assert page.count("<script") == page.count("</script>") == len(index.SCRIPTS) + 1
    assert "alert('x')" not in re.sub(
        r"&lt;script&gt;alert\((&#39;|')x|u003cscript\\u003ealert", "", page
    )
    assert not {"\x00", "\u202e"} & set(page)
    assert data(page)["devices"]["values"][0][0].startswith("<script>alert('x')")
    assert "{{7*7}}" in rows(page)[0]


def test_a_thousand_runs_of_three_hundred_cases_fit_the_page() -> None:
    """What a run adds, by one more of them, is what a thousand add a thousand times."""
    few, more = (len(index.page([on_day(1, f"m{i}") for i in range(count)])) for count in (2, 12))
    cases = sum(map(len, summary().times.values()))
    row = (more - few) / 10 - 2 * cases
    assert 1000 * (row + 2 * 300 + 3 * 15) + few < 1.5e6
