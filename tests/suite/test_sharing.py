# SPDX-License-Identifier: MIT
"""A run that is shared names nobody, says the rest unchanged, and tells what it left out."""

import re
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from frobench.suite import checks, personal_data, redaction
from frobench.suite.checks import personal, rule
from frobench.suite.machine import environment
from frobench.suite.redaction import Removed
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion, Run
from frobench.suite.terminal import disclosure
from tests.instruments.faults.judging import made
from tests.instruments.processes.command import ROOT
from tests.instruments.processes.warm import frobench
from tests.instruments.runs.filled import places
from tests.suite.checks.test_checks_privacy import TELLING, planted, seeded, small

NAMES = frozenset({"adalovelace", "engine17"})


def telling() -> Run:
    """Return a run as an early version might have stored it."""
    run = made()
    run.machine_info |= {"node": "engine17", "operator": "Ada"}
    run.commit_info.branch = "ada/faster"
    run.frobench.environment.software.packages |= {"acme-secret-models": "1.0", "scipy": "1.17"}
    run.frobench.environment.software.variables |= {
        "TORCH_HOME": "/home/adalovelace/models",
        "NCCL_COMM_ID": "10.1.2.3:29500",
        "GLOO_HOSTNAME": "rack7",
        "NCCL_ALGO": "Ring,Tree",
        "OMP_DYNAMIC": "set",
    }
    run.frobench.settings = replace(run.frobench.settings, expression="bench_square or acme")
    run.frobench.outcomes[5].reason = "OSError: /home/adalovelace/x on engine17"
    for entry in (run.benchmarks[0], run.frobench.outcomes[0]):
        entry.fullname = entry.fullname.replace("benchmarks/", "/acme/engine/")
    said = Conclusion(
        code="noisy-case",
        severity="warning",
        message="wide interval",
        advice="Measure again.",
        case=run.benchmarks[0].fullname,
    )
    run.frobench.conclusions.append(said)
    return run


def test_what_names_somebody_is_taken_out_and_told() -> None:
    made_variables = made().frobench.environment.software.variables
    shared, removed = redaction.redact(telling(), NAMES)
    assert {one.what for one in removed} == {
        "the host's name",
        "1 fact of another plugin",
        "a branch's own name",
        "2 packages that no number depends on",
        "3 values with a path or an address, or somebody's",
        "a selection as it was typed",
        "the benchmarks' folder",
        "a path and a name of this host or its user",
    }
    assert Removed("$.frobench.outcomes[].reason", removed[-1].what) == removed[-1]
    text = store.encode(shared).decode().lower()
    for secret in ("ada", "engine", "acme", "scipy"):
        assert secret not in text
    assert shared.frobench.outcomes[5].reason == "OSError: … on …"
    assert shared.frobench.environment.software.variables == made_variables | {
        "TORCH_HOME": "set",
        "NCCL_COMM_ID": "set",
        "GLOO_HOSTNAME": "set",
        "NCCL_ALGO": "Ring,Tree",
        "OMP_DYNAMIC": "set",
    }
    assert set(shared.frobench.environment.software.packages) == {
        "numpy",
        "pytest-benchmark",
        "torch",
    }


def test_all_else_stays_as_it_was_and_the_run_that_was_given_too() -> None:
    run = telling()
    before = store.encode(run)
    shared, _ = redaction.redact(run, NAMES)
    assert store.encode(run) == before
    assert shared.frobench.digest == store.digest(shared) != run.frobench.digest
    again = made()
    assert [one.stats for one in shared.benchmarks] == [one.stats for one in again.benchmarks]
    assert shared.frobench.environment.cpu == again.frobench.environment.cpu
    assert [one.fullname for one in shared.benchmarks] == [one.fullname for one in again.benchmarks]
    assert shared.frobench.conclusions[-1].case == again.benchmarks[0].fullname


def test_a_run_that_names_nobody_is_shared_as_it_is() -> None:
    run = made()
    shared, removed = redaction.redact(run, NAMES)
    assert removed == []
    assert store.encode(shared) == store.encode(run)


@pytest.mark.parametrize("expression", ["", "bench_square and not float16", "SQUARE", "cpu-16"])
def test_a_selection_by_the_cases_own_words_is_kept(expression: str) -> None:
    run = made()
    run.frobench.settings = replace(run.frobench.settings, expression=expression)
    shared, removed = redaction.redact(run, NAMES)
    assert (shared.frobench.settings.expression, removed) == (expression, [])


@pytest.mark.parametrize("seed", range(5))
def test_nothing_that_is_planted_anywhere_is_left(seed: int) -> None:
    """Walk the types, so that a field that is added later is looked at too."""
    run = small()
    planted(run, seeded((*TELLING, "of adalovelace", "engine17-gpu"), seed))

    shared = personal_data.rewritten(run, lambda _, text: personal_data.hide(text, NAMES))
    assert [*personal_data.disclosures(shared)] == []
    text = str(msgspec.to_builtins(shared))
    assert not re.search("adalovelace|engine17", text, re.IGNORECASE)


