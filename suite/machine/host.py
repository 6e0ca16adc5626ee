# SPDX-License-Identifier: MIT
"""Facts about the host: processor, cores and memory in use, settings, networks, torch backends."""

import os
import platform
import re
import socket
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from math import floor
from pathlib import Path
from typing import Any, NamedTuple

import cpuinfo
import psutil

from frobench.suite import personal_data
from frobench.suite.stored.machine_identity import described, vector_sets
from frobench.suite.stored.types import Cpu
from frobench.suite.units import counted

ROOT = Path("/")
_MEMORY_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Of version 2 and 1 of control groups: the files of limit and use, and the entry of `memory.stat`
for what can be given back."""


def read(path: Path) -> str:
    """Return the stripped text of a file of the system; empty if there is none."""
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").strip()  # names may be junk
    return ""


def affinity() -> list[int]:
    """Return the numbers of the cores that this process may run on, ascending."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))  # macOS binds no process to cores


def quota(root: Path = ROOT) -> float | None:
    """Return the tightest limit of CPU time of all control groups of this process, in cores."""
    quotas = []
    for group in _control_groups(root, "cpu"):
        version_1 = read(group / "cpu.cfs_quota_us"), read(group / "cpu.cfs_period_us")
        quota, period = read(group / "cpu.max").split() or version_1
        if quota.isdigit() and period.isdigit():  # else `max` or -1: without limit
            quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def cores_in_use(root: Path = ROOT) -> int:
    """Return the number of cores that this process can keep busy: at least one."""
    cores = len(affinity())
    return min(cores, max(1, floor(quota(root) or cores)))


def psutil_frequency() -> Any:  # noqa: ANN401 - psutil's types deny that it may be None
    """Return the processor's frequencies in MHz as psutil does, or `None`."""
    with suppress(AttributeError, NotImplementedError, OSError, RuntimeError):
        return psutil.cpu_freq()
    return None


def memory(root: Path = ROOT) -> int:
    """Return the bytes of memory that this process could use alone on the machine."""
    return min([psutil.virtual_memory().total, *(limit for limit, _ in _memory_limits(root))])


def free_memory(root: Path = ROOT) -> int:
    """Return the bytes of memory that this process can still take."""
    left = [limit - used for limit, used in _memory_limits(root)]
    return max(0, min([psutil.virtual_memory().available, *left]))


def _memory_limits(root: Path) -> Iterator[tuple[int, int]]:
    """Yield the limit of each control group that has one, and what counts against it, in bytes.

    A control group counts cached files as used; those not in use are given back for the asking.
    """
    for group in _control_groups(root, "memory"):
        for limit_file, used_file, entry in _MEMORY_FILES:
            limit, used = read(group / limit_file), read(group / used_file)
            if limit.isdigit():  # else `max`: without limit
                cached = re.search(rf"(?m)^{entry}\s+(\d+)$", read(group / "memory.stat"))
                taken = int(used) if used.isdigit() else 0
                yield int(limit), max(0, taken - (int(cached[1]) if cached else 0))


def _control_groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the control groups of this process from the outermost in, of versions 1 and 2.

    In a container the path may be the host's, of which only the outermost folder exists.
    """
    for line in read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        folder = root / "sys/fs/cgroup" / controllers
        yield folder
        for part in path.strip("/").split("/"):
            folder /= part
            yield folder


def processor(unknown: dict[str, str], root: Path = ROOT) -> Cpu:
    """Describe the processor; `unknown` takes the reasons for what is not known."""
    system = root / "sys/devices/system"
    folders = [system / f"cpu/cpu{core}" for core in affinity()]
    governors = {read(folder / "cpufreq/scaling_governor") for folder in folders} - {""}
    nodes = {node.name for folder in folders for node in folder.glob("node[0-9]*")}
    core_nodes = sorted(int(name.removeprefix("node")) for name in nodes)
    huge_pages = read(root / "sys/kernel/mm/transparent_hugepage/enabled")  # always [madvise] never
    frequency = psutil_frequency()
    physical, logical = psutil.cpu_count(logical=False), psutil.cpu_count()
    facts = {
        **_named(root),
        "physical_cores": physical,
        "logical_cores": logical,
        "quota_cores": quota(root),
        "governor": ", ".join(sorted(governors)) or None,
        "max_frequency_hz": float(frequency.max) * 1e6 or None if frequency else None,
        "last_level_cache_bytes": last_level_cache(root),
        "numa_nodes": len(list((system / "node").glob("node[0-9]*"))) or None,
        "boost": _boost(system / "cpu"),
        "frequency_driver": read(system / "cpu/cpu0/cpufreq/scaling_driver") or None,
        "usable_numa_nodes": len(core_nodes) or None,
        "core_nodes": core_nodes or None,
        "threads_per_core": logical // physical if logical and physical else None,
        "huge_pages": huge_pages.partition("[")[2].partition("]")[0] or None,
    }
    unknown |= unknown_facts(facts, {"quota_cores": "no limit is set"}, "cpu.")
    return Cpu(
        architecture=platform.machine(),
        usable_cores=cores_in_use(root),
        memory_bytes=memory(root),
        **facts,
    )


def unknown_facts(
    facts: Mapping[str, Any],
    reasons: Mapping[str, str],
    part: str = "",
    otherwise: str = "the system does not tell it",
) -> dict[str, str]:
    """Return why facts are `None`, by their names behind `part`, such as `cpu.`."""
    return {
        f"{part}{name}": reasons.get(name, otherwise)
        for name, value in facts.items()
        if value is None
    }


def _named(root: Path) -> dict[str, Any]:
    """Return a processor's model and what tells it from others of that name."""
    text = read(root / "proc/cpuinfo")

    def field(name: str) -> str:
        line = re.search(rf"(?m)^{name}\s*: (.+)$", text)
        return " ".join(line[1].split()) if line else ""

    if model := field("model name"):  # asking cpuinfo takes a sixth of a second
        facts = {
            "family": _number(field("cpu family")),
            "model_number": _number(field("model")),
            "stepping": _number(field("stepping")),
            "instruction_sets": vector_sets(field("flags").split()),
        }
    else:
        info = cpuinfo.get_cpu_info()
        model, facts = info.get("brand_raw") or platform.processor(), described(info)
    return {"model": " ".join(model.split()) or None, **facts}


