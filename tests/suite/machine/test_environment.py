# SPDX-License-Identifier: MIT
"""The environment: every fact or a reason, a name for the kind of machine, nobody's name."""

import json
import platform
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from packaging.requirements import Requirement

from frobench.suite.machine import environment
from frobench.suite.machine.host import public_packages
from frobench.suite.stored.machine_identity import machine_name
from frobench.suite.stored.types import Environment
from tests.instruments.processes.command import ROOT
from tests.instruments.processes.git_project import git
from tests.instruments.runs.factory import run

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(scope="module")
def captured() -> Environment:
    return environment.capture(["cpu"])


def nothings(value: object, path: str = "") -> Iterator[str]:
    """Yield the dotted path of every `None` in plain data."""
    if value is None:
        yield path
    pairs = enumerate(value) if isinstance(value, list) else ()
    for name, item in value.items() if isinstance(value, dict) else pairs:
        yield from nothings(item, f"{path}.{name}" if path else str(name))


def test_every_fact_that_is_not_known_has_its_reason_and_no_other_has_one(
    captured: Environment,
) -> None:
    plain = msgspec.to_builtins(captured)
    reasons = plain.pop("unknown")
    assert sorted(nothings(plain)) == sorted(reasons)
    assert all(reasons.values())


def test_it_is_stored_and_read_back_as_it_was(captured: Environment) -> None:
    stored = msgspec.json.encode(captured)
    assert msgspec.json.decode(stored, type=Environment) == captured


def test_the_package_that_python_would_import_is_the_one_that_counts(
    captured: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "numpy-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: NumPy\nVersion: 0.1\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert captured.software.packages["numpy"] != "0.1"
    assert environment.capture(["cpu"]).software.packages["numpy"] == "0.1"


def test_nothing_names_the_host_the_user_or_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(Path("/home/jane-roe")))
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "jane-roe")
    monkeypatch.setattr(platform, "node", lambda: "janes-laptop.lab.example")
    planted = {
        "TORCH_HOME": "/home/jane-roe/models",
        "CUDA_CACHE_PATH": r"C:\Users\jane-roe",
        "NCCL_HOSTID": "janes-laptop",
        "GLOO_SOCKET_IFNAME": "jane-roe0,jane-roe",
        "NCCL_COMM_ID": "10.20.30.40:1234",
        "NCCL_DEBUG_FILE": "jane@lab.example",
        "TORCHELASTIC_RUN_ID": "node17.lab.example",
        "CUDA_VISIBLE_DEVICES": "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
        "SECRET_TOKEN": "jane-roe",
        "TORCH_PASSWORD": "hunter2",
        "TORCH_AUTH_TOKEN": "correcthorse",
        "PYTORCH_CREDIT": "ghs3cr3tT0kenValue99",
        "GLOO_HOSTNAME": "rack7-4",
        "GPU_SERIAL": "1324521036879",
        "XLA_PROJECT": "moonshot",
    }
    for name, value in planted.items():
        monkeypatch.setenv(name, value)

    captured = environment.capture(["cpu"])
    told = msgspec.json.encode(captured).decode() + json.dumps(environment.machine_info())

    secrets = ["jane", "10.20.30.40", "node17", "8932f937", "SECRET_TOKEN", "hunter2", "horse"]
    secrets += ["ghs3cr3t", "rack7", "1324521036879", "moonshot"]
    assert [secret for secret in secrets if secret in told] == []
    assert captured.software.variables["CUDA_VISIBLE_DEVICES"] == "by UUID, 1 device"


def test_variables_that_change_what_is_measured_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {
        "OMP_NUM_THREADS": "2",
        "CUDA_VISIBLE_DEVICES": "0,2,3",
        "KMP_AFFINITY": "granularity=fine,compact,1,0",
        "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:128",
        "PYTORCH_HIP_ALLOC_CONF": "roundup_power2_divisions:[64:8,256:4]",
        "NCCL_SOCKET_IFNAME": "eth0",
        "TORCH_SHARE_HOST_MEMORY": "1",
        "HSA_CU_MASK": "0:0xff00ff00ff00ff00",
    }
    for name, value in kept.items():
        monkeypatch.setenv(name, value)
    variables = environment.capture(["cpu"]).software.variables
    assert {name: variables.get(name) for name in kept} == kept


def test_an_empty_mask_is_told_from_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert environment.capture(["cpu"]).software.variables["CUDA_VISIBLE_DEVICES"] == ""


def test_a_kernel_that_is_named_after_its_host_loses_that_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("platform.node", lambda: "janes-laptop")
    monkeypatch.setattr("platform.release", lambda: "6.8.0-janes-laptop")
    assert environment.machine_info()["release"] == "6.8.0-…"
    assert environment.capture(["cpu"]).software.kernel == "6.8.0-…"


def test_the_machine_info_is_pytest_benchmarks_without_a_host() -> None:
    info = environment.machine_info()
    assert info["node"] == ""
    assert info["cpu"]["count"] >= 1


@pytest.mark.parametrize(
    ("accelerators", "cpu", "name"),
    [
        ([], "AMD EPYC 7763 64-Core Processor", "amd-epyc-7763-2-cores"),
        ([], "Intel(R) Xeon(R) CPU E5-2673 v4 @ 2.30GHz", "intel-xeon-e5-2673-v4-2-cores"),
        ([], None, "x86-64-2-cores"),
        (["NVIDIA H200"], "any", "nvidia-h200"),
        (["NVIDIA H100 80GB HBM3"] * 8, "any", "8x-nvidia-h100-80gb-hbm3"),
        (["../../etc/passwd"], "any", "etc-passwd"),
    ],
)
def test_a_machine_is_named_by_its_kind(
    accelerators: list[str], cpu: str | None, name: str
) -> None:
    known = run(accelerators=1).frobench.environment
    known.cpu.model = cpu
    devices = [
        msgspec.structs.replace(known.accelerators[0], name=device) for device in accelerators
    ]
    assert machine_name(known.cpu, devices) == name


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with a suite in it, on a branch that names its author."""
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "timing.py").write_text("")
    git(tmp_path, "init", "-q", "-b", "jane-roe/faster")
    git(tmp_path, "add", ".")
    author = ("--author", "Jane Roe <jane@lab.example>", "--date", "2026-01-02T03:04:05+0100")
    git(tmp_path, "commit", "-q", "-m", "Measure", *author)
    return tmp_path


@needs_git
def test_the_commit_is_told_without_its_author(repository: Path) -> None:
    info = environment.commit(repository)
    assert info.id == git(repository, "rev-parse", "HEAD")
    assert info.author_time == "2026-01-02T02:04:05Z"
    assert info.dirty is False
    assert "jane" not in msgspec.json.encode(info).decode().lower()


@needs_git
def test_only_a_change_of_what_measures_makes_it_dirty(repository: Path) -> None:
    (repository / "results").mkdir()
    (repository / "results" / "new.json").write_text("{}")
    assert environment.commit(repository).dirty is False
    (repository / "suite" / "timing.py").write_text("pass")
    assert environment.commit(repository).dirty is True


@needs_git
def test_an_installed_suite_does_not_claim_the_repository_around_it(repository: Path) -> None:
    assert environment.commit(repository / "suite").id is None


def test_without_git_or_a_repository_there_is_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert environment.commit(tmp_path).id is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment.commit().id is None


def test_versions_of_the_libraries_that_sensors_ask_are_stored() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    libraries = {Requirement(text).name: "1.0" for name in extras for text in extras[name]}
    assert public_packages(libraries) == libraries
