# SPDX-License-Identifier: MIT
"""A machine whose NVML lists GPUs while CUDA counts others, below real processes of `frobench`.

The driver's library is compiled with the system's C compiler; torch's own Python code runs above it
and above stand-ins for the four functions in which torch's CUDA build is C++.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.instruments.processes.command import ROOT

TOO_OLD = (
    "The NVIDIA driver on your system is too old (found version 12090). Please update your GPU "
    "driver by downloading and installing a new version"
)
"""What torch says of the commonest fault, of which it only warns where devices are counted."""
LIBRARY = """
#include <stdio.h>
static const char *uuids[] = {{ {uuids} }};
int nvmlInit(void) {{ return 0; }}
int nvmlInitWithFlags(unsigned flags) {{ return 0; }}
int nvmlShutdown(void) {{ return 0; }}
const char *nvmlErrorString(int code) {{ return "stub"; }}
int nvmlDeviceGetCount_v2(unsigned *count) {{ *count = {count}; return 0; }}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {{
    *device = (void *)(uuids + index); return 0;
}}
int nvmlDeviceGetName(void *device, char *name, unsigned size) {{
    snprintf(name, size, "NVIDIA H200"); return 0;
}}
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size) {{
    snprintf(uuid, size, "%s", *(const char **)device); return 0;
}}
int nvmlSystemGetDriverVersion(char *version, unsigned size) {{
    snprintf(version, size, "{driver}"); return 0;
}}
"""
TORCH = """
import sys
if any("torch_offer" in word or "frobench.suite.launch.entry" in word for word in sys.orig_argv):
    import warnings
    import torch

    class Properties:
        name, uuid, major, minor = "NVIDIA H200", "0", 9, 0

    def count():
        if {refusal!r}:
            warnings.warn("CUDA initialization: " + {refusal!r})
        return {usable}

    def init():
        if not {usable}:
            raise RuntimeError({refusal!r} or "No CUDA GPUs are available")

    torch.version.cuda = "13.0"
    torch._C._accelerator_getAccelerator = lambda: torch.device("cuda")
    torch._C._cuda_getDeviceCount = count
    torch._C._cuda_init = init
    torch._C._cuda_getArchFlags = lambda: "sm_90"
    torch._C._cuda_isInBadFork = False
    torch._C._cuda_getDevice = lambda: 0
    torch.cuda._cudart = object()
    torch.cuda._is_compiled = lambda: True
    torch.cuda._queued_calls.clear()
    torch.cuda._get_device_properties = lambda index: Properties()
"""
UUIDS = ("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "GPU-11111111-d72c-4106-c12f-20bd9faed9f6")


def plant(
    folder: Path,
    uuids: tuple[str, ...] = UUIDS[:1],
    *,
    usable: int = 0,
    driver: str = "575.57.08",
    refusal: str | None = None,
) -> dict[str, str]:
    """Write library and stand-ins below a folder; return the variables that put them in place.

    uuids : of the GPUs that NVML lists
    usable : GPUs that CUDA counts
    refusal : why CUDA counts none
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or os.name == "nt":
        pytest.skip("there is no C compiler for the driver's library")
    source, library = folder / "nvml.c", folder / "libnvidia-ml.so.1"
    listed = ", ".join(f'"{uuid}"' for uuid in uuids)
    source.write_text(LIBRARY.format(uuids=listed, count=len(uuids), driver=driver))
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    (folder / "sitecustomize.py").write_text(TORCH.format(usable=usable, refusal=refusal))
    paths = (str(folder), str(ROOT), os.environ.get("PYTHONPATH", ""))
    return {"LD_LIBRARY_PATH": str(folder), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
