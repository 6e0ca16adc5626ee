# SPDX-License-Identifier: MIT
"""A stored run is written once and whole, as its schema and its document say."""

import hashlib
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import msgspec
import pytest

from frobench.suite import checks
from frobench.suite.stored import store
from frobench.suite.stored.schema import SCHEMA_PATH, schema_text
from frobench.suite.stored.types import LONGEST_NAME, LONGEST_TEXT, Run
from tests.instruments.faults.judging import made, put, validate_file
from tests.instruments.runs import factory


@pytest.fixture(scope="module")
def run() -> Run:
    return factory.run()


def plain(run: Run) -> Any:  # noqa: ANN401 - JSON, to be broken in many places
    return json.loads(store.encode(run))


def stored(folder: Path, content: object) -> Path:
    path = folder / "run.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def fault(path: Path) -> str:
    with pytest.raises(store.InvalidResult) as caught:
        store.read(path)
    return str(caught.value)


def test_a_large_standard_run_stays_under_5_megabytes() -> None:
    run = factory.run(accelerators=1, launches=12)
    for case in run.benchmarks:
        case.stats.data = [case.stats.median * (1 + step / 777) for step in range(12 * 30)]
    assert len(run.benchmarks) > 140
    text = store.encode(run)
    assert len(text) < 5_000_000
    assert not any(default in text for default in (b'"search"', b'"gauge"', b'"telemetry"'))
    assert b'\n    "launches": [12,12,12,12,12,12,12,12,12,12,12,12],\n' in text


