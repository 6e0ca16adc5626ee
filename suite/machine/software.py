# SPDX-License-Identifier: MIT
"""The software that moves numbers: system, Python, torch and its settings, packages."""

import getpass
import os
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from suite.machine.facts import Facts
from suite.model import Scalar, Software

VARIABLES = re.compile(
    r"(AMD|ATEN|CUBLAS|CUDA|CUDNN|DNNL|GLOO|GOMP|GPU|HIP|HSA|KMP|MALLOC|MIOPEN|MKL|NCCL|ONEAPI"
    r"|ONEDNN|OMP|OPENBLAS|PYTORCH|RCCL|ROCBLAS|ROCR|SYCL|TORCH|TORCHINDUCTOR|TRITON|XPU|ZE)_\w+"
    r"|LD_PRELOAD|NVIDIA_TF32_OVERRIDE|PYTHONHASHSEED|PYTHONMALLOC"
    r"|\w+_VISIBLE_DEVICES"  # of whichever vendor
)
"""Names of the environment variables that change what torch, a library or a driver does."""
SET = "set"
"""Stored in place of a value that may name a person, a place or one device of all."""
_TELLING = re.compile(
    r"[/\\@]"  # a path, an account
    r"|(GPU|MIG)-|\b[0-9a-f]{8}-[0-9a-f]{4}-"  # a device's UUID
    r"|\b\d+(\.\d+){3}\b|::|\b([0-9a-f]{2}:){5}"  # an address
    r"|\b[a-z][\w-]*(\.[a-z][\w-]*)+",  # a host in its domain
    re.IGNORECASE,
)


def software(facts: Facts, root: Path) -> Software:
    """Describe the software of this process; `root` is the folder that a container marks."""
    return Software(
        os=_operating_system(),
        kernel=platform.release(),
        container=facts.note("container", _container(root), "can be told on Linux only"),
        python=platform.python_version(),
        torch=str(torch.__version__),
        torch_build={
            part: facts.note(f"torch_build.{part}", version, "this build of torch has none")
            for part, version in _torch_build().items()
        },
        threads=torch.get_num_threads(),
        interop_threads=torch.get_num_interop_threads(),
        flags=_flags(),
        variables=stored_variables(os.environ),
        packages=_packages(),
    )


def stored_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that change what is measured; a telling value is only `set`."""
    own = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in _own_names()))
    return {
        name: SET if _TELLING.search(value) or own.search(value) else value
        for name, value in sorted(environ.items())
        if VARIABLES.fullmatch(name)
    }


def _own_names() -> set[str]:
    """Return what the host and the user are called."""
    host = platform.node()
    names = {host, host.partition(".")[0], Path.home().name}
    with suppress(OSError, KeyError):  # a user without a name, as in some containers
        names.add(getpass.getuser())
    return {name for name in names if name} or {"localhost"}


def _operating_system() -> str:
    with suppress(OSError):  # not Linux, or one that does not name itself
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    version = platform.mac_ver()[0]
    return f"macOS {version}" if version else f"{platform.system()} {platform.release()}"


def _container(root: Path) -> bool | None:
    if platform.system() != "Linux":
        return None
    marks = (root / ".dockerenv", root / "run/.containerenv")
    names = {"KUBERNETES_SERVICE_HOST", "container"}  # Kubernetes; systemd's word for others
    return any(mark.exists() for mark in marks) or not names.isdisjoint(os.environ)


def _packages() -> dict[str, str]:
    """Return the versions of everything installed, as Python finds it: the first of a name."""
    found = {one.metadata["Name"]: one.version for one in reversed([*metadata.distributions()])}
    plain = {re.sub(r"[-_.]+", "-", name).lower(): found[name] for name in found if name}
    return dict(sorted(plain.items()))


def _torch_build() -> dict[str, str | None]:
    backends: Any = torch.backends  # its types lack half of what it has
    cudnn = backends.cudnn.version()
    libraries = {"mkl": backends.mkl, "mkldnn": backends.mkldnn, "openmp": backends.openmp}
    return {
        "cuda": torch.version.cuda,
        "hip": torch.version.hip,
        "xpu": torch.version.xpu,
        "cudnn": None if cudnn is None else str(cudnn),
        "git": torch.version.git_version,
        "cpu_capability": backends.cpu.get_cpu_capability(),
        **{name: "yes" if library.is_available() else None for name, library in libraries.items()},
    }


def _flags() -> dict[str, Scalar]:
    """Return torch's own settings as the process begins; a case may set others for itself."""
    backends: Any = torch.backends
    cuda, cudnn = backends.cuda.matmul, backends.cudnn
    return {
        "default_dtype": str(torch.get_default_dtype()),
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "cuda_matmul_fp32_precision": cuda.fp32_precision,
        "cuda_matmul_fp16_reduced": cuda.allow_fp16_reduced_precision_reduction,
        "cuda_matmul_bf16_reduced": cuda.allow_bf16_reduced_precision_reduction,
        "cuda_matmul_fp16_accumulation": cuda.allow_fp16_accumulation,
        "cudnn_benchmark": cudnn.benchmark,
        "cudnn_deterministic": cudnn.deterministic,
        "cudnn_conv_fp32_precision": cudnn.conv.fp32_precision,
        "mkldnn_matmul_fp32_precision": backends.mkldnn.matmul.fp32_precision,
    }