def _number(text: str) -> int | None:
    try:
        return int(text, base=0)
    except ValueError:
        return None


def _boost(cpus: Path) -> bool | None:
    """Tell whether cores may run above their base clock; Intel's driver says it the other way."""
    if off := read(cpus / "intel_pstate/no_turbo"):
        return off == "0"
    on = read(cpus / "cpufreq/boost")
    return on == "1" if on else None


def last_level_cache(root: Path = ROOT) -> int | None:
    """Return the bytes of all caches of the last level that usable cores have."""
    levels: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for core in affinity():
        for index in (root / f"sys/devices/system/cpu/cpu{core}/cache").glob("index*"):
            level, size = read(index / "level"), read(index / "size")
            if level and size.endswith("K"):
                levels[level][read(index / "shared_cpu_list")] = int(size[:-1]) * 1024
    return sum(levels[max(levels)].values()) or None if levels else None


_PACKAGES = re.compile(
    r"frobench|msgspec|numpy|pluggy|psutil|py-cpuinfo2|pytest(-benchmark)?"  # the harness
    r"|torch(ao|audio|vision|-directml|-mlir|-mlu|-musa|-npu|-xla)?|apex|flash-attn|xformers"
    r"|(pytorch-)?triton(-(rocm|windows|xpu))?|intel-extension-for-pytorch|oneccl-bind-pt"
    r"|mkl(-(dnn|fft|random|service|umath))?|onemkl-sycl-\w+|dpcpp-cpp-rt|intel-openmp|openblas|tbb"
    r"|intel-(cmplr-lib-rt|cmplr-lib-ur|cmplr-lic-rt|opencl-rt|pti|sycl-rt)|umf|tcmlib"
    r"|cuda-(bindings|core|pathfinder|python|toolkit)|nvidia-(ml-py|cuda-(cupti|nvcc|nvrtc|runtime)"
    r"|cublas|cudnn|cufft|cufile|curand|cusolver|cusparse(lt)?|nccl|nvjitlink|nvshmem|nvtx)(-cu\d+)?"
    r"|amdsmi|zeus(-apple-silicon)?|ray"
)
"""Public packages that move numbers, as pip normalises names; others may be somebody's own."""
_VARIABLES = re.compile(
    r"(AMD|ATEN|BLIS|CUBLAS|CUBLASLT|CUDA|CUDNN|CUFFT|CUSPARSE|DNNL|FBGEMM|GLOO|GOMP|GPU|HIP"
    r"|HIPBLAS|HIPBLASLT|HSA|IGC|INDUCTOR|IPEX|KMP|MALLOC|MIOPEN|MKL|NCCL|ONEAPI|ONEDNN|OMP"
    r"|OPENBLAS|PYTORCH|RCCL|ROCBLAS|ROCR|SYCL|TBB|TENSILE|TORCH|TORCHINDUCTOR|TRITON|UCX|VECLIB"
    r"|XLA|XPU|ZE)_\w+"
    r"|DYLD_INSERT_LIBRARIES|GLIBC_TUNABLES|LD_LIBRARY_PATH|LD_PRELOAD|NVIDIA_TF32_OVERRIDE"
    r"|PYTHON(_GIL|_JIT|DEVMODE|HASHSEED|MALLOC|OPTIMIZE)"
    r"|\w+_VISIBLE_DEVICES"  # of whichever vendor
)
"""Names of variables that change what torch, a library or a driver does."""
SET = "set"
"""Stored in place of a value that may name a person, a path, a host or one device of all."""
_SOMEBODYS = re.compile(
    r"(?:^|_)(?:[A-Z]*(?:ACCOUNT|AUTH|CREDENTIAL|EMAIL|HOST|HOSTID|HOSTNAME|KEY|LICENSE|OWNER|PASS"
    r"|PASSWD|PASSWORD|PROJECT|SECRET|SERIAL|SERVER|TOKEN|USER|USERNAME)S?|JOB[A-Z]*|NAME)(?:_|$)"
)
"""Names of variables whose values are somebody's, whatever they look like."""
_UUID = re.compile(r"\s*(?:GPU|MIG)-|[0-9a-f]{8}-[0-9a-f]{4}-", re.IGNORECASE)
_KEY = re.compile(r"\b(?!0x)(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{16}", re.IGNORECASE)
"""As many letters and digits as a key may have."""
_SHORTEST = 4
"""Letters of a value that may name somebody; shorter values are switches."""


