# SPDX-License-Identifier: MIT
"""The software that moves numbers: system, Python, torch and its settings, packages."""

import os
import platform
import re
from importlib import metadata
from typing import Any

import torch

from frobench.suite.machine import backends, system
from frobench.suite.machine.system import known
from frobench.suite.stored.run import Scalar, Software


def software(unknown: dict[str, str]) -> Software:
    """Describe the software of this process; `unknown` takes the reasons for what is not known."""
    container = {"container": (system.in_container(), "can be told on Linux only")}
    build = {part: (has, "this build of torch has none") for part, has in _torch_build().items()}
    return Software(
        os=system.operating_system(),
        kernel=system.kernel(),
        **known(container, "software.", unknown),
        python=platform.python_version(),
        torch=str(torch.__version__),
        torch_build=known(build, "software.torch_build.", unknown),
        threads=torch.get_num_threads(),
        interop_threads=torch.get_num_interop_threads(),
        flags=_flags(),
        variables=system.stored_variables(os.environ),
        packages=_packages(),
    )


def _packages() -> dict[str, str]:
    """Return versions of what moves numbers and of backends; of equal names Python's first."""
    described = [distribution.metadata for distribution in metadata.distributions()]
    found = {package["Name"]: package["Version"] for package in reversed(described)}
    plain = {_plain(name): version for name, version in found.items() if name}
    brought = {_plain(backend.package): backend.version for backend in backends.installed()}
    return dict(sorted((system.public_packages(plain) | brought).items()))


def _plain(name: str) -> str:
    """Return a package's name as pip normalises it."""
    return re.sub(r"[-_.]+", "-", name).lower()


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
