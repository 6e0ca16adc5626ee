# SPDX-License-Identifier: MIT
"""The environment: every fact or a reason, as this process may use it, and nobody's name."""

import json
import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import psutil
import pytest
from msgspec.structs import replace

from frobench.suite.machine import cpu_time, environment
from frobench.suite.machine.cpu_time import Accounts, Others, accounts, undisturbed
from frobench.suite.machine.host import affinity, free_memory, in_container, link_rate, processor
from frobench.suite.stored.machine_identity import machine_name
from tests.instruments.processes.git_project import git
from tests.instruments.processes.project_files import planted
from tests.instruments.runs.factory import run

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def nothings(value: object, path: str = "") -> Iterator[str]:
    """Yield the dotted path of every `None` in plain data."""
    if value is None:
        yield path
    pairs = enumerate(value) if isinstance(value, list) else ()
    for name, item in value.items() if isinstance(value, dict) else pairs:
        yield from nothings(item, f"{path}.{name}" if path else str(name))


def test_every_unknown_fact_and_no_other_has_a_reason() -> None:
    plain = msgspec.to_builtins(environment.capture(["cpu"]))
    reasons = plain.pop("unknown")
    assert sorted(nothings(plain)) == sorted(reasons)
    assert all(reasons.values())


def test_nothing_names_the_host_the_user_or_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    planted = {
        **dict.fromkeys(("HOME", "USERPROFILE"), "/home/jane-roe"),
        **dict.fromkeys(("LOGNAME", "USER", "LNAME", "USERNAME"), "jane-roe"),
        "CUDA_CACHE_PATH": r"C:\Users\jane-roe",
        "NCCL_HOSTID": "janes-laptop",
        "GLOO_SOCKET_IFNAME": "jane-roe0,jane-roe",
        "NCCL_COMM_ID": "10.20.30.40:1234",
        "TORCHELASTIC_RUN_ID": "node17.lab.example",
        "CUDA_VISIBLE_DEVICES": "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
        "SECRET_TOKEN": "jane-roe",
        "TORCH_PASSWORD": "hunter2",
        "PYTORCH_CREDIT": "ghs3cr3tT0kenValue99",
        "GPU_SERIAL": "1324521036879",
        "XLA_PROJECT": "moon",
    }
    for name, value in planted.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(platform, "node", lambda: "janes-laptop.lab.example")

    captured = environment.capture(["cpu"])
    told = msgspec.json.encode(captured).decode() + json.dumps(environment.machine_info())

    secrets = "jane 10.20.30.40 node17 8932f937 SECRET_TOKEN hunter2 ghs3cr3t 1324521036879 moon"
    assert [secret for secret in secrets.split() if secret in told] == []
    assert captured.software.variables["CUDA_VISIBLE_DEVICES"] == "by UUID, 1 device"


def test_variables_that_change_what_is_measured_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {
        "OMP_NUM_THREADS": "2",
        "CUDA_VISIBLE_DEVICES": "0,2,3",
        "KMP_AFFINITY": "granularity=fine,compact,1,0",
        "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:128",
        "NCCL_SOCKET_IFNAME": "eth0",
        "TORCH_SHARE_HOST_MEMORY": "off",
        "HSA_CU_MASK": "0:0xff00ff00ff00ff00",
    }
    for name, value in kept.items():
        monkeypatch.setenv(name, value)
    variables = environment.capture(["cpu"]).software.variables
    assert {name: variables.get(name) for name in kept} == kept


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
def test_a_machine_is_called_by_kind(accelerators: list[str], cpu: str | None, name: str) -> None:
    known = run(accelerators=1).frobench.environment
    known.cpu.model = cpu
    devices = [replace(known.accelerators[0], name=device) for device in accelerators]
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
    assert (info.author_time, info.dirty) == ("2026-01-02T02:04:05Z", False)
    assert "jane" not in msgspec.json.encode(info).decode().lower()
    assert environment.commit(repository / "suite").id is None  # as where the suite is installed


@needs_git
def test_only_a_change_of_what_measures_makes_it_dirty(repository: Path) -> None:
    for name, dirty in (("results/new.json", False), ("suite/timing.py", True)):
        planted(repository, {name: "pass"})
        assert environment.commit(repository).dirty is dirty


def test_without_git_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment.commit(tmp_path).id is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment.commit().id is None


CORES = affinity() if psutil.LINUX else [0]

needs_linux = pytest.mark.skipif(not psutil.LINUX, reason="reads what only Linux has")


Files = dict[str, object]


