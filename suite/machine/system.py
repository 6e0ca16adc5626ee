# SPDX-License-Identifier: MIT
"""The software around torch that moves numbers: the system, environment variables, packages.

None of it names anybody. A password looks like any word, so a variable's value is kept only if it
consists of numbers, names of interfaces and words of libraries' settings.
"""

import os
import platform
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from frobench.suite.machine.limits import ROOT
from frobench.suite.personal import private
from frobench.suite.units import counted

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
_MADE = re.compile(rf"{SET}|by UUID, \d+ devices?")
_UUID = re.compile(r"\s*(?:GPU|MIG)-|[0-9a-f]{8}-[0-9a-f]{4}-", re.IGNORECASE)
_MASK = re.compile(r"_VISIBLE_DEVICES$|_AFFINITY_MASK$|_DEVICE_SELECTOR$")
"""Names of masks, which hold the names of devices of any vendor."""
_SHORTEST = 4
"""Letters of a value that may name somebody; shorter values are switches."""
_TELLING = re.compile(
    r"[/\\@]"  # a path, an account
    r"|(GPU|MIG)-|\b[0-9a-f]{8}-[0-9a-f]{4}-"  # a device's UUID
    r"|\b\d+(\.\d+){3}\b|::|\b([0-9a-f]{2}:){5}"  # an address
    r"|\b[a-z][\w-]*(\.[a-z][\w-]*)+"  # a host in its domain
    r"|\b(?!0x)(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{16}",  # a key
    re.IGNORECASE,
)
_WORDS = """
accelerator active affinity align all allow always any auto avx avx2 avx512 backend
balanced bf16 bfloat16 bind blocktime bytes cache close collnet compact compile core cores
cpu cpus cublas cublaslt cuda cudamallocasync cudnn debug default disable disabled dynamic
eager enable enabled env error expandable_segments explicit false fast fatal fine float
float16 float32 float64 fp16 fp32 full garbage_collection_threshold gnu gpu gpus
granularity graph guided half high highest hip host info inductor int8 intel lazy
level_zero ll ll128 ll_caches loc local low mandatory master max_non_split_rounding_mb
max_split_size_mb medium mixed monotonic native never no node none noduplicates
nonmonotonic norespect noverbose nowarnings null numa numa_domains nvl nvls nvlstree off on
once opencl openmp pageable passive patch path pci phb pinned pinned_num_register_threads
pinned_use_background_threads pinned_use_cuda_host_register pix prefer primary proclist pxb
respect ring roundup_power2_divisions scatter sequential serial shm simple socket sockets
spin spread static strict summary sync sys tbb tf32 thread threads tile trace tree true
turnaround unset verbose version warn warning warnings xpu yes
"""
WORDS = frozenset(_WORDS.split())
"""Words of libraries' settings."""
_WORD = re.compile(r"\w+", re.ASCII)
_NUMBER = re.compile(
    r"0x[0-9a-f]{1,64}|\d{1,12}(?:e\d{1,3}|[kmgt]i?b?|[mun]?s)?|(?:bond|eth|hsn|ib|lo|mlx\d_)\d{0,3}",
    re.IGNORECASE,
)
"""Numbers with their units, masks of cores, and the names of network interfaces."""


def operating_system() -> str:
    """Return what the system calls itself, with its version."""
    with suppress(OSError):  # not Linux, or one that does not name itself
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    version = platform.mac_ver()[0]
    return f"macOS {version}" if version else f"{platform.system()} {platform.release()}"


def kernel() -> str:
    """Return the kernel's release; one that somebody built may have a name of theirs in it."""
    return private.hide(platform.release(), private.own_names(), version=True)


def in_container(root: Path = ROOT) -> bool | None:
    """Tell whether this is a container; `None` where that cannot be told."""
    if platform.system() != "Linux":
        return None
    marks = (root / ".dockerenv", root / "run/.containerenv")
    names = {"KUBERNETES_SERVICE_HOST", "container"}  # Kubernetes; systemd's word for others
    return any(mark.exists() for mark in marks) or not names.isdisjoint(os.environ)


def known(
    facts: Mapping[str, tuple[Any, str]], part: str, unknown: dict[str, str]
) -> dict[str, Any]:
    """Return the values of facts, each given with the reason for which it may be `None`.

    part : what precedes a fact's name in `unknown`, such as `cpu.`
    unknown : takes the reasons for the values that are `None`
    """
    unknown |= {f"{part}{name}": why for name, (value, why) in facts.items() if value is None}
    return {name: value for name, (value, _) in facts.items()}


def public_packages(packages: Mapping[str, str]) -> dict[str, str]:
    """Return the packages, version by name, on which a measured number may depend."""
    return {name: version for name, version in packages.items() if _PACKAGES.fullmatch(name)}


def stored_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that change what is measured; a telling value is only `set`."""
    own = private.own_names()
    return {
        name: storable(name, value, own)
        for name, value in sorted(environ.items())
        if _VARIABLES.fullmatch(name)
    }


def storable(name: str, value: str, names: Collection[str]) -> str:
    """Return a variable's value as it may be stored; `names` are those of the host and its user."""
    somebodys = _SOMEBODYS.search(name) is not None and len(value) >= _SHORTEST
    unusual = not (_MASK.search(name) or is_harmless(value)) or _TELLING.search(value)
    telling = somebodys or unusual or any(private.find(value, names))
    if not telling or _MADE.fullmatch(value):  # nothing to hide, or hidden before
        return value
    if name.endswith("_VISIBLE_DEVICES") and _UUID.match(value):
        return f"by UUID, {counted(len(value.split(',')), 'device')}"
    return SET


def is_harmless(value: str) -> bool:
    """Tell whether a value consists of what libraries gave a meaning."""
    return value.isascii() and all(
        word.lower() in WORDS or _NUMBER.fullmatch(word) for word in _WORD.findall(value)
    )
