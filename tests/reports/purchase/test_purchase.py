# SPDX-License-Identifier: MIT
"""The page for who chooses between machines: true sentences, ties as ties, nothing guessed."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.files.metadata import ANYWHERE
from frobench.reports.purchase import machines, purchase, script
from frobench.reports.site import build
from frobench.reports.summary.model import Summary, summarise
from frobench.reports.table.launches import estimates
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.instruments.runs import made_up_cards
from tests.instruments.runs.made_up_cards import CARD, faster
from tests.instruments.runs.made_up_machines import BASE, data, machine
from tests.reports.pages import block, text_of


def of_view(function: str, known: dict[str, Any], params: str = "") -> Any:  # noqa: ANN401
    """Return what a function makes of the view of machines."""
    view = f"compare.view(data, machines, machines[0], new Map({params or '[]'}))"
    program = f"(data) => {{ const machines = model.devices(data); return ({function})({view}); }}"
    return script.call(program, known)


def summary(run: Run, href: str) -> Summary:
    """Return what is known of a run with a page, as of a machine and a device of its own."""
    digest = sha256(store.encode(run)).hexdigest()
    own = {"href": href, "machine_id": href, "device_id": href}
    return replace(summarise(run, digest, estimates(run)), **own)


def test_no_accelerator_is_priced_by_the_work_of_the_processor_beside_it() -> None:
    known = data(BASE._replace(cpu=True), machine("card", 5.0, 5.0, price=1000.0))
    known["runs"][1]["seconds"]["logs"][2:] = [0, 0]
    parts = purchase.show(known).parts
    assert text_of(parts["summary"]).startswith(
        "base measured no accelerator: the ratios of card are those of the processors beside them."
    )
    assert "Best value by purchase price unknown No price" in text_of(parts["verdicts"])


@pytest.mark.parametrize(
    ("values", "places", "ticks"),
    [
        ([1], [50], "0.5 0.7 1 1.5 2"),
        ([1, 15], [4.68, 95.32], "1 2 5 10"),
        ([1, 100], [2.86, 97.14], "1 3 10 30 100"),
        ([2e-3, 5e6], [0.64, 99.36], "0.1 10 1,000 100,000"),
    ],
)
def test_an_axis_holds_its_values(values: list[float], places: list[float], ticks: str) -> None:
    axis = "const axis = drawing.spanning(values); return [values.map(axis.at), axis.ticks()];"
    found: Any = script.call(f"(values) => {{ {axis} }}", values)
    assert found[0] == places
    assert " ".join(text for _, text in found[1]) == ticks


CARDS = {
    "m/1.html": made_up_cards.run(CARD),
    "m/2.html": made_up_cards.run(faster(CARD, 1.5, 1.5), device="Made-up chip"),
}


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    for at, run in enumerate(CARDS.values()):
        (tmp_path / str(at)).write_bytes(store.encode(run))
    return [tmp_path / str(at) for at in range(len(CARDS))]


@pytest.fixture(scope="module")
def summaries() -> list[Summary]:
    return [summary(run, href) for href, run in CARDS.items()]


@pytest.mark.usefixtures("without_engine")
def test_without_the_engine_only_this_page_is_refused(paths: list[Path], tmp_path: Path) -> None:
    beside = purchase.Maker(paths[:2], None, [])
    build.build(paths[:2], tmp_path / "site", beside=[beside])
    assert not beside.made
    assert "has no package quickjs-ng" in beside.refused
    assert (tmp_path / "site" / "index.html").exists()
    assert not (tmp_path / "site" / purchase.PAGE).exists()


def test_a_copy_of_a_file_is_the_same_reference(
    paths: list[Path], summaries: list[Summary], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copy.write_bytes(paths[1].read_bytes())
    made = purchase.Maker([*paths, copy], copy, [])(summaries, ANYWHERE)
    assert made == purchase.files(summaries, "m/2.html", [])
    held = block(made[purchase.PAGE], "#machines")
    assert held == json.loads(json.dumps(machines.data(summaries, [], "m/2.html")))


def test_runs_of_one_device_have_no_page(paths: list[Path], summaries: list[Summary]) -> None:
    same = [replace(one, device_id="same") for one in summaries]
    for shown, why in ((same, purchase.ONE_DEVICE), (summaries[:1], "")):
        beside = purchase.Maker(paths, None, [])
        assert (beside(shown, ANYWHERE), beside.made, beside.refused) == ({}, False, why)