def operating_system() -> str:
    """Return what the system calls itself, with its version."""
    with suppress(OSError):  # not Linux, or one that does not name itself
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    version = platform.mac_ver()[0]
    return f"macOS {version}" if version else f"{platform.system()} {platform.release()}"


def kernel() -> str:
    """Return the kernel's release; one that somebody built may have a name of theirs in it."""
    place = "$.frobench.environment.software.kernel"
    return personal_data.hide(platform.release(), personal_data.own_names(), place)


def in_container(root: Path = ROOT) -> bool | None:
    """Tell whether this is a container; `None` where that cannot be told."""
    if platform.system() != "Linux":
        return None
    marks = (root / ".dockerenv", root / "run/.containerenv")
    names = {"KUBERNETES_SERVICE_HOST", "container"}  # Kubernetes; systemd's word for others
    return any(mark.exists() for mark in marks) or not names.isdisjoint(os.environ)


def public_packages(packages: Mapping[str, str]) -> dict[str, str]:
    """Return the packages, version by name, on which a measured number may depend."""
    return {name: version for name, version in packages.items() if _PACKAGES.fullmatch(name)}


def stored_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that change what is measured; a telling value is only `set`."""
    own = personal_data.own_names()
    return {
        name: storable(name, value, own)
        for name, value in sorted(environ.items())
        if _VARIABLES.fullmatch(name)
    }


def storable(name: str, value: str, names: Collection[str]) -> str:
    """Return a variable's value as it may be stored; `names` are those of the host and its user."""
    if name.endswith("_VISIBLE_DEVICES") and _UUID.match(value):
        return f"by UUID, {counted(len(value.split(',')), 'device')}"
    somebodys = _SOMEBODYS.search(name) and len(value) >= _SHORTEST
    return (
        SET if somebodys or _KEY.search(value) or any(personal_data.find(value, names)) else value
    )


MEGABIT = 1e6 / 8
"""Bytes a second of the unit in which Linux tells a link's rate."""


def interface_of(address: str) -> str | None:
    """Return the name of this machine's network interface that has an address."""
    with suppress(OSError):
        for name, addresses in psutil.net_if_addrs().items():
            if any(known.address == address for known in addresses):
                return name
    return None


def link_rate(interface: str, root: Path = ROOT) -> float | None:
    """Return an interface's rate in bytes a second, if the system tells it: not of a loopback."""
    megabits = read(root / "sys/class/net" / interface / "speed")  # -1 where it is not known
    return int(megabits) * MEGABIT or None if megabits.isdecimal() else None


def own_address(host: str, port: int) -> str:
    """Return the address by which this machine reaches a host; raises `OSError` if it cannot."""
    family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.connect(where)  # a datagram's socket: nothing is sent before something is written
        return str(probe.getsockname()[0])


GROUP = "torch.backends"
AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
"""The variable that switches the loading of backends off: any value but 1 does."""


class Backend(NamedTuple):
    """A backend by the name of its entry point, and the package that brings it."""

    name: str
    package: str
    version: str


def installed() -> list[Backend]:
    """Return the backends that installed packages bring, each once, by name."""
    entries = {
        Backend(entry.name, entry.dist.name, entry.dist.version)
        for entry in metadata.entry_points(group=GROUP)
        if entry.dist is not None
    }
    return sorted(entries)