def test_who_is_called_like_a_word_of_the_suite_changes_no_word_of_it() -> None:
    names = {"data", "matmul", "float32", "cpu-16", "H100", "fullname", "4096", "x86"}
    run = small()
    run.frobench.outcomes[1].reason = " ".join(("OSError:", *sorted(names), "may not"))
    run.frobench.environment.unknown["cpu.governor"] = "refused to DATA"
    shared, removed = redaction.redact(run, names)
    assert shared.frobench.outcomes[1].reason == "OSError: … … … … … … … … may not"
    assert shared.frobench.environment.unknown["cpu.governor"] == "refused to …"
    assert {one.where for one in removed} == {
        "$.frobench.outcomes[].reason",
        "$.frobench.environment.unknown.cpu.governor",
    }
    for one in (run, shared):
        one.frobench.outcomes[1].reason = None
        del one.frobench.environment.unknown["cpu.governor"]
    assert store.encode(shared) == store.encode(run)


def test_who_is_called_like_a_fact_of_the_machine_takes_none_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = environment.machine_info()
    monkeypatch.setattr(personal_data, "own_names", lambda: {"machine", "release", "cpu", "brand"})
    assert environment.machine_info().keys() == before.keys()
    assert environment.machine_info()["cpu"].keys() == before["cpu"].keys()


def test_what_cannot_be_made_valid_is_not_shared() -> None:
    run = made()
    run.benchmarks[0].extra_info.launches = [1]
    with pytest.raises(store.InvalidResult, match="sample-count"):
        redaction.redact(run, NAMES)


def test_every_text_that_would_be_published_is_shown() -> None:
    shared, removed = redaction.redact(telling(), NAMES)
    shown = "\n".join(disclosure.lines(shared, removed, everything=True))
    words = set(shown.replace(";", " ").split())
    absent = {
        word
        for where, text in personal_data.texts(shared)
        for word in text.replace(";", " ").split()
        if word not in words
        and not where.endswith(("]", "params", "unknown", "torch_build", "flags"))
    }
    assert absent == set()
    assert "2 packages that no number depends on" in shown
    few = "\n".join(disclosure.lines(shared, removed))
    assert len(few) < len(shown)
    assert "more" in few


def test_a_long_place_stands_above_its_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disclosure, "width", lambda: 60)
    lines = [*disclosure.lines(telling(), (), everything=True)]
    (place,) = (
        at for at, line in enumerate(lines) if line.startswith("  frobench.exercises.matmul.q")
    )
    assert lines[place] == "  frobench.exercises.matmul.question"
    assert lines[place + 1].startswith(" " * 34)


def test_the_documents_list_every_text_of_the_schema() -> None:
    text = (ROOT / "docs" / "sharing.md").read_text(encoding="utf-8")
    part = text.partition("## Every text in a file")[2].partition("\n## ")[0]
    listed = []
    for item in part.split("\n- ")[1:]:
        first, *others = re.findall("`([^`]+)`", item.partition("\n\n")[0])
        whole = [first, *others] if not first.endswith(".") else [first + one for one in others]
        listed += whole
    assert sorted(listed) == sorted(set(places()))


def test_only_what_the_rules_of_privacy_name_may_be_wrong_before() -> None:
    assert (
        redaction.MENDED
        == {"personal-data", "branch-name", "host-name"}
        == set(rule.rules(personal))
    )


def test_the_command_writes_a_valid_file_once_and_says_the_next_step(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_bytes(store.encode(telling()))
    first = frobench("share", file, "-o", "shared", folder=tmp_path)
    assert first.returncode == 0
    path = tmp_path / first.stdout.splitlines()[-1]
    assert path.parent.parent == tmp_path / "shared"
    assert "pull request" in first.stdout.splitlines()[-2]
    assert first.stdout.startswith("Taken out\n")
    assert store.read(path).commit_info.branch is None
    again = frobench("share", file, "-o", "shared", folder=tmp_path)
    assert (again.returncode, again.stdout) == (0, first.stdout)
    path.write_text("{}")
    third = frobench("share", file, "-o", "shared", folder=tmp_path)
    assert third.returncode == 1
    assert "nothing was written" in third.stderr
    assert path.read_text() == "{}"


def test_a_run_beside_other_programs_is_not_to_be_published(tmp_path: Path) -> None:
    run = made()
    for launch in run.frobench.launches:
        launch.others = 1.0
    run.frobench.conclusions = checks.conclude(run)
    file = tmp_path / "busy.json"
    file.write_bytes(store.encode(run))
    said = frobench("share", file, "-o", "shared", folder=tmp_path)
    assert said.returncode == 0
    assert "pull request" not in said.stdout
    assert said.stdout.splitlines()[-1].startswith("Other programs used ")
    assert "do not publish shared/" in said.stdout


def test_an_edited_file_is_not_shared(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_bytes(store.encode(made()).replace(b'"seed": 0', b'"seed": 1'))
    refused = frobench("share", file, folder=tmp_path)
    assert refused.returncode == 1
    assert "digest-differs" in refused.stderr
    assert not (tmp_path / "results").exists()
