# SPDX-License-Identifier: MIT
"""The page for who chooses between machines: true sentences, ties as ties, nothing guessed."""

import csv
import io
import json
import re
import sys
from hashlib import sha256
from math import exp, log
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.files.metadata import ANYWHERE
from frobench.reports.findings.finding import RATIO
from frobench.reports.purchase import prices, purchase, purchase_files, script
from frobench.reports.purchase.comparison import Comparison, Exercise, Less, Machine, Rate, Rent
from frobench.reports.purchase.machines import compare_measured
from frobench.reports.purchase.measured import Measured
from frobench.reports.purchase.purchase import Shown
from frobench.reports.site import build
from frobench.reports.web.render import HERE
from frobench.suite import checks
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion, Run
from tests.instruments.faults.judging import of_its_name
from tests.instruments.runs import factory
from tests.instruments.runs.factory_comparison import UNKNOWN, compared
from tests.reports.run.test_page import HOSTILE, Reader

SIDES = ("matmul", "copies")


def machine(name: str, *ratios: float, error: float | None = 0.01, **known: object) -> Machine:
    """Return a machine whose exercises are so many times as fast as the reference's."""
    logs = {side: log(ratio) for side, ratio in zip(SIDES, ratios, strict=False)}
    spread = [[error**2 * (a == b) if error else 0.0 for a in SIDES] for b in SIDES]
    base = replace(
        UNKNOWN,
        run=name,
        title=f"{name}, 8 cores",
        href=f"{name}.html",
        device=name,
        watts=700.0,
        watts_source="datasheet",
        memory_bytes=80 * 2**30,
        logs=logs,
        covariance=None if error is None else spread,
        quantile=None if error is None else 2.0,
        counts={side: 10 * (side in logs) for side in SIDES},
        best={side: logs.get(side, log(4)) for side in SIDES},
        worst={side: logs.get(side, log(0.5)) for side in SIDES},
    )
    if "price" in known:
        known = {"currency": "USD", "price_date": "2026-01-01", "price_source": "a shop"} | known
    return replace(base, **known)


def held(*others: Machine, **known: object) -> list[Comparison]:
    """Return machines beside a reference of two exercises, and beside each other."""
    sides = [Exercise(name=side, title=side, total=10, weight=1.0) for side in SIDES]
    reference = replace(
        machine("base", 1.0, 1.0, error=None), quantile=0.0, covariance=[[0.0] * 2] * 2
    )
    shown = compared("base", sides, [replace(reference, **known), *others])
    return [shown, *(turned(shown, one) for one in others)]


def beside(*others: Machine, **known: object) -> Shown:
    """Return what is shown of machines beside a reference of two exercises."""
    return purchase.show(held(*others, **known))


def viewed(comparisons: list[Comparison], function: str) -> Any:  # noqa: ANN401 - as JSON has it
    """Return what a function makes of the view of some machines."""
    made = "purchase.view(all[0], all, new Map())"
    return script.call(f"(all) => ({function})({made})", comparisons)


def front(comparisons: list[Comparison], across: str) -> Any:  # noqa: ANN401 - as JSON has it
    """Return the machines on a chart: name, amount, and where each stands."""
    words = "[row.name, row.each[across], purchaseFront.word(one)]"
    points = "purchaseFront.front(view, across).map((one) => { const { row } = one;"
    function = f"(view) => {{ const across = '{across}'; return {points} return {words}; }}); }}"
    return viewed(comparisons, function)


def turned(shown: Comparison, to: Machine) -> Comparison:
    """Return the same machines beside another of them, as if their errors were independent."""

    def turn(one: Machine) -> Machine:
        logs = {side: one.logs[side] - to.logs[side] for side in one.logs if side in to.logs}
        if one is to or one.covariance is None or to.covariance is None:
            sure = replace(one, covariance=[[0.0] * 2] * 2, quantile=0.0)
            return replace(sure if one is to else replace(one, covariance=None), logs=logs)
        both = zip(one.covariance, to.covariance, strict=True)
        spread = [[a + b for a, b in zip(*rows, strict=True)] for rows in both]
        return replace(one, logs=logs, covariance=spread, quantile=2.0)

    return compared(to.run, shown.exercises, [turn(one) for one in shown.machines])