def cgroup(name: str, *groups: Files) -> Files:
    """Return the file that names the control group of this process, and files of groups."""
    return {"proc/self/cgroup": name} | {k: v for group in groups for k, v in group.items()}


def of(folder: str, **values: object) -> Files:
    """Return files of a control group, by the ends of their names."""
    return {f"sys/fs/cgroup/{folder}.{name}": value for name, value in values.items()}


def v1(name: str, folder: str, quota: int, period: int = 100_000) -> Files:
    """Return a control group of version 1."""
    return cgroup(name, of(folder, cfs_quota_us=quota, cfs_period_us=period))


ABOVE = (of("user/cpu", max="150000 100000"), of("user/job/cpu", max="300000 100000"))
OF_DOCKER = "cpu,cpuacct/docker/1f/cpu"
GROUPS: dict[str, tuple[Files, float | None]] = {
    "v2": (cgroup("0::/", of("cpu", max="150000 100000")), 1.5),
    "v2, half a core": (cgroup("0::/", of("cpu", max="50000 100000")), 0.5),
    "v2, set above": (cgroup("0::/user/job", *ABOVE), 1.5),
    "v1": (v1("7:memory:/\n4:cpu,cpuacct:/docker/1f", OF_DOCKER, 75_000, 50_000), 1.5),
    "v1, seen from inside a container": (v1("4:cpu:/docker/host", "cpu/cpu", 150_000), 1.5),
    "v2, no limit": (cgroup("0::/", of("cpu", max="max 100000")), None),
    "v1, no limit": (v1("4:cpu:/", "cpu/cpu", -1), None),
    "no control groups": ({}, None),
}


@pytest.mark.parametrize("name", GROUPS)
def test_a_quota_limits_the_cores_of_the_affinity(tmp_path: Path, name: str) -> None:
    files, quota = GROUPS[name]
    unknown: dict[str, str] = {}
    cpu = processor(unknown, planted(tmp_path, files))
    cores = len(CORES) if psutil.LINUX else cpu.logical_cores
    assert (cpu.quota_cores, cpu.usable_cores) == (quota, 1 if quota else cores)
    assert quota or unknown["cpu.quota_cores"] == "no limit is set"


@pytest.mark.parametrize(
    ("limits", "usable", "free"),
    [
        ({}, 99, 77),
        (of("memory", max="max", current=5), 99, 77),
        (of("memory", max=60), 60, 60),
        (of("memory", max=60, current=50), 60, 10),
        (of("memory", max=60, current=50, stat="file 9\ninactive_file 20"), 60, 30),
        (of("memory", max=60, current=50, stat="inactive_file 70"), 60, 60),
        (of("memory", max=60, current=70), 60, 0),
        (of("memory/memory", limit_in_bytes=60, usage_in_bytes=50), 60, 10),
    ],
)
def test_memory_is_that_of_the_machine_within_the_limit_of_the_control_group(
    tmp_path: Path, limits: Files, usable: int, free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = SimpleNamespace(total=99, available=77)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: machine)
    root = planted(tmp_path, cgroup("0::/\n5:memory:/", limits))
    assert (processor({}, root).memory_bytes, free_memory(root)) == (usable, free)


def of_core(core: int, facts: Files) -> Files:
    """Return files that the kernel keeps of a core."""
    return {f"sys/devices/system/cpu/cpu{core}/{name}": fact for name, fact in facts.items()}


def cache(core: int, level: int, size: str, shared: str) -> Files:
    facts = {"level": level, "size": size, "shared_cpu_list": shared}
    return of_core(core, {f"cache/index{level}/{name}": fact for name, fact in facts.items()})


@needs_linux
def test_every_last_level_cache_that_a_usable_core_has_is_counted_once(tmp_path: Path) -> None:
    caches = [cache(max(CORES) + 1, 3, "16384K", "of another job")]
    for place, core in enumerate(CORES):
        caches += cache(core, 1, "32K", f"{core}"), cache(core, 3, "16384K", f"group {place // 2}")
    cpu = processor({}, planted(tmp_path, *caches))
    assert cpu.last_level_cache_bytes == (len(CORES) + 1) // 2 * 16 * 2**20


