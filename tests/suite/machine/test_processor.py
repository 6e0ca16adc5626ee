# SPDX-License-Identifier: MIT
"""The processor is described as this process may use it, from files planted for the test."""

from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from frobench.suite.kit.device import Device
from frobench.suite.machine import host
from frobench.suite.machine.host import affinity, free_memory, processor, read
from tests.instruments.processes.project_files import planted

CORES = affinity() if psutil.LINUX else [0]

needs_linux = pytest.mark.skipif(not psutil.LINUX, reason="reads what only Linux has")


@pytest.mark.parametrize(
    "files",
    [
        {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "150000 100000"},
        {
            "proc/self/cgroup": "0::/user/job",
            "sys/fs/cgroup/user/cpu.max": "150000 100000",
            "sys/fs/cgroup/user/job/cpu.max": "max 100000",
        },
        {
            "proc/self/cgroup": "7:memory:/\n4:cpu,cpuacct:/docker/1f",
            "sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us": "75000",
            "sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_period_us": "50000",
        },
        {
            "proc/self/cgroup": "4:cpu:/docker/of-the-host",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "150000",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
        },
    ],
    ids=["v2", "v2, set above", "v1", "v1, seen from inside a container"],
)
def test_a_quota_limits_the_cores_that_may_be_used(tmp_path: Path, files: dict[str, str]) -> None:
    cpu = processor({}, planted(tmp_path, files))
    assert cpu.quota_cores == 1.5
    assert cpu.usable_cores == 1


@pytest.mark.parametrize(
    "files",
    [
        {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "max 100000"},
        {
            "proc/self/cgroup": "4:cpu:/",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
        },
        {},
    ],
    ids=["v2", "v1", "no control groups"],
)
def test_without_a_quota_every_core_of_the_affinity_counts(
    tmp_path: Path, files: dict[str, str]
) -> None:
    unknown: dict[str, str] = {}
    cpu = processor(unknown, planted(tmp_path, files))
    assert (cpu.quota_cores, unknown["cpu.quota_cores"]) == (None, "no limit is set")
    assert cpu.usable_cores == (len(CORES) if psutil.LINUX else cpu.logical_cores)


@pytest.mark.parametrize(
    ("group", "file"),
    [
        ("0::/", "sys/fs/cgroup/memory.max"),
        ("5:memory:/", "sys/fs/cgroup/memory/memory.limit_in_bytes"),
    ],
)
def test_a_containers_memory_is_what_it_may_use(tmp_path: Path, group: str, file: str) -> None:
    cpu = processor({}, planted(tmp_path, {"proc/self/cgroup": group, file: str(2**28)}))
    assert cpu.memory_bytes == 2**28


V1 = "5:memory:/slurm/job_7/step_0"
STEP = "sys/fs/cgroup/memory/slurm/job_7/step_0"


@pytest.mark.parametrize(
    "files",
    [
        {
            "proc/self/cgroup": "0::/",
            "sys/fs/cgroup/memory.max": str(3 * 2**20),
            "sys/fs/cgroup/memory.current": str(2 * 2**20),
        },
        {
            "proc/self/cgroup": "0::/job/step",
            "sys/fs/cgroup/job/memory.max": str(3 * 2**20),
            "sys/fs/cgroup/job/memory.current": str(2 * 2**20),
            "sys/fs/cgroup/job/step/memory.max": "max",
            "sys/fs/cgroup/job/step/memory.current": str(2**20),
        },
        {
            "proc/self/cgroup": f"{V1}\n0::/",
            "sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes": str(3 * 2**20),
            "sys/fs/cgroup/memory/slurm/job_7/memory.usage_in_bytes": str(2 * 2**20),
            f"{STEP}/memory.limit_in_bytes": str(2**40),
            f"{STEP}/memory.usage_in_bytes": str(2**20),
        },
        {
            "proc/self/cgroup": "0::/job",
            "sys/fs/cgroup/job/memory.max": str(3 * 2**20),
            "sys/fs/cgroup/job/memory.current": str(3 * 2**20),
            "sys/fs/cgroup/job/memory.stat": f"anon {2**20}\ninactive_file {2**20}\nfile {2**21}",
        },
        {
            "proc/self/cgroup": V1,
            f"{STEP}/memory.limit_in_bytes": str(3 * 2**20),
            f"{STEP}/memory.usage_in_bytes": str(3 * 2**20),
            f"{STEP}/memory.stat": f"inactive_file 0\ntotal_inactive_file {2**20}",
        },
    ],
    ids=["v2", "v2, set above", "v1, a batch job's", "v2, cached files", "v1, cached files"],
)
def test_the_tightest_limit_of_all_levels_leaves_the_free_memory(
    tmp_path: Path, files: dict[str, str]
) -> None:
    assert free_memory(planted(tmp_path, files)) == 2**20