def said(shown: Shown) -> str:
    return " ".join(shown.sentences)


def test_the_first_sentence_says_how_fast_with_its_interval_and_over_what() -> None:
    assert said(beside(machine("fast", 2.0))).startswith(
        "Under training, fast is 2.00 [1.96, 2.04] times as fast as base (10 of 20 cases)."
    )


def test_what_does_not_separate_is_not_called_faster() -> None:
    assert "near is not conclusively faster or slower than base: it is 1.01" in said(
        beside(machine("near", 1.01))
    )
    both = said(beside(machine("fast", 2.0, 2.0), machine("same", 1.99, 1.99)))
    assert "No measurable difference between fast and same." in both


@pytest.mark.parametrize(("errors", "ranks"), [(1.5, [1, 2]), (2.5, [1, 1])])
def test_faster_is_conclusive_beyond_the_interval_and_not_beyond_one_standard_error(
    errors: float, ranks: list[int]
) -> None:
    near = machine("near", exp(errors * 0.01), error=0.01)  # its interval reaches two errors down
    assert viewed(held(near), "(view) => view.rows[0].ranks") == ranks
    assert ("not conclusively faster" in said(beside(near))) == (ranks == [1, 2])


def test_the_fastest_is_named_where_it_surely_is() -> None:
    fast, slow = machine("fast", 2.0, 2.0), machine("slow", 0.5, 0.5)
    assert "fast is the fastest (95%)." in said(beside(fast, slow))
    assert "base is the fastest (95%)." in said(beside(machine("slower", 0.4, 0.4), slow))
    lost = beside(fast, slow, machine("lost"))
    assert "fast is the fastest that can be compared (95%)." in said(lost)
    assert "fastest" not in said(beside(fast, machine("same", 1.99, 1.99)))
    assert "fastest" not in said(beside(fast))


def test_without_an_interval_nothing_is_sure() -> None:
    few = held(machine("few", 9.0, 9.0, error=None), machine("fast", 2.0, 2.0))
    text = said(purchase.show(few))
    assert "with too few launches for an interval" in text
    assert "measurable difference" not in text
    assert viewed(few, "(view) => view.rows[0].ranks") == [1, 3]
    near = said(beside(machine("few", 1.001, 1.001, error=None)))
    assert (
        "few is about as fast as base (20 of 20 cases); too few launches to be conclusive." in near
    )


def test_places_are_shared_by_what_does_not_separate() -> None:
    shown = held(machine("fast", 2.0, 2.0), machine("same", 1.99, 1.99), machine("slow", 0.5))
    assert viewed(shown, "(view) => view.rows.map(({ name, ranks }) => [name, ...ranks])") == [
        ["fast", 1, 2],
        ["same", 1, 2],
        ["base", 3, 3],
        ["slow", 4, 4],
    ]


def test_another_machine_changes_no_figure_of_the_others() -> None:
    few = held(machine("fast", 2.0, 1.5), machine("slow", 0.5))
    more = held(machine("fast", 2.0, 1.5), machine("slow", 0.5), machine("other", 1.7, 3.0))
    ratios = "(view) => Object.fromEntries(view.rows.map(({ name, ratio }) => [name, ratio]))"
    assert viewed(few, ratios).items() <= viewed(more, ratios).items()


def test_a_price_that_nobody_knows_is_not_known() -> None:
    shown = beside(machine("cheap", 1.0, 1.0, price=500.0), machine("unknown", 2.0, 2.0))
    assert "No price in USD is known for unknown and base." in said(shown)
    rows = Reader(shown.parts["worth"]).text
    assert "500 USD 500 USD" in rows
    assert rows.count("not known") == 2 * 5
    assert f'data-l="Value, {RATIO} per 1,000 USD"' in shown.parts["cards"]
    assert f'data-l="Speed, {RATIO} base"' in shown.parts["cards"]


