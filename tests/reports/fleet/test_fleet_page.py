# SPDX-License-Identifier: MIT
"""The fleet page: which node is not like the others, from stored runs with labels."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from frobench.reports.fleet import fleet_page
from frobench.reports.fleet.fleet_page import Node, compared, subject_title
from frobench.reports.making.workers import Workers
from frobench.reports.site import build
from frobench.suite.stored import asked_nodes, store
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.stored.types import Run
from tests.instruments.runs.made_up_fleet import label, placed, runs
from tests.reports.pages import parsed, text_of


def said(nodes: Sequence[Node], *asked: AskedNodes) -> str:
    """Return the words of the page of nodes."""
    return text_of(fleet_page.files(nodes, *asked)["fleet.html"])


def lead(nodes: Sequence[Node]) -> str:
    """Return the first sentences of the page."""
    return text_of(parsed(fleet_page.files(nodes)["fleet.html"]).select(".lead")[0])


def table(nodes: Sequence[Node]) -> list[list[str]]:
    """Return the words of each cell, of nodes that are unlike their peers and of the others."""
    rows = parsed(fleet_page.files(nodes)["fleet.html"]).select("tbody tr")
    return [[text_of(cell) for cell in row.select("th, td")] for row in rows]


def site(folder: Path, found: list[Run]) -> Path:
    paths = [store.write(one, folder / "results") for one in found]
    build.build(paths, folder / "site", workers=Workers(1))
    return folder / "site"


def test_the_page_names_the_slow_node_with_the_exercise_and_an_interval(tmp_path: Path) -> None:
    out = site(tmp_path, runs(3, {1: ("matmul", 1.2)}, accelerators=1))
    assert (
        f"1 of 3 nodes is unlike its peers: calls on node {label(1)} are 20% [17, 23] longer in "
        "Matmul, and differ in 2 other exercises or axes."
    ) in text_of(out / "fleet.html")
    ((node, ratios),) = fleet_page.unlike_nodes(out).items()
    farthest = [("Matmul", 1.196543), ("Matmul, on the CPU", 1.196463), ("Compute", 1.193774)]
    assert (node, [*ratios.items()]) == (label(1), farthest)


def test_nodes_stand_where_they_are_farthest_off_and_the_farthest_comes_first() -> None:
    found = table(placed(6, {1: ("matmul", 1.2), 3: ("copies", 0.7)}))
    assert [row[0] for row in found] == [label(number) for number in (3, 1, 4, 2, 0, 5)]
    assert [row[1:4] for row in found] == [
        ["Copies", "29% [27, 31] shorter", "1"],
        ["Matmul", "21% [18, 24] longer", "1"],
        ["Pipelines", "0.7% [-2.3, 3.8] longer", "0"],
        ["Norm logging", "0.9% [-1.7, 3.5] longer", "0"],
        ["Many or one", "2.3% [-0.4, 5.0] shorter", "0"],
        ["Pipelines", "1.3% [-1.7, 4.3] shorter", "0"],
    ]


def test_a_node_is_compared_where_it_measured_half_of_the_cases_that_three_nodes_did() -> None:
    every = placed(6)
    cases = [(1, 2), (1,), (1, 2, 3, 4, 9), (1, 2, 3, 4, 9), (1, 2, 3, 4), (1, 2, 3, 4)]
    known = [
        {"matmul": dict.fromkeys(numbers, one.subjects["matmul"][1])}
        for numbers, one in zip(cases, every, strict=True)
    ]
    known[4]["matmul"] |= dict.fromkeys((2, 3, 4), [None, 0.0] * 3)
    nodes = [replace(one, subjects=mine) for one, mine in zip(every, known, strict=True)]
    absent = {row[0] for row in table(nodes) if row[1:3] == ["nothing compared", "not measured"]}
    assert absent == {label(1), label(4)}


def asked(lost: dict[str, str], count: int = 5) -> AskedNodes:
    """Return which nodes a fleet asked, of which it lost some."""
    labels = [label(number) for number in range(count)]
    return AskedNodes(fleet="20260102T030405000000Z", nodes=labels, lost=lost)


def test_the_page_says_how_many_nodes_were_asked_and_which_are_lost_with_the_reason() -> None:
    lost = {
        label(4): "the cluster no longer has <the node> /home/somebody/x",
        label(3): "no sign of life for 120 s",
    }
    text = said(placed(4)[:3], asked(lost))
    assert "Asked on 2 January 2026, 03:04 UTC: 5 nodes; 3 stored a whole run. 2 lost nodes" in text
    assert f"{label(3)} no sign of life for 120 s" in text
    assert f"{label(4)} the cluster no longer has <the node> " in text
    assert "somebody" not in text
    again = f"{label(3)} no sign of life for 120 s (another run of this node"
    assert again in said(placed(4), asked(lost))
    assert "5 nodes; all stored a whole run." in said(placed(4), asked({}))


def test_two_files_and_a_named_loss_are_a_page_of_the_site(tmp_path: Path) -> None:
    results = tmp_path / "results"
    asked_nodes.write(asked({label(2): "it was killed"}, 3), results)
    out = site(tmp_path, runs(2))
    assert not (out / "fleet.html").exists()  # which is of the files alone
    build.build([results], out, workers=Workers(1))
    text = text_of(out / "fleet.html")
    assert f"{label(2)} it was killed" in text
    assert "comparison needs 3" in text
    later = asked_nodes.newest([results])
    assert later is not None
    later.write_text("{}")
    broken: list[Path] = []
    build.build([results], out, workers=Workers(1), tell=lambda path, _: broken.append(path))
    assert broken == [later]
    assert not (out / "fleet.html").exists()


def test_what_the_processor_does_is_said_to_be_its_only_beside_what_others_do() -> None:
    of_cpus = ["axis:compute", "matmul.cpu", "copies.cpu"]
    assert subject_title("matmul.cpu", of_cpus) == "Matmul"
    assert subject_title("matmul.cpu", [*of_cpus, "copies"]) == "Matmul, on the CPU"


def test_the_newest_run_of_a_node_counts() -> None:
    found = placed(5)
    slow = placed(5, {2: ("matmul", 1.3)})[2]
    before, after = (
        replace(slow, datetime=when, href="again.html")
        for when in ("2025-01-01T12:00:00+00:00", "2027-01-01T12:00:00+00:00")
    )
    assert not compared([*found, before])[0][0].unlike.named.any()
    assert compared([*found, after])[0][0].unlike.named.any()


def test_another_torch_kind_of_machine_or_unfit_run_is_named_and_not_compared() -> None:
    found = placed(5, {4: ("matmul", 1.5)})
    other = replace(found[4], torch="2.12.0", kind="nvidia-h100 2.12.0")
    text = said([*found[:4], other])
    assert "None of 4 nodes is unlike its peers" in text
    assert f"node {label(4)}: 1 node with {other.title} and torch 2.12.0" in text
    for lost, which in ((1, f"node {label(0)}"), (6, "6 nodes")):
        unfit = [replace(one, unfit="its run did not end") for one in placed(lost)]
        text = said([*unfit, *placed(lost + 3)[lost:]])
        assert f"{which}: its run did not end" in text
        assert "of 3 nodes" in text


def differing(nodes: Sequence[Node], number: int) -> str:
    """Return what the page says differs at a node."""
    return next(row[4] for row in table(nodes) if row[0] == label(number))


def test_what_else_differs_stands_beside_the_node_with_the_peers_value() -> None:
    found = [
        replace(one, facts=one.facts | {"cpu.governor": "performance"})
        for one in placed(6, {2: ("matmul", 1.2)})
    ]
    limited = {"accelerators.0.power_limit_watts": 350.0, "cpu.governor": "powersave"}
    trouble = {"held-back": "cuda:0 is held back by its temperature"}
    found[2] = replace(found[2], facts=found[2].facts | limited)
    for number in (2, 3, 4, 5):  # what more than half of the nodes have is no difference
        often = {"governor": "it is powersave"} | (trouble if number < 5 else {})
        half = {"software.kernel": "6.8.0" if number < 5 else "6.1.0"}
        found[number] = replace(found[number], facts=found[number].facts | half, troubles=often)
    assert differing(found, 2) == (
        "power limit 350 W (peers 700 W); CPU governor powersave (peers performance); "
        "cuda:0 is held back by its temperature"
    )
    assert differing(found, 1) == "no stored fact"
    assert differing(found, 5) == "kernel 6.1.0 (peers 6.8.0)"
    many = {f"software.{number}": "" for number in range(9)}
    found = [replace(one, facts=many) for one in found]
    found[2] = replace(found[2], facts=dict.fromkeys([*many][:8], "-"), troubles={})
    assert differing(found, 2).count(";") == 7
    found[2] = replace(found[2], facts=dict.fromkeys(many, "-"))
    assert differing(found, 2).endswith("; 7 - (peers ); 1 more on the page of its run")


NORMAL = "the page cannot know which of the two groups is normal."


@pytest.mark.parametrize(("every", "factor", "slower"), [(2, 1.2, 25), (3, 1.05, 17)])
def test_two_groups_of_nodes_are_named_as_such(every: int, factor: float, slower: int) -> None:
    slow = dict.fromkeys(range(0, 50, every), ("matmul", factor))
    found = placed(50, slow)
    for number in slow:
        facts = found[number].facts | {"accelerators.0.driver": "570.1"}
        found[number] = replace(found[number], facts=facts)
    assert lead(found) == (
        f"{slower} of 50 nodes are {factor - 1:.0%} slower than the others in Matmul; {NORMAL} The "
        "slower ones have driver 570.1 (the others 580.95.05). Within such groups: none of 50 "
        "nodes is unlike its peers. The smallest detectable slow-down is 3.5 to 4.6%, depending on "
        "the exercise."
    )
    driver = "; driver 570.1 (peers 580.95.05)" if slower < 25 else ""  # else of half of them
    assert differing(found, 0) == f"in the slower group in Matmul{driver}"
    assert fleet_page.files(found)["fleet.csv"].count(b",false,true,") == slower


def test_of_groups_in_two_exercises_the_farthest_apart_are_told(tmp_path: Path) -> None:
    slow, also = (dict.fromkeys(range(5), (name, 1.2)) for name in ("copies", "matmul"))
    pairs = zip(placed(10, slow), placed(10, also), strict=True)
    found = [
        replace(one, subjects=one.subjects | {"matmul": other.subjects["matmul"]})
        for one, other in pairs
    ]
    names = ", ".join(label(number) for number in (4, 2, 0, 3, 1))
    assert lead(found).startswith(
        f"5 of 10 nodes are 20% slower than the others in Matmul; {NORMAL} Slower: nodes {names}. "
        "There are two groups in 1 other of the exercises and axes. Within such groups: none of 10"
    )
    for name, content in fleet_page.files(found).items():
        (tmp_path / name).write_bytes(content)
    assert fleet_page.groups_of(tmp_path) == [
        f"5 of 10 nodes are 19% slower than the others in Copies; {NORMAL}",
        f"5 of 10 nodes are 20% slower than the others in Matmul; {NORMAL}",
    ]
    assert fleet_page.unlike_nodes(tmp_path) == {}
    alone = placed(10, {1: ("matmul", 1.4), 3: ("copies", 1.2)})
    (tmp_path / "fleet.csv").write_bytes(fleet_page.files(alone)["fleet.csv"])
    assert fleet_page.groups_of(tmp_path) == []
    assert [*fleet_page.unlike_nodes(tmp_path)] == [label(1), label(3)]  # the farthest first


def test_the_answer_counts_where_else_the_farthest_node_differs_and_ends_with_the_limits() -> None:
    found = placed(10)
    shifted = {
        name: {1: (np.exp(0.3) * np.array(times[1])).tolist()}
        for name, times in found[4].subjects.items()
    }
    two = found[4].subjects | {name: shifted[name] for name in ("copies", "matmul")}
    named = f"1 of 10 nodes is unlike its peers: calls on node {label(4)} are"
    smallest = "None of 10 nodes is unlike its peers. The smallest detectable slow-down is"
    more = "other exercises or axes."
    for subjects, answer in (
        (shifted, f"{named} 36% [32, 39] longer in Split model, and differ in 12 {more}"),
        (two, f"{named} 35% [31, 38] longer in Matmul, and differ in 1 other exercise or axis."),
        (found[4].subjects, f"{smallest} 3.4 to 4%, depending on the exercise."),
    ):
        assert lead([*found[:4], replace(found[4], subjects=subjects), *found[5:]]) == answer
    assert lead(placed(10, exercises=["matmul"])) == f"{smallest} 3%."
    short = [replace(one, subjects={"matmul": {1: [1.0] * 5}}) for one in found]
    assert lead(short) == "No exercise has 6 launches on 3 of 10 nodes, so nothing is compared."


def test_kinds_of_nodes_are_named_in_the_answer_and_share_the_false_alarms() -> None:
    titles = ("8 A", "8 B", "8 C")
    found = [
        replace(each, kind=titles[row % 3], title=titles[row % 3])
        for row, each in enumerate(placed(12, {5: ("copies", 1.3)}))
    ]
    text = said(found)
    answers = rf"8 C, torch \S+: 1 of 4 nodes .*{label(5)}.* 8 A, torch \S+: None of 4 nodes"
    assert re.search(f"{answers}.* 1 other kind of nodes: below", text)
    alone = compared(found[::3])[0][0].unlike
    assert (compared(found)[0][0].unlike.reach > alone.reach).all()


def test_many_nodes_are_a_page_of_bounded_size_without_scripts_or_style_attributes() -> None:
    page = fleet_page.files(placed(200))["fleet.html"]
    assert len(page) < 0.2 * 1.5e6  # bytes, as of the index of a thousand machines
    assert not re.search(rb"<script| style=", page)
