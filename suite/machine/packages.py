# SPDX-License-Identifier: MIT
"""Which installed packages move a number, and so are stored: no list of all that somebody uses."""

import re
from collections.abc import Mapping

_PUBLIC = re.compile(
    r"frobench|msgspec|numpy|pluggy|psutil|py-cpuinfo2|pytest(-benchmark)?"  # the harness
    r"|torch(ao|audio|vision|-directml|-mlir|-mlu|-musa|-npu|-xla)?|apex|flash-attn|xformers"
    r"|(pytorch-)?triton(-(rocm|windows|xpu))?|intel-extension-for-pytorch|oneccl-bind-pt"
    r"|mkl(-(dnn|fft|random|service|umath))?|onemkl-sycl-\w+|dpcpp-cpp-rt|intel-openmp|openblas|tbb"
    r"|intel-(cmplr-lib-rt|cmplr-lib-ur|cmplr-lic-rt|opencl-rt|pti|sycl-rt)|umf|tcmlib"
    r"|cuda-(bindings|core|pathfinder|python|toolkit)|nvidia-(ml-py|cuda-(cupti|nvcc|nvrtc|runtime)"
    r"|cublas|cudnn|cufft|cufile|curand|cusolver|cusparse(lt)?|nccl|nvjitlink|nvshmem|nvtx)(-cu\d+)?"
    r"|amdsmi|zeus|ray"
)
"""Their names as pip normalises them; a name that is not here may be somebody's own."""


def that_move(packages: Mapping[str, str]) -> dict[str, str]:
    """Return the packages, version by name, on which a measured number may depend."""
    return {name: version for name, version in packages.items() if _PUBLIC.fullmatch(name)}