def test_what_the_verdicts_say_is_not_said_above_them_too() -> None:
    priced = (machine(name, n, n, price=500.0) for name, n in (("fast", 2.0), ("slow", 0.5)))
    shown = beside(*priced, machine("broken", invalid="clock-set-back"))
    above, verdicts = (Reader(shown.parts[part]).text for part in ("summary", "verdicts"))
    assert "fast is the fastest" in said(shown)
    assert "Best value by purchase price: fast." in said(shown)
    assert "Fastest under training fast" in verdicts
    assert "Best value by purchase price fast" in verdicts
    assert "Under training, fast is 2.00" in above
    assert "broken is not ranked" in above
    assert "astest" not in above
    assert "Best value" not in above
    chart = Reader(shown.parts["front"]).text
    assert "Not shown: base and broken (invalid run). Price of a device or speed is" in chart


def test_prices_in_another_currency_are_not_mixed() -> None:
    shown = held(
        machine("here", 1.0, price=500.0), machine("there", 1.0, price=400.0, currency="EUR")
    )
    known = "(view) => [view.settings.currency, ...view.rows.map(({ amounts }) => amounts.price)]"
    assert viewed(shown, known) == ["USD", None, 500, None]


@pytest.mark.parametrize(
    ("set_to", "budget"),
    [("500", 500), ("500 USD", 500), ("500 EUR", None), ("0.0000001 USD", 0), ("", None)],
)
def test_a_budget_in_another_currency_is_passed_over_and_almost_nothing_is_nothing(
    set_to: str, budget: float | None
) -> None:
    asked = f"new Map([['budget', {set_to!r}]])"
    function = f"(all) => purchase.view(all[0], all, {asked}).settings.budget"
    assert script.call(function, held(machine("fast", 2.0, price=900.0))) == budget


def worth(shown: Shown) -> str:
    return Reader(shown.parts["worth"]).text


def test_speed_per_watt_needs_no_power_of_the_reference() -> None:
    text = worth(beside(machine("fast", 2.1, 2.1, watts=350.0), watts=None))
    assert f"350 W 0.600{RATIO} [0.592, 0.609]" in text
    assert "Work per joule" not in text


def test_measured_energy_has_a_column_of_its_own_and_is_never_a_limit() -> None:
    energy = Less(log=log(3), variance=1e-4, quantile=2.0, cases=4)
    text = worth(beside(machine("thrifty", 2.0, 2.0, energy=energy, watts=None)))
    assert "Work per joule, measured" in text
    assert f"not known not known 3.00{RATIO} [2.94, 3.06] 4 cases" in text
    assert "not measured" in text


def test_a_rate_has_its_price_where_the_price_is_known() -> None:
    rate = Rate(precision="bfloat16", value=8e14, low=7.9e14, high=8.1e14)
    text = worth(beside(machine("fast", 2.0, price=8000.0, rates=[rate]), rates=[rate]))
    assert "800 TFLOP/s [790, 810] 10.00 USD per TFLOP/s [9.88, 10.13]" in text
    assert text.count("800 TFLOP/s") == 2
    assert text.count("per TFLOP/s") == 1


def test_what_gives_most_for_its_price_is_named_and_ties_are_too() -> None:
    dear, cheap = machine("dear", 2.0, 2.0, price=5000.0), machine("cheap", 1.0, 1.0, price=1000.0)
    assert "Best value by purchase price: cheap." in said(beside(dear, cheap))
    tied = said(beside(replace(dear, price=2000.0), cheap))
    assert "Best value by purchase price: dear or cheap (not conclusive)." in tied


def test_several_devices_are_no_dearer_for_the_work_of_one() -> None:
    eight = machine("eight", 1.0, 1.0, price=8000.0, count=8)
    eight = replace(eight, watts=5600.0, memory_bytes=640 * 2**30)
    machines = held(eight, price=1000.0, currency="USD", price_date="2026-01-01")
    shown = purchase.show(machines)
    text = said(shown)
    assert f"Best value by purchase price: base or 8{RATIO} eight (not conclusive)." in text
    assert "have 1 to 8 devices; a ratio is that of equally many on either side" in text
    assert "8,000 USD 1,000 USD [986, 1,014]" in worth(shown)
    assert "5.6 kW 0.143" in worth(shown)
    assert {amount for _, amount, _ in front(machines, "memory")} == {80 * 2**30}


