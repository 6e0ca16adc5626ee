# SPDX-License-Identifier: MIT
"""What names somebody is found wherever it stands, and what names nobody is let alone."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import process_time

import pytest
from msgspec import Struct
from msgspec.structs import force_setattr

from frobench.suite import personal_data
from frobench.suite.checks import personal, rule
from frobench.suite.machine.host import stored_variables
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import codes, made, only, validate, validate_file
from tests.instruments.processes.command import ROOT

TELLING = (
    "OSError: /home/john/weights.pt",
    "PATH=/usr/bin:/home/john/bin",
    "(/tmp/pytest-of-john/x)",
    "file:///mnt/john/data",
    "no space left in /scratch",
    "~john/models/x.pt",
    "/opt/acme/john/models",
    r"C:\Users\john",
    "D:/models/john.pt",
    r"\\nas17\john\models",
    "john.doe@example.org",
    "john@node17",
    "http://john:secret@proxy:3128",
    "link 9c:b6:d0:ee:11:22 is down",
    "link 9C-B6-D0-EE-11-22 is down",
    "connect to 192.168.17.4:29500",
    "tcp://10.1.2.3",
    "peer fe80::9eb6:d0ff:feee:1122",
    "GPU-6e0f3b60-2a4e-4c7c-9d5f-0a1b2c3d4e5f",
    "MIG-6e0f3b60",
    "s3://acme-models/john/x.pt",
    "gs://john/x.pt",
    "https://nas17/john/x.pt",
    r"\\nas\john",
    "john@n7",
    "peer [2001:db8::17]:29500",
    "link 9c:b6:d0:03:00:ee:11:22 is down",
)
UNITS = (
    *("a.", "1.1.1.1 ", "a-", "a+", "/a", "::", ":", "://a:a:", "ab@", "a@a.", "0"),
    *("(/a", "~a", "a.b-", "http://", "1.2.3.", "driver", "GPU-", "ab:", "a1-"),
)
"""Beginnings of what is looked for, to be repeated without ever becoming it."""


@pytest.mark.parametrize("tail", ["", "!", " x"])
@pytest.mark.parametrize("unit", UNITS)
def test_a_long_text_costs_as_many_steps_as_it_has_characters(unit: str, tail: str) -> None:
    text = unit * (2**15 // len(unit)) + tail
    begun = process_time()
    personal_data.hide(text)
    assert process_time() - begun < 2  # the square of its characters costs minutes


@pytest.mark.parametrize("text", TELLING)
def test_what_names_a_person_or_a_machine_is_refused_with_its_place(text: str) -> None:
    run = made()
    run.frobench.outcomes[5].reason = text
    found = [*rule.conclusions(run, personal)]
    assert codes(found) == {"personal-data"}
    assert all(one.message.startswith("$.frobench.outcomes[5].reason holds a") for one in found)
    assert "john" not in "".join(one.message for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "12 GB/s and 3 GFLOP/s, read/write",
        "see https://pytorch.org/docs/stable",
        "benchmarks/bench_matmul.py::bench_square[cpu-16]",
        "/usr/local/cuda/lib64 and /dev/shm/x",
        "/pytorch/aten/src/ATen/native/Blas.cpp:12",
        "../aten/src/ATen/Context.cpp",
        "2026-01-01T12:00:00+00:00",
        "driver 580.95.05, cuDNN 9.10.2.21",
        "needs torch>=1.2.3.4",
        "2.9.0a0+6f1d2c3b4a.nv24.11 on 6.18.44-fc-v669, 6.8.0-1021-azure or 5.14.0-503.11.1.el9_5",
        "Intel(R) Xeon(R) Platinum 8480+ CPU @ 2.00GHz, Clang 17.0.0 (clang-1700.0.13.3)",
        "Exception raised from apply at Context.cpp:1087, line:12345, size:16384",
        "max_split_size_mb:20000,roundup_power2_divisions:[256:1,512:2]",
        "float32:4096, cuda:0, bf16:16384, init_method env://, tcp://localhost:29500",
        "at::native::add on sim:0 and cuda:0+cuda:1",
        "bench_mine.py :: bench_sum",
        "PCI 0000:00:02.0 at 12:34:56",
        "Multiply A@B.T, about ~1/3 of it, in threading.local or self.net",
        "seconds per token: 0.25, n_token=512",
        "<Tensor object at 0x7f3a5c0d1e2f>",
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


@pytest.mark.parametrize("seed", range(10))
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
    assert {
        "$.frobench.outcomes[1].reason",
        "$.machine_info.release",
        "$.frobench.settings.expression",
        "$.frobench.environment.software.kernel",
    } <= loud
    assert not {"$.benchmarks[0].fullname", "$.frobench.environment.machine"} & loud
    for place in ("unknown", "software.variables"):
        assert any(where.startswith(f"$.frobench.environment.{place}.") for where in loud)


def test_what_is_kept_in_results_names_nobody() -> None:
    files = store.find([ROOT / "results"])
    assert files
    assert [
        one for file in files for one in personal_data.disclosures(json.loads(file.read_bytes()))
    ] == []


def test_a_field_that_no_reader_knows_is_looked_at_too(tmp_path: Path) -> None:
    content = json.loads(store.encode(made()))
    content["frobench"]["operator"] = {"mail": "jane@example.org"}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(content))
    first, *_ = [one for one in validate_file(path) if one.code == "personal-data"]
    assert first.message.startswith("$.frobench.operator.mail holds an account")


def test_a_branch_of_one_s_own_is_refused(tmp_path: Path) -> None:
    run = made()
    run.commit_info.branch = "jane/faster"
    assert only(validate(run, tmp_path), "branch-name").message.startswith("$.commit_info.branch")


def test_common_accounts_are_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.node", lambda: "runner")
    monkeypatch.setattr("getpass.getuser", lambda: "Root")
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ubuntu"))
    assert personal_data.own_names() == frozenset()
    monkeypatch.setattr("platform.node", lambda: "node17.lan")
    monkeypatch.setattr("getpass.getuser", lambda: "jane")
    assert personal_data.own_names() == {"node17.lan", "node17", "jane"}
    monkeypatch.setattr(Path, "home", _raise_runtime_error)
    assert personal_data.own_names() == {"node17.lan", "node17", "jane"}


def _raise_runtime_error() -> Path:
    """Stand for `Path.home` where the system knows no home of a user."""
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.parametrize("text", TELLING)
def test_what_is_found_is_hidden_and_told_alike(text: str) -> None:
    assert any(personal_data.find(text))
    assert not any(personal_data.find(personal_data.hide(text)))
    assert [*personal_data.disclosures({"reason": text})]
    assert not [*personal_data.disclosures({"reason": personal_data.hide(text)})]
    assert stored_variables({"TORCH_X": text}) == {"TORCH_X": "set"}


def test_a_kind_is_told_once_of_each_text_and_key() -> None:
    plain = {
        "/home/jane/key": 1,
        "list": ["x", ["/home/jane/x and /home/jane/y", 2.0], {"in": "jane@example.org"}],
        "driver": "10.20.30.40",
        "samples": [1.0, 2, None, True],
    }
    told = [*personal_data.disclosures(plain)]
    assert told == [
        "$ holds a path",
        "$.list[1][0] holds a path",
        "$.list[2].in holds an account",
    ]