@needs_linux
def test_how_the_kernel_runs_cores_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 12 if logical else 4)
    monkeypatch.setattr(psutil, "cpu_freq", lambda: SimpleNamespace(max=3700.0))
    governed: Files = {"cpufreq/scaling_governor": "powersave"}
    governed |= {"node10/cpulist": "0", "node2/cpulist": "0"}
    shared: Files = {
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver": "amd-pstate-epp",
        "sys/devices/system/cpu/cpufreq/boost": "0",
        "sys/devices/system/node/node0/cpulist": "0",
        "sys/devices/system/node/node1/cpulist": "0",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
        "proc/cpuinfo": "model name : A  CPU\ncpu family : 6\nmodel : 0x8f\nstepping : no\n",
    }
    files = [shared, *(of_core(core, governed) for core in CORES)]
    cpu = processor({}, planted(tmp_path, *files))
    assert (cpu.governor, cpu.frequency_driver, cpu.boost) == ("powersave", "amd-pstate-epp", False)
    assert (cpu.huge_pages, cpu.numa_nodes) == ("madvise", 2)
    assert (cpu.usable_numa_nodes, cpu.core_nodes) == (2, [2, 10])
    assert (cpu.logical_cores, cpu.threads_per_core, cpu.max_frequency_hz) == (12, 3, 3.7e9)
    assert (cpu.model, cpu.family, cpu.model_number, cpu.stepping) == ("A CPU", 6, 0x8F, None)
    for off, boost in (("0", True), ("1", False)):
        planted(tmp_path, {"sys/devices/system/cpu/intel_pstate/no_turbo": off})
        assert processor({}, tmp_path).boost is boost


@pytest.mark.parametrize(("speed", "rate"), [("8", 1e6), ("0", None), ("-1", None), ("", None)])
def test_a_link_has_the_rate_in_bytes(tmp_path: Path, speed: str, rate: float | None) -> None:
    assert link_rate("eth0", planted(tmp_path, {"sys/class/net/eth0/speed": speed})) == rate


def test_a_container_is_known_by_its_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = ("etc/hosts", ".dockerenv", "run/.containerenv")
    bare, docker, podman = (planted(tmp_path / mark, {mark: ""}) for mark in marks)
    monkeypatch.setattr(platform, "system", iter([*["Linux"] * 4, "Darwin"]).__next__)
    monkeypatch.setattr(os, "environ", {"HOME": "/"})
    assert [in_container(root) for root in (bare, docker, podman)] == [False, True, True]
    monkeypatch.setenv("container", "lxc")
    assert [in_container(bare), in_container(docker)] == [True, None]


SECOND = 10**9


def plant(root: Path, *threads: str) -> Path:
    """Write the accounts of this process's threads below a folder that stands for `/`."""
    tasks = f"proc/{os.getpid()}/task"
    return planted(root, {f"{tasks}/{n}/schedstat": account for n, account in enumerate(threads)})


@pytest.mark.parametrize(
    ("threads", "seconds"),
    [
        ([f"{2 * SECOND} {SECOND} 7", f"{SECOND} 0 1"], pytest.approx((3.0, 1.0))),
        ([""], None),
        (["5 unknown"], None),
        ([], None),
    ],
)
def test_the_accounts_of_all_threads_are_added_up_where_there_are_any(
    tmp_path: Path, threads: list[str], seconds: object
) -> None:
    assert accounts(plant(tmp_path, *threads)) == seconds


@pytest.mark.parametrize(
    ("call", "ran", "waited", "expected"),
    [
        (3.0, 1.0, 0.0, 3.0),  # it slept, or waited for a device
        (3.0, 1.0, 2.0, 1.0),  # one thread, and two programs beside it
        (3.0, 2.0, 6.0, 1.005),  # two threads that waited at the same time on two cores
        (3e-3, 0.0, 0.004, 3e-3),  # too short for the accounts
        (8e-3, 0.001, 0.04, 5.5e-3),
        (3.0, -9.0, -19.0, 3.0),  # a thread ended meanwhile
    ],
)
def test_what_a_call_waited_is_taken_off_but_not_what_it_ran(
    call: float, ran: float, waited: float, expected: float
) -> None:
    before = Accounts(10.0, 20.0)
    after = Accounts(10.0 + ran, 20.0 + waited)
    assert undisturbed(call, before, after, cores=2) == pytest.approx(expected)
    assert undisturbed(call, None, after, 2) == undisturbed(call, before, None, 2) == call


def test_only_others_keep_the_processor_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    moments, own, every = iter([5.0, 5.05, 7.0]), iter([10.0, 10.5]), iter([100.0, 101.3])
    slept: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: next(moments), sleep=slept.append)
    monkeypatch.setattr(cpu_time, "time", clock)
    monkeypatch.setattr(cpu_time, "affinity", lambda: [1])
    monkeypatch.setattr(cpu_time, "_own_seconds", lambda: next(own))
    core = psutil.cpu_times()
    cores = ([(), core._replace(user=used, idle=9 * used)] for used in every)
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu: next(cores) * percpu)
    assert Others().used() == pytest.approx(0.4)
    assert slept == pytest.approx([0.15])