def test_a_price_tells_its_date_its_source_and_from_a_year_on_its_age() -> None:
    lent = Rent(price=4.5, currency="EUR", date="2026-01-15", kind="rent", source="a host")
    card = machine("card", price=1000.0, price_kind="MSRP", price_date="2024-01-02", rent=lent)
    notes = Reader(purchase.show(held(replace(card, measured="2026-02-03"))).parts["notes"]).text
    assert "1,000 USD: MSRP, 2024-01-02 (2 years before this run), says a shop" in notes
    assert "4.5 EUR an hour: rent, 2026-01-15, says a host" in notes
    same_day = Reader(purchase.show(held(replace(card, measured="2024-01-02"))).parts["notes"]).text
    assert "MSRP, 2024-01-02, says a shop" in same_day


def test_no_accelerator_is_priced_by_the_work_of_the_processor_beside_it() -> None:
    sides = [Exercise(name="matmul.cpu", title="products", total=10, weight=1.0)]
    logs = {"matmul.cpu": 0.0}
    ends = {"best": logs, "worst": logs, "counts": {"matmul.cpu": 10}, "covariance": [[0.0]]}
    base = replace(machine("base"), logs=logs, **ends, watts=None, memory_bytes=None)
    card = replace(machine("card", price=1000.0), logs=logs, **ends, beyond={"matmul": 9})
    both = [compared(one, sides, [base, card]) for one in ("base", "card")]
    shown = purchase.show(both)
    assert "base measured no accelerator" in said(shown)
    assert "most for" not in said(shown)
    assert "1,000 USD not known" in worth(shown)
    assert front(both, "watts") == []


def test_missing_cases_are_counted_and_bounded_and_never_filled_in() -> None:
    ends = {"matmul": log(4), "copies": None}
    few = {"matmul": 5, "copies": 0}
    shown = beside(machine("half", 2.0, best=ends, worst={**ends, "matmul": 0.0}, counts=few))
    assert "5 of 20" in Reader(shown.parts["speed"]).text
    text = Reader(shown.parts["exercises"]).text
    assert f"1{RATIO} to 4{RATIO} if the missing were like the worst or the best" in text
    assert "no common case" in text


def test_a_single_common_case_bounds_nothing() -> None:
    ends = dict.fromkeys(SIDES, log(2))
    few = {"matmul": 5, "copies": 0}
    shown = beside(machine("half", 2.0, best=ends, worst=ends, counts=few))
    text = Reader(shown.parts["exercises"]).text
    assert "5 of 10" in text
    assert "if the missing" not in text


def test_the_front_says_who_is_beaten_by_whom_and_what_is_not_sure() -> None:
    machines = held(
        machine("fast", 2.0, 2.0, price=3000.0),
        machine("poor", 1.0, 1.0, price=4000.0),
        machine("dearer", 2.01, 2.01, price=9000.0),
    )
    assert {name: word for name, _, word in front(machines, "price")} == {
        "dearer": "on the front; not conclusively faster than fast",
        "fast": "on the front",
        "poor": "beaten by fast",
    }
    drawing = purchase.show(machines).parts["front"]
    assert drawing.count('class="ring"') == 2
    assert "poor: beaten by fast" in drawing


def test_labels_keep_off_each_other_and_off_the_points() -> None:
    crowd = [(50.0, 100.0)] * 4 + [(51.0, 104.0), (90.0, 100.0)]
    offsets: Any = script.call("drawing.labels", crowd)
    placed = [(x * 2.4, y + step) for (x, y), step in zip(crowd, offsets, strict=True)]
    taken = placed + [(x * 2.4, y) for x, y in crowd]
    for number, one in enumerate(placed):
        others = [*taken[:number], *taken[number + 1 :]]
        assert all(abs(one[0] - x) >= 11 or abs(one[1] - y) >= 14 for x, y in others)