@pytest.mark.parametrize(
    "files",
    [{}, {"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": "max"}],
    ids=["no control groups", "no limit"],
)
def test_without_a_limit_the_machines_free_memory_is_free(
    tmp_path: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=77))
    assert free_memory(planted(tmp_path, files)) == 77


def test_a_control_group_that_uses_more_than_its_limit_has_nothing_free(tmp_path: Path) -> None:
    files = {"memory.max": "1000", "memory.current": "2000"}
    groups = {f"sys/fs/cgroup/{name}": value for name, value in files.items()}
    assert free_memory(planted(tmp_path, {"proc/self/cgroup": "0::/"} | groups)) == 0


def test_a_case_on_the_cpu_may_take_what_the_limits_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "free_memory", lambda: 12345)
    assert Device("cpu").free_bytes() == 12345


def test_an_unlimited_container_has_the_memory_of_the_machine(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": "max"}
    assert processor({}, planted(tmp_path, files)).memory_bytes == psutil.virtual_memory().total


@needs_linux
def test_every_last_level_cache_that_a_usable_core_has_is_counted_once(tmp_path: Path) -> None:
    def cache(core: int, index: int, level: int, size: str, shared: str) -> dict[str, str]:
        folder = f"sys/devices/system/cpu/cpu{core}/cache/index{index}"
        facts = {"level": str(level), "size": size, "shared_cpu_list": shared}
        return {f"{folder}/{name}": value for name, value in facts.items()}

    files: dict[str, str] = {}
    for place, core in enumerate(CORES):
        files |= cache(core, 0, 1, "32K", str(core))
        files |= cache(core, 3, 3, "16384K", f"group {place // 2}")
    files |= cache(max(CORES) + 1, 3, 3, "16384K", "of another job")
    groups = (len(CORES) + 1) // 2
    cpu = processor({}, planted(tmp_path, files))
    assert cpu.last_level_cache_bytes == groups * 16 * 2**20


@needs_linux
def test_governors_and_memory_nodes_are_read(tmp_path: Path) -> None:
    files = {
        f"sys/devices/system/cpu/cpu{core}/cpufreq/scaling_governor": "powersave" for core in CORES
    }
    files |= {f"sys/devices/system/node/node{node}/cpulist": "0" for node in range(2)}
    cpu = processor({}, planted(tmp_path, files))
    assert (cpu.governor, cpu.numa_nodes) == ("powersave", 2)


def test_what_the_system_does_not_say_has_a_reason(tmp_path: Path) -> None:
    unknown: dict[str, str] = {}
    cpu = processor(unknown, tmp_path)
    assert (cpu.governor, cpu.last_level_cache_bytes, cpu.numa_nodes) == (None, None, None)
    assert {"cpu.governor", "cpu.last_level_cache_bytes", "cpu.numa_nodes"} <= unknown.keys()


@needs_linux
def test_how_cores_and_pages_are_run_is_read(tmp_path: Path) -> None:
    files = {
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver": "amd-pstate-epp",
        "sys/devices/system/cpu/cpufreq/boost": "0",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    }
    files |= {f"sys/devices/system/cpu/cpu{core}/node1/cpulist": "0" for core in CORES}
    cpu = processor({}, planted(tmp_path, files))
    assert (cpu.frequency_driver, cpu.boost) == ("amd-pstate-epp", False)
    assert (cpu.huge_pages, cpu.usable_numa_nodes, cpu.core_nodes) == ("madvise", 1, [1])


@pytest.mark.parametrize(("off", "boost"), [("0", True), ("1", False)])
def test_intels_driver_says_what_is_off(tmp_path: Path, off: str, *, boost: bool) -> None:
    files = {"sys/devices/system/cpu/intel_pstate/no_turbo": off}
    assert processor({}, planted(tmp_path, files)).boost is boost


def test_a_name_that_is_no_text_is_read_nevertheless(tmp_path: Path) -> None:
    (tmp_path / "product_name").write_bytes(b"Card \xff 1\n")
    assert read(tmp_path / "product_name") == "Card \N{REPLACEMENT CHARACTER} 1"


def test_the_processor_is_called_what_it_calls_itself(tmp_path: Path) -> None:
    told = "processor\t: 0\nmodel name\t: Some  Processor 9 @ 3.0GHz\nprocessor\t: 1"
    assert processor({}, planted(tmp_path, {"proc/cpuinfo": told})).model == (
        "Some Processor 9 @ 3.0GHz"
    )