def test_pytest_benchmark_prints_a_stored_run(run: Run, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest_benchmark", "compare"]
    done = subprocess.run(
        [*command, str(store.write(run, tmp_path)), "--group-by=group"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert not done.stderr
    for case in run.benchmarks:
        assert case.name in done.stdout


def test_the_digest_can_be_checked_with_python_alone(run: Run, tmp_path: Path) -> None:
    content = json.loads(store.write(run, tmp_path).read_text())
    digest = content["frobench"].pop("digest")
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(canonical.encode()).hexdigest() == digest


@pytest.mark.parametrize("known", [True, False])
def test_a_newer_minor_is_read_or_else_named(run: Run, tmp_path: Path, *, known: bool) -> None:
    content = plain(run)
    content["frobench"]["minor"] = 99
    content["benchmarks"][0]["extra_info"] |= {"humidity": 0.4}
    if not known:
        content["benchmarks"][0]["extra_info"]["work"]["path"] = "pneumatic tube"
    content["frobench"]["digest"] = store.digest_of(content)
    path = stored(tmp_path, content)
    if known:
        (note,) = [one for one in checks.review(path) if one.code != "other-version"]
        assert (note.code, note.severity) == ("newer-file", "info")
        assert note.message.startswith("schema 1.99; ")
    else:
        assert fault(path) == "written by a newer Frobench: schema 1.99"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is cut off"),
        (b'{"machine_info": ' + b"[" * 50_000, "not a run of Frobench: maximum recursion depth"),
        (b"[]", "not a run of Frobench: not a table"),
        (b'{"machine_info": {"name": "\xff"}}', "not UTF-8"),
        (b'{"data": [NaN]}', "not a run of Frobench: JSON is malformed: invalid character (byte"),
        (b'{"frobench": {"schema": 3}}', "written by a newer Frobench: schema 3"),
        (b'{"frobench": {"schema": 0}}', "written by no Frobench: schema 0"),
    ],
)
def test_what_is_no_run_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    assert fault(stored(tmp_path, content)).startswith(message)


def test_an_existing_file_is_never_replaced(run: Run, tmp_path: Path) -> None:
    path = store.write(run, tmp_path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match=path.name) as caught:
        store.write(factory.run(slower=2.0), tmp_path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_no_reader_could_read_is_not_written() -> None:
    run = factory.run()
    run.machine_info["speed"] = math.nan
    with pytest.raises(store.InvalidResult, match="a number is not finite"):
        store.encode(run)
    run.frobench.seconds = math.nan
    with pytest.raises(store.InvalidResult, match=r"Expected `float` .* at `\$.frobench.seconds`"):
        store.encode(run)


@pytest.mark.parametrize("name", ["", "..", "../other", "a/b", ".hidden", "line\nbreak"])
def test_a_run_is_never_written_outside_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(store.InvalidResult, match="not a file name"):
        store.write(factory.run(machine=name or "."), tmp_path)
    run = factory.run()
    run.frobench.run = name
    with pytest.raises(store.InvalidResult, match="not a file name"):
        store.write(run, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_stored_files_are_found_once_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["b/2.json", "b/1.json", "a/1.json", "b/.1.json.77", "b/.2.json", ".c/1.json", "b/x"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert store.find([Path()]) == [Path("a/1.json"), Path("b/1.json"), Path("b/2.json")]
    others = [tmp_path / "a/1.json", tmp_path / "b/1.json"]
    assert store.find([Path("b/2.json"), tmp_path]) == [Path("b/2.json"), *others]
    assert store.find([Path("b/x")]) == [Path("b/x")]
    with pytest.raises(FileNotFoundError, match="nowhere"):
        store.find([Path("nowhere")])


def test_statistics_are_those_of_pytest_benchmark() -> None:
    stats = store.case_stats([4.0, 1.0, 2.0, 3.0], iterations=10)
    assert (stats.min, stats.max, stats.mean, stats.median) == (1.0, 4.0, 2.5, 2.5)
    assert (stats.q1, stats.q3, stats.iqr, stats.ops) == (1.5, 3.5, 2.0, 0.4)
    assert (stats.rounds, stats.iterations, stats.data) == (4, 10, [4.0, 1.0, 2.0, 3.0])


@pytest.mark.golden
def test_the_committed_schema_is_that_of_the_types() -> None:
    committed = SCHEMA_PATH.read_text(encoding="utf-8")
    assert committed == schema_text(), "`python -m frobench.suite.stored.schema` writes it anew"


TEXT = Path(__file__).parents[3].joinpath("docs", "results-format.md").read_text(encoding="utf-8")


def test_the_example_is_a_sound_run_with_every_field(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```jsonc\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    example = json.loads(re.sub(r" // .*", "", block))
    run = store.read(stored(tmp_path, example))
    example["commit_info"] |= dict.fromkeys(("time", "author_time", "branch"))
    example["commit_info"]["project"] = "frobench"
    example["frobench"]["digest"] = store.digest(run)
    assert plain(run) == example
    assert validate_file(store.write(run, tmp_path)) == run.frobench.conclusions
    assert checks.conclude(run) == run.frobench.conclusions


# No number of values and no text of a stored file makes its reader hang or grow

FIRST = "benchmarks.0"
SECONDS = 15
"""Of processor time; three times what a file may take, as tests share a processor."""
MANY_VALUES, DEEP = "more than 1,000,000 values", "[" * 50_000 + "]" * 50_000
OF_ONE = "$.benchmarks[0]"
ENERGY = {"joules": [-1.1e30], "seconds": [1.0]}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("unknown", [1] * store.MOST_VALUES, MANY_VALUES),
        ("unknown", [[]] * store.MOST_VALUES, MANY_VALUES),
        ("unknown", "DEEP", ""),
        (f"{FIRST}.group", "x" * (LONGEST_TEXT + 1), f"length <= 20000 - at `{OF_ONE}.group`"),
        (f"{FIRST}.params.{'x' * (LONGEST_NAME + 1)}", 1, "Expected `str` of length <= 2000"),
        (f"{FIRST}.extra_info.iterations", [10**400], "$"),
        (f"{FIRST}.extra_info.work", {"bytes": 1e308}, "[0].extra_info.work.bytes"),
        (
            f"{FIRST}.extra_info.energy",
            ENERGY,
            f">= -1e+30 - at `{OF_ONE}.extra_info.energy.joules",
        ),
        (f"{FIRST}.extra_info.order", [2**53 + 1], "<= 9007199254740992"),
    ],
    ids=range(9),
)
def test_a_file_that_holds_too_much_is_refused_with_the_place(
    place: str, value: object, message: str, tmp_path: Path
) -> None:
    content = msgspec.to_builtins(made())
    put(content, place, value)
    path = stored(tmp_path, json.dumps(content).replace('"DEEP"', DEEP).encode())
    begun = process_time()
    (found,) = checks.review(path)
    assert process_time() - begun < SECONDS
    assert found.code == "unreadable"
    assert message in found.message


def test_every_text_of_the_schema_has_a_bound() -> None:
    tables: list[dict[str, Any]] = []
    json.loads(json.dumps(msgspec.json.schema(Run)), object_hook=tables.append)
    kinds = ((one, one.get("type")) for one in tables)
    texts = [one for one, kind in kinds if kind == "string" or "string" in (kind or ())]
    assert len(texts) > 50
    assert [one for one in texts if "maxLength" not in one and "enum" not in one] == []