@pytest.mark.parametrize("values", [[1.0], [0.9, 1.1], [2e-3, 5e6], [31_000.0, 32_000.0]])
def test_an_axis_holds_its_values_and_round_numbers(values: list[float]) -> None:
    spans = "(values) => { const axis = drawing.spanning(values); AXIS }"
    axis = "return [values.map(axis.at), axis.ticks()];"
    found: Any = script.call(spans.replace("AXIS", axis), values)
    places, ticks = found
    assert all(0 < at < 100 for at in places)
    assert 3 <= len(ticks) <= 5
    assert all(0 <= at <= 100 for at, _ in ticks)


def test_machines_are_listed_in_words() -> None:
    assert purchase_files.title(["a", "b", "c"]) == "a, b and c side by side"
    assert script.call("purchaseView.listed", ["a"]) == "a"
    assert script.call("purchaseView.listed", ["a", "b", "c"]) == "a, b and c"


def test_without_the_engine_only_this_page_is_refused(
    runs: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / str(number) for number in range(2)]
    for path, run in zip(paths, runs.values(), strict=False):
        path.write_bytes(store.encode(run))
    monkeypatch.setitem(sys.modules, "quickjs", None)
    script.context.cache_clear()
    beside = purchase.Maker(paths, None, [])
    try:
        build.build(paths, tmp_path / "site", beside=[beside])
    finally:
        script.context.cache_clear()
    assert not beside.made
    assert "has no package quickjs-ng" in beside.refused
    assert (tmp_path / "site" / "index.html").exists()
    assert not (tmp_path / "site" / purchase.PAGE).exists()


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    quick = {
        f"m/{seed}.html": factory.run(seed=seed, accelerators=1, profile="quick", slower=slower)
        for seed, slower in ((1, 1.0), (2, 1.5))
    }
    spoilt = factory.run(seed=3, accelerators=1, profile="quick", partial=True)
    spoilt.frobench.environment.accelerators[0] = replace(
        spoilt.frobench.environment.accelerators[0], name=HOSTILE
    )
    of_its_name(spoilt.frobench.environment)
    return quick | {"m/3.html": spoilt}


@pytest.fixture(scope="module")
def made(runs: dict[str, Run]) -> dict[str, bytes]:
    return purchase.files(runs, "m/2.html", prices.read())


def test_the_page_holds_a_comparison_with_each_machine_for_its_scripts(
    made: dict[str, bytes],
) -> None:
    text = made[purchase.PAGE].decode()
    (block,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text)
    assert not re.search(r"[<>&\u2028\u2029]", block)
    found = json.loads(block)
    assert [one["reference"] for one in found] == ["m/2", "m/1", "m/3"]
    assert [one["run"] for one in found[0]["machines"]] == ["m/1", "m/2", "m/3"]


def test_of_runs_of_one_second_the_baseline_is_the_one_with_the_last_address(
    runs: dict[str, Run],
) -> None:
    when = runs["m/1.html"].datetime
    same = {href: replace(runs[href], datetime=when) for href in ("m/1.html", "m/2.html")}
    for order in (same, dict(reversed(same.items()))):
        text = purchase.files(order, None, [])[purchase.PAGE].decode()
        (block,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text)
        assert json.loads(block)[0]["reference"] == "m/2"


def test_hostile_names_stay_text(made: dict[str, bytes]) -> None:
    text = made[purchase.PAGE].decode()
    assert "<script>alert" not in text
    assert "<script>alert" in Reader(text).text
    assert not re.search("[\x00\u202e]", text)


def test_each_run_tells_its_doubts_with_links_to_where_its_page_does(
    made: dict[str, bytes],
) -> None:
    page = Reader(made[purchase.PAGE].decode())
    assert "This run is partial." in page.text
    links = page.attributes("href")
    assert {f"m/{seed}.html#doubts" for seed in (1, 2, 3)} <= {*links}
    assert "m/1.html#exercise-matmul" in links


