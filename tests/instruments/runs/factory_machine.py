# SPDX-License-Identifier: MIT
"""The machine of the factory's runs."""

from frobench.suite.stored.types import Accelerator, Cpu, Environment, Software


def machine_info(cpu: Cpu) -> dict[str, object]:
    """Return what pytest-benchmark says of a machine, without the host's name."""
    return {
        "node": "",
        "processor": "x86_64",
        "machine": cpu.architecture,
        "python_implementation": "CPython",
        "python_version": "3.11.7",
        "system": "Linux",
        "release": "6.8.0",
        "cpu": {"count": 2} | ({"brand_raw": cpu.model} if cpu.model else {}),
    }


def environment(machine: str | None, accelerators: int) -> Environment:
    """Return the environment of a container with two cores and so many H200."""
    names = {0: "amd-epyc-9654-2-cores", 1: "nvidia-h200"}
    return Environment(
        machine=machine or names.get(accelerators, f"{accelerators}x-nvidia-h200"),
        cpu=Cpu(
            model="AMD EPYC 9654 96-Core Processor",
            architecture="x86_64",
            physical_cores=2,
            logical_cores=2,
            usable_cores=2,
            quota_cores=None,
            governor=None,
            max_frequency_hz=3.7e9,
            last_level_cache_bytes=32 * 2**20,
            numa_nodes=1,
            memory_bytes=16 * 2**30,
        ),
        accelerators=[_accelerator(index) for index in range(accelerators)],
        software=Software(
            os="Debian GNU/Linux 12",
            kernel="6.8.0",
            container=True,
            python="3.11.7",
            torch="2.13.0",
            torch_build={"cuda": "13.0" if accelerators else None, "hip": None},
            threads=2,
            interop_threads=2,
            flags={"float32_matmul_precision": "highest", "deterministic": False},
            variables={"OMP_NUM_THREADS": "2"},
            packages={"numpy": "2.4.6", "pytest-benchmark": "5.3.1", "torch": "2.13.0"},
        ),
        unknown={
            "cpu.governor": "the kernel offers no frequency control",
            "cpu.quota_cores": "no limit is set",
        },
    )


def _accelerator(index: int) -> Accelerator:
    return Accelerator(
        name="NVIDIA H200",
        type="cuda",
        index=index,
        memory_bytes=141 * 10**9,
        capability="9.0",
        driver="580.95.05",
        multiprocessors=132,
        power_limit_watts=700.0,
        power_limit_default_watts=700.0,
        max_clock_hz=1.98e9,
        ecc=True,
        persistence=True,
        mig=False,
        pcie_generation=5,
        pcie_width=16,
        pcie_generation_max=5,
        pcie_width_max=16,
    )
