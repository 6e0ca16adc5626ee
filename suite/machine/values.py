# SPDX-License-Identifier: MIT
"""Which values of environment variables may be stored: those that libraries gave a meaning.

Anybody may set any value, and a password looks like any word. So a value is kept only where it
consists of numbers, names of interfaces and the words that settings of libraries have.
"""

import re

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
"""Words that the settings of libraries have."""
_WORD = re.compile(r"\w+", re.ASCII)
_NUMBER = re.compile(
    r"0x[0-9a-f]{1,64}|\d{1,12}(?:e\d{1,3}|[kmgt]i?b?|[mun]?s)?|(?:bond|eth|hsn|ib|lo|mlx\d_)\d{0,3}",
    re.IGNORECASE,
)
"""Numbers with their units, masks of cores, and the names of network interfaces."""


def is_harmless(value: str) -> bool:
    """Tell whether a value consists of what libraries gave a meaning."""
    return value.isascii() and all(
        word.lower() in WORDS or _NUMBER.fullmatch(word) for word in _WORD.findall(value)
    )