def test_the_download_has_a_row_for_each_machine_and_exercise(made: dict[str, bytes]) -> None:
    rows = [*csv.DictReader(io.StringIO(made["purchase.csv"].decode()))]
    mine = [row for row in rows if row["run"] == "m/1"]
    assert len(mine) == len({row["exercise"] for row in rows})
    for row in mine:
        assert float(row["low"]) <= float(row["ratio"]) <= float(row["high"])
        assert log(float(row["ratio"])) == pytest.approx(float(row["log_ratio"]))
        assert int(row["cases"]) <= int(row["every"])


def test_only_files_that_have_a_page_are_laid_side_by_side(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_bytes(b"")
    lone = purchase.Maker(paths, None, [])
    assert lone({}, ANYWHERE) == {}
    assert not lone.made


def test_a_copy_of_a_file_is_the_same_reference(runs: dict[str, Run], tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number, _ in enumerate(runs)]
    for path, run in zip(paths, runs.values(), strict=True):
        path.write_bytes(store.encode(run))
    copy = tmp_path / "copy"
    copy.write_bytes(paths[1].read_bytes())
    pages = {
        sha256(path.read_bytes()).hexdigest(): href for path, href in zip(paths, runs, strict=True)
    }
    made = purchase.Maker([*paths, copy], copy, [])(pages, ANYWHERE)
    read = {href: checks.judged(run) for href, run in runs.items()}
    assert made == purchase.files(read, "m/2.html", [])


@pytest.fixture(scope="module")
def faulty() -> Run:
    run = factory.run(seed=4, accelerators=1, profile="quick")
    error = Conclusion(
        code="clock-set-back", severity="error", message="launch 3 began too early", advice=""
    )
    run.frobench.conclusions = [error]
    return run


def test_a_reference_with_an_error_is_told_plainly_and_why(
    runs: dict[str, Run], faulty: Run
) -> None:
    made = purchase.files(runs | {"m/4.html": faulty}, "m/4.html", prices.read())
    text = Reader(made[purchase.PAGE].decode()).text
    assert "can be compared: choose another reference" in text
    assert "Its run is invalid: clock-set-back: launch 3 began too early." in text
    assert not Measured.of(faulty).rates


def test_an_invalid_run_has_no_rate_and_no_axis_on_the_page(
    runs: dict[str, Run], faulty: Run
) -> None:
    text = purchase.files(runs | {"m/4.html": faulty}, "m/1.html", [])[purchase.PAGE].decode()
    (block,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text)
    known = {one["run"]: (one["rates"], one["axes"]) for one in json.loads(block)[0]["machines"]}
    assert known.pop("m/4") == ([], [])
    assert all(rates and axes for rates, axes in known.values())


def test_unless_one_is_named_the_reference_is_the_newest_whole_run_of_the_commonest_accelerator(
    runs: dict[str, Run], faulty: Run
) -> None:
    bare = factory.run(seed=5, profile="quick")
    made = purchase.files({"m/4.html": faulty, "m/5.html": bare} | runs, None, [])
    letter = "C" if runs["m/1.html"].datetime >= runs["m/2.html"].datetime else "D"
    text = Reader(made[purchase.PAGE].decode()).text
    assert f"NVIDIA H200 ({letter}) (the reference)" in text
    assert f"Baseline, 1{RATIO}: NVIDIA H200 ({letter})." in text


def test_without_an_accelerator_on_the_reference_ratios_are_the_processors() -> None:
    bare = factory.run(seed=5, profile="quick")
    full = factory.run(seed=6, accelerators=1, profile="quick")
    both = {"bare": Measured.of(bare), "full": Measured.of(full)}
    text = said(purchase.show([compare_measured(both, one) for one in ("bare", "full")]))
    assert "on the CPU alone" in text
    assert "the ratios of NVIDIA H200 are those of the processors beside them" in text
    text = said(purchase.show([compare_measured(both, one) for one in ("full", "bare")]))
    assert "Under training nothing of AMD EPYC 9654 96-Core Processor can be compared" in text
    assert "on the CPU alone" not in text


def test_no_script_can_end_the_element_that_it_stands_in() -> None:
    for path in (HERE / "static").glob("*.js"):
        assert "</script" not in path.read_text(encoding="utf-8").lower(), path
