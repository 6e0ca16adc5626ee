# SPDX-License-Identifier: MIT
"""A label tells machines of one kind apart, and nobody can read the machine's name from it."""

import hashlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.reports.table.facts import machine_title
from frobench.suite.compare.runs import compare_runs
from frobench.suite.run import unfinished
from frobench.suite.run.runner import KEY, Request, key, label_of, settle
from frobench.suite.stored import store
from frobench.suite.stored.machine_identity import machine_id
from frobench.suite.stored.types import Run
from tests.instruments.runs import factory


def labelled(run: Run, label: str) -> Run:
    part = run.frobench
    environment = replace(part.environment, label=label)
    return replace(run, frobench=replace(part, environment=environment))


def test_a_name_gives_one_label_in_a_folder_and_another_in_the_next(tmp_path: Path) -> None:
    here, there, copy = (tmp_path / name for name in ("here", "there", "copy"))
    first = label_of("gpu-node-17", here)
    assert first == label_of("gpu-node-17", here)
    assert first != label_of("gpu-node-18", here)
    assert first != label_of("gpu-node-17", there)
    copy.mkdir()
    (copy / KEY).write_bytes(key(here) + b"\n")
    digest = hashlib.blake2b(b"gpu-node-17", key=key(here), digest_size=32).hexdigest()
    assert first == label_of("gpu-node-17", copy) == digest[:10]
    assert len(key(here)) == 32
    assert KEY.startswith(".")  # neither git nor what reads stored runs finds it
    assert store.find([tmp_path]) == []


def test_the_plan_and_the_run_s_name_hold_the_label_and_not_the_name(tmp_path: Path) -> None:
    label = label_of("gpu-node-17", tmp_path)
    request = Request(results=tmp_path, benchmarks=tmp_path, label="gpu-node-17")
    folder = unfinished.begin(tmp_path, settle(request))
    assert folder.name.endswith(f"-{label}")
    assert b"gpu-node-17" not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_nodes_of_one_kind_are_machines_of_their_own_compared_only_across_the_label() -> None:
    run = factory.run()
    one, other = labelled(run, "0123456789"), labelled(run, "abcdef0123")
    here = [each.frobench.environment for each in (run, one, other)]
    assert len({machine_id(each.cpu, each.accelerators, each.label) for each in here}) == 3
    assert machine_title(one) == f"{machine_title(run)}, node 0123456789"
    for base in (run, other):
        assert [each.fact for each in compare_runs(base, one, []).differences] == ["label"]
    assert not compare_runs(one, other, [], across=["label"]).differences


@pytest.mark.parametrize("label", ["gpu-node-17", "0123456789a", "0123"])
def test_a_file_whose_label_is_no_seal_cannot_be_read(label: str) -> None:
    text = store.encode(labelled(factory.run(), "0123456789"))
    with pytest.raises(store.InvalidResult, match=r"environment\.label"):
        store.decode(text.replace(b'"0123456789"', f'"{label}"'.encode()))
