# SPDX-License-Identifier: MIT
"""A machine whose NVML lists GPUs while CUDA counts others, below real processes of `frobench`.

The driver's library is simulated below pynvml; torch's own Python code runs above stand-ins for the
functions in which torch's CUDA build is C++.
"""

from pathlib import Path

from tests.instruments.processes.command import found_first

TORCH = """
import sys

import pynvml

from tests.instruments.devices.simulated_nvml import Gpu, Library

pynvml.nvmlLib = Library(Gpu(), driver={driver!r})
if any("torch_offer" in word or "frobench.suite.launch.entry" in word for word in sys.orig_argv):
    import warnings
    import torch

    def count():
        if {refusal!r}:
            warnings.warn("CUDA initialization: " + {refusal!r})
        return 0

    def init():
        raise RuntimeError({refusal!r} or "No CUDA GPUs are available")

    torch.version.cuda = "13.0"
    torch._C._accelerator_getAccelerator = lambda: torch.device("cuda")
    torch._C._cuda_getDeviceCount = count
    torch._C._cuda_init = init
    torch._C._cuda_getArchFlags = lambda: "sm_90"
    torch._C._cuda_isInBadFork = False
    torch.cuda._cudart = object()
    torch.cuda._is_compiled = lambda: True
    torch.cuda._queued_calls.clear()
"""


def plant(folder: Path, *, driver: str = "575.57.08", refusal: str | None = None) -> dict[str, str]:
    """Write stand-ins below a folder; return the variables that put them in place.

    refusal : why CUDA counts no GPU
    """
    (folder / "sitecustomize.py").write_text(TORCH.format(driver=driver, refusal=refusal))
    return found_first(folder)
