# SPDX-License-Identifier: MIT
"""What names somebody is found; a shared run names nobody and says the rest unchanged."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from frobench.suite import checks, personal_data, redaction
from frobench.suite.checks import personal, rule
from frobench.suite.machine.host import stored_variables
from frobench.suite.redaction import Removed
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion, Run
from frobench.suite.terminal import disclosure
from tests.instruments.faults.judging import made, put, validate_file
from tests.instruments.processes.command import ROOT
from tests.instruments.processes.warm import frobench
from tests.instruments.runs.filled import places

TELLING = (
    "OSError: /home/john/weights.pt",
    "PATH=/usr/bin:/home/john/bin",
    "file:///mnt/john/data",
    "no space left in /scratch",
    "~john/models/x.pt",
    "/opt/acme/john/models",
    r"C:\Users\john",
    r"\\nas17\john\models",
    "john.doe@example.org",
    "john@node17",
    "http://john:secret@proxy:3128",
    "link 9c:b6:d0:ee:11:22 is down",
    "connect to 192.168.17.4:29500",
    "peer fe80::9eb6:d0ff:feee:1122",
    "GPU-6e0f3b60-2a4e-4c7c-9d5f-0a1b2c3d4e5f",
    "s3://acme-models/john/x.pt",
    "peer [2001:db8::17]:29500",
    "link 9c:b6:d0:03:00:ee:11:22 is down",
)


@pytest.mark.parametrize(
    "text",
    [
        "12 GB/s and 3 GFLOP/s, read/write",
        "see https://pytorch.org/docs/stable",
        "benchmarks/bench_matmul.py::bench_square[cpu-16]",
        "/pytorch/aten/src/ATen/native/Blas.cpp:12",
        "2026-01-01T12:00:00+00:00",
        "driver 580.95.05, cuDNN 9.10.2.21",
        "2.9.0a0+6f1d2c3b4a.nv24.11 on 6.18.44-fc-v669, 6.8.0-1021-azure or 5.14.0-503.11.1.el9_5",
        "Intel(R) Xeon(R) Platinum 8480+ CPU @ 2.00GHz, Clang 17.0.0 (clang-1700.0.13.3)",
        "Exception raised from apply at Context.cpp:1087, line:12345, size:16384",
        "float32:4096, cuda:0, bf16:16384, init_method env://, tcp://localhost:29500",
        "Multiply A@B.T, about ~1/3 of it, in threading.local or self.net",
        "torch.cuda.OutOfMemoryError: 1099511627776 bytes",
    ],
)
def test_what_names_nobody_is_allowed(text: str) -> None:
    run = made()
    run.frobench.outcomes[5].reason = text
    assert [*rule.conclusions(run, personal)] == []


def planted(value: object, texts: Iterator[str]) -> None:
    """Put a text into every field of a run that holds one, and under a new key of every table."""
    if isinstance(value, Struct):
        for name in value.__struct_fields__:
            if isinstance(item := getattr(value, name), str):
                force_setattr(value, name, next(texts))
            planted(item, texts)
    elif isinstance(value, dict):
        for key, item in [*value.items()]:
            if isinstance(item, str):
                value[key] = next(texts)
            planted(item, texts)
        value[next(texts)] = 1
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, str):
                value[index] = next(texts)
            planted(item, texts)


def seeded(choices: tuple[str, ...], seed: int) -> Iterator[str]:
    """Draw texts for ever, each among words that say nothing."""
    random = Random(seed)  # noqa: S311 - no secret
    while True:
        before, after = (random.choice(["", "cannot open ", "on ", "2.1 "]) for _ in "ab")
        yield f"{before}{random.choice(choices)} {after}".strip()


def small() -> Run:
    run = made(accelerators=1, launches=6)
    run.benchmarks, run.frobench.outcomes = run.benchmarks[:2], run.frobench.outcomes[:2]
    return run


def silent(run: Run, *names: str) -> set[str]:
    """Return the places in which nothing is found: neither in their text nor in a key."""
    texts = [*personal_data.texts(run)]
    loud = {where for where, text in texts if any(personal_data.find(text, names, where))}
    return {where for where, _ in texts} - loud


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_planted_in_whichever_field_is_found(seed: int) -> None:
    run = small()
    planted(run, seeded(TELLING, seed))
    assert len({where for where, _ in personal_data.texts(run)}) > 100
    assert silent(run) == set()
    assert sum(1 for _ in personal_data.disclosures(run)) > 100


@pytest.mark.parametrize("name", ["adalovelace", "analytical-engine", "Ada Lovelace"])
def test_names_are_found_where_others_may_have_written_and_in_no_name_of_a_case(name: str) -> None:
    run = small()
    run.frobench.outcomes[1].reason = "it failed"
    planted(run, seeded((f"{name}", f"{name}-laptop", f"x_{name.upper()}_1"), 1))
    places = {where for where, _ in personal_data.texts(run)}
    loud = places - silent(run, name)
    written = "outcomes[1].reason", "settings.expression", "environment.software.kernel"
    assert {"$.machine_info.release", *(f"$.frobench.{one}" for one in written)} <= loud
    assert not {"$.benchmarks[0].fullname", "$.frobench.environment.machine"} & loud
    for place in ("unknown", "software.variables"):
        assert any(where.startswith(f"$.frobench.environment.{place}.") for where in loud)


def test_a_field_that_no_reader_knows_is_looked_at_too(tmp_path: Path) -> None:
    content = json.loads(store.encode(made()))
    content["frobench"]["operator"] = {"mail": "jane@example.org"}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(content))
    first, *_ = [one for one in validate_file(path) if one.code == "personal-data"]
    assert first.message.startswith("$.frobench.operator.mail holds an account")


def test_common_accounts_are_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.node", lambda: "runner")
    monkeypatch.setattr("getpass.getuser", lambda: "Root")
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ubuntu"))
    assert personal_data.own_names() == frozenset()
    monkeypatch.setattr("platform.node", lambda: "node17.lan")
    monkeypatch.setattr("getpass.getuser", lambda: "jane")
    assert personal_data.own_names() == {"node17.lan", "node17", "jane"}


@pytest.mark.parametrize("text", TELLING)
def test_what_is_found_is_hidden_and_told_alike(text: str) -> None:
    assert any(personal_data.find(text))
    assert not any(personal_data.find(personal_data.hide(text)))
    assert [*personal_data.disclosures({"reason": text})]
    assert not [*personal_data.disclosures({"reason": personal_data.hide(text)})]
    assert stored_variables({"TORCH_X": text}) == {"TORCH_X": "set"}


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
    facts = {"message": "wide interval", "advice": "", "case": run.benchmarks[0].fullname}
    said = Conclusion(code="noisy-case", severity="warning", **facts)
    run.frobench.conclusions.append(said)
    return run


def test_what_names_somebody_is_taken_out_and_told() -> None:
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
    hidden = dict.fromkeys(("TORCH_HOME", "NCCL_COMM_ID", "GLOO_HOSTNAME", "OMP_DYNAMIC"), "set")
    before, software = (run.frobench.environment.software for run in (made(), shared))
    assert software.variables == before.variables | hidden | {"NCCL_ALGO": "Ring,Tree"}
    assert {*software.packages} == {"numpy", "pytest-benchmark", "torch"}


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


@pytest.mark.parametrize("seed", range(5))
def test_nothing_that_is_planted_anywhere_is_left(seed: int) -> None:
    """Walk the types, so that a field that is added later is looked at too."""
    run = small()
    planted(run, seeded((*TELLING, "of adalovelace", "engine17-gpu"), seed))

    shared = personal_data.rewritten(run, lambda _, text: personal_data.hide(text, NAMES))
    assert [*personal_data.disclosures(shared)] == []
    text = str(msgspec.to_builtins(shared))
    assert not re.search("adalovelace|engine17", text, re.IGNORECASE)


def test_what_cannot_be_made_valid_is_not_shared() -> None:
    run = made()
    run.benchmarks[0].extra_info.launches = [1]
    with pytest.raises(store.InvalidResult, match="sample-count"):
        redaction.redact(run, NAMES)


def test_every_text_that_would_be_published_is_shown() -> None:
    shared, removed = redaction.redact(telling(), NAMES)
    shown = "\n".join(disclosure.lines(shared, removed, everything=True))
    words = set(shown.replace(";", " ").split())
    for where, text in personal_data.texts(shared):
        if not where.endswith(("]", "params", "unknown", "torch_build", "flags")):
            assert words.issuperset(text.replace(";", " ").split()), where
    assert "2 packages that no number depends on" in shown


def test_the_documents_list_every_text_of_the_schema() -> None:
    text = (ROOT / "docs" / "sharing.md").read_text(encoding="utf-8")
    part = text.partition("## Every text in a file")[2].partition("\n## ")[0]
    listed = []
    for item in part.split("\n- ")[1:]:
        first, *others = re.findall("`([^`]+)`", item.partition("\n\n")[0])
        whole = [first, *others] if not first.endswith(".") else [first + one for one in others]
        listed += whole
    assert sorted(listed) == sorted(set(places()))


def share(folder: Path, content: bytes) -> subprocess.CompletedProcess[str]:
    """Call the command for a stored file."""
    (folder / "old.json").write_bytes(content)
    return frobench("share", "old.json", "-o", "shared", folder=folder)


def test_the_command_writes_a_valid_file_once_and_says_the_next_step(tmp_path: Path) -> None:
    content = store.encode(telling())
    first = share(tmp_path, content)
    assert first.returncode == 0
    path = tmp_path / first.stdout.splitlines()[-1]
    assert path.parent.parent == tmp_path / "shared"
    assert "pull request" in first.stdout.splitlines()[-2]
    assert first.stdout.startswith("Taken out\n")
    assert store.read(path).commit_info.branch is None
    again = share(tmp_path, content)
    assert (again.returncode, again.stdout) == (0, first.stdout)
    path.write_text("{}")
    third = share(tmp_path, content)
    assert third.returncode == 1
    assert "nothing was written" in third.stderr
    assert path.read_text() == "{}"


def test_a_run_beside_other_programs_is_not_to_be_published(tmp_path: Path) -> None:
    run = made()
    put(run.frobench.launches, "*.others", 1.0)
    run.frobench.conclusions = checks.conclude(run)
    said = share(tmp_path, store.encode(run))
    assert said.returncode == 0
    assert "pull request" not in said.stdout
    assert said.stdout.splitlines()[-1].startswith("Other programs used ")
    assert "do not publish shared/" in said.stdout


def test_an_edited_file_is_not_shared(tmp_path: Path) -> None:
    refused = share(tmp_path, store.encode(made()).replace(b'"seed": 0', b'"seed": 1'))
    assert refused.returncode == 1
    assert "digest-differs" in refused.stderr
    assert not (tmp_path / "shared").exists()
