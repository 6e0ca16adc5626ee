# SPDX-License-Identifier: MIT
"""New hardware is never measured as a CPU in silence: each trouble is named, with its mend."""

import os
import platform
import sys
from pathlib import Path

import msgspec
import pytest

from frobench.suite.doctor import Examination, Offer, unusable_accelerators
from frobench.suite.stored.types import Conclusion
from tests.instruments.devices.planted_cuda import TOO_OLD, plant
from tests.instruments.devices.simulated_nvml import Gpu, install, install_none
from tests.instruments.processes.command import frobench
from tests.instruments.processes.project_files import planted

NONE: dict[str, str | None] = {"CUDA": None, "ROCm": None, "XPU": None, "MPS": None}
CPU_BUILD = Offer("2.13.0+cpu", NONE, 0)
CUDA_BUILD = Offer("2.13.0", NONE | {"CUDA": "13.0"}, 0)
ROCM_BUILD = Offer("2.13.0", NONE | {"ROCm": "7.2"}, 0)
XPU_BUILD = Offer("2.13.0", NONE | {"XPU": "20250302"}, 0)
MPS_BUILD = Offer("2.13.0", NONE | {"MPS": "built in"}, 0)

NVRM = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build"
NVIDIA_H100 = {
    "sys/bus/pci/devices/0000:18:00.0/class": "0x030200",
    "sys/bus/pci/devices/0000:18:00.0/vendor": "0x10de",
    "sys/bus/pci/devices/0000:18:00.0/device": "0x2330",
    "proc/driver/nvidia/gpus/0000:18:00.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\n",
    "proc/driver/nvidia/version": NVRM.format("580.95.05"),
    "dev/nvidia0": "",
    "dev/nvidiactl": "",
    "dev/nvidia-uvm": "",
}
AMD_MI300 = {
    "sys/bus/pci/devices/0000:0c:00.0/class": "0x120000",
    "sys/bus/pci/devices/0000:0c:00.0/vendor": "0x1002",
    "sys/bus/pci/devices/0000:0c:00.0/device": "0x74a1",
    "sys/module/amdgpu/version": "6.12",
    "dev/kfd": "",
}
INTEL_ARC = {
    "sys/bus/pci/devices/0000:03:00.0/class": "0x030000",
    "sys/bus/pci/devices/0000:03:00.0/vendor": "0x8086",
    "sys/bus/pci/devices/0000:03:00.0/device": "0xe20b",
    "sys/module/xe/refcnt": "1",
    "dev/dri/renderD128": "",
}


@pytest.fixture(autouse=True)
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no driver of this machine answer."""
    install_none(monkeypatch)


def codes(conclusions: list[Conclusion]) -> list[str]:
    return [conclusion.code for conclusion in conclusions]


def display(place: str, vendor: str, kind: str = "0x030000", **more: str) -> dict[str, str]:
    """Return the files of a display on the bus."""
    folder = f"sys/bus/pci/devices/{place}"
    files = {"class": kind, "vendor": vendor, "device": "0x1234"} | more
    return {f"{folder}/{name}": content for name, content in files.items()}


NO_ACCELERATORS = {
    "nothing": dict[str, str](),
    "a server's management display": display("0000:05:00.0", "0x1a03"),
    "Intel's integrated display": display("0000:00:02.0", "0x8086"),
    "Intel's NPU": display("0000:00:0b.0", "0x8086", "0x120000"),
    "a virtual display": display("0000:00:02.0", "0x1af4", "0x038000"),
    "AMD's integrated display": display(
        "0000:c1:00.0", "0x1002", max_link_speed="16.0", mem_info_vram_total=str(2**29)
    ),
    "NVIDIA's switch": display("0000:18:00.0", "0x10de", "0x068000"),
}
ACCELERATORS = {
    "NVIDIA": NVIDIA_H100,
    "AMD Instinct": AMD_MI300,
    "Intel Arc": INTEL_ARC,
    "NVIDIA without a driver": display("0000:01:00.0", "0x10de"),
    "AMD Radeon": display(
        "0000:03:00.0", "0x1002", max_link_speed="16.0", mem_info_vram_total=str(2**34)
    ),
    "AMD's newest, unknown to the kernel": display("0000:03:00.0", "0x1002", max_link_speed="32.0"),
}


@pytest.mark.parametrize("name", [*NO_ACCELERATORS, *ACCELERATORS])
def test_an_accelerator_is_never_overlooked_nor_seen_in_a_display(
    tmp_path: Path, name: str
) -> None:
    root = planted(tmp_path, (NO_ACCELERATORS | ACCELERATORS)[name])
    found = codes(unusable_accelerators(root, {}, CPU_BUILD))
    assert ("torch-build" in found, not found) == (name in ACCELERATORS, name in NO_ACCELERATORS)


def driven(version: str) -> dict[str, str]:
    """Return the files of an H100 whose driver has a version."""
    return NVIDIA_H100 | {"proc/driver/nvidia/version": NVRM.format(version)}


def cuda(version: str) -> Offer:
    return Offer("2.13.0", NONE | {"CUDA": version}, 0)


def lacking(name: str, *machine: dict[str, str]) -> dict[str, str]:
    """Return the files of machines but for one."""
    return {one: text for files in machine for one, text in files.items() if one != name}


ALONE = "H100 80GB HBM3 cannot be used: torch 2.13.0+cpu is built for the CPU alone, not for CUDA"
DRIVER, PASS_ON = "proc/driver/nvidia/version", "devices-not-passed-on"
EIGHT = [display(f"0000:{n}0:00.0", "0x10de") for n in range(1, 9)]
FOURTH = lacking("dev/nvidia0", *EIGHT, NVIDIA_H100, {"dev/nvidia3": ""})
UNSET = "unset CUDA_VISIBLE_DEVICES"
TROUBLES: list[tuple[dict[str, str], Offer, str, str]] = [
    (NVIDIA_H100, CPU_BUILD, "torch-build", ALONE),
    (NVIDIA_H100, CPU_BUILD, "torch-build", "pip install --force-reinstall torch==2.13.0 --index"),
    (AMD_MI300, CUDA_BUILD, "torch-build", "is built for CUDA, not for ROCm"),
    (INTEL_ARC, CUDA_BUILD, "torch-build", "is built for CUDA, not for XPU"),
    (NVIDIA_H100, ROCM_BUILD, "torch-build", "is built for ROCm, not for CUDA"),
    (driven("575.57.08"), CUDA_BUILD, "driver-too-old", "575.57.08"),
    (driven("580.65.06"), CUDA_BUILD, "unused-accelerator", ""),
    (driven("525.60"), cuda("12.6"), "unused-accelerator", ""),
    (driven("470.256.02"), cuda("12.6"), "driver-too-old", "470.256.02"),
    (lacking(DRIVER, NVIDIA_H100), CUDA_BUILD, "driver-missing", "nvidia.com"),
    (lacking("dev/nvidia-uvm", NVIDIA_H100), CUDA_BUILD, PASS_ON, "--gpus all"),
    (lacking("dev/nvidia0", NVIDIA_H100), CUDA_BUILD, PASS_ON, "--gpus all"),
    (lacking("sys/module/amdgpu/version", AMD_MI300), ROCM_BUILD, "driver-missing", "rocm.docs"),
    (lacking("dev/kfd", AMD_MI300), ROCM_BUILD, PASS_ON, "--device /dev/kfd"),
    (lacking("sys/module/xe/refcnt", INTEL_ARC), XPU_BUILD, "driver-missing", "docs.pytorch.org"),
    (lacking("dev/dri/renderD128", INTEL_ARC), XPU_BUILD, PASS_ON, "--device /dev/dri"),
]


@pytest.mark.parametrize(("files", "offer", "code", "said"), TROUBLES)
def test_what_keeps_torch_from_an_accelerator_is_named_with_what_mends_it(
    tmp_path: Path, files: dict[str, str], offer: Offer, code: str, said: str
) -> None:
    [trouble] = unusable_accelerators(planted(tmp_path, files), {}, offer)
    assert trouble.code == code
    assert said in f"{trouble.message}\n{trouble.advice}"


def test_who_may_not_open_nvidias_files_is_told_of_nvidias(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # as root one may open all
    [trouble] = unusable_accelerators(planted(tmp_path, NVIDIA_H100), {}, CUDA_BUILD)
    assert trouble.code == "no-permission"
    assert "/dev/nvidia" in trouble.advice
    assert "render" not in trouble.advice


@pytest.mark.parametrize(
    ("files", "masks", "code", "said"),
    [
        (NVIDIA_H100, ("", "-1", "1", "7,0", '"0"', "none"), "mask-hides-all", UNSET),
        (NVIDIA_H100, ("0", "0,1", " 0", "GPU-8932f937", "MIG-1"), "unused-accelerator", ""),
        (FOURTH, ("3",), "mask-hides-all", "; passed on are nvidia3, which it numbers from 0"),
    ],
)
def test_a_mask_is_blamed_where_it_hides_all(
    tmp_path: Path, files: dict[str, str], masks: tuple[str, ...], code: str, said: str
) -> None:
    root = planted(tmp_path, files)
    for mask in masks:
        [trouble] = unusable_accelerators(root, {"CUDA_VISIBLE_DEVICES": mask}, CUDA_BUILD)
        assert trouble.code == code
        assert said in f"{trouble.message}\n{trouble.advice}"


def test_a_uuid_of_no_gpu_here_hides_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Gpu(uuid="GPU-8932f937-d72c"))
    root = planted(tmp_path, NVIDIA_H100)
    for mask, code in (("GPU-1", "mask-hides-all"), ("GPU-8932", "unused-accelerator")):
        environ = {"CUDA_VISIBLE_DEVICES": mask}
        assert codes(unusable_accelerators(root, environ, CUDA_BUILD)) == [code]


def test_several_troubles_are_all_told(tmp_path: Path) -> None:
    root = planted(tmp_path, lacking(DRIVER, NVIDIA_H100))
    troubles = unusable_accelerators(root, {"CUDA_VISIBLE_DEVICES": ""}, CPU_BUILD)
    assert codes(troubles) == ["torch-build", "driver-missing", "mask-hides-all"]


def test_a_torch_that_cannot_be_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # how Python bars an import
    [trouble] = unusable_accelerators(planted(tmp_path, NVIDIA_H100), {})
    assert trouble.code == "torch-missing"
    assert "pip install" in trouble.advice


def test_where_the_bus_shows_nothing_nvidias_driver_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Gpu(lost=True), Gpu(name="NVIDIA RTX 5090"), driver="575.57.08")
    [trouble] = unusable_accelerators(tmp_path, {}, CUDA_BUILD)
    assert trouble.code == "driver-too-old"
    assert "NVIDIA GPU, NVIDIA RTX 5090 cannot be used" in trouble.message


def test_apples_gpu_is_there_with_its_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    [trouble] = unusable_accelerators(tmp_path, {}, MPS_BUILD)
    assert trouble.code == "unused-accelerator"
    assert "device='mps'" in trouble.advice


NO_FABRIC = "Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized"


@pytest.mark.parametrize(
    ("driver", "refusal", "code", "message"),
    [
        ("575.57.08", TOO_OLD, "driver-too-old", "driver 575.57.08 is too old"),
        ("580.95.05", NO_FABRIC, "unused-accelerator", "Error 802: system not yet initialized"),
    ],
    ids=["an old driver", "no fabric manager"],
)
def test_a_gpu_that_nvml_lists_and_cuda_refuses_is_never_measured_as_a_cpu(
    tmp_path: Path, driver: str, refusal: str, code: str, message: str
) -> None:
    environment = plant(tmp_path, driver=driver, refusal=refusal)
    seen = frobench("doctor", "--json", folder=tmp_path, environment=environment)
    found = msgspec.json.decode(seen.stdout, type=Examination)
    assert seen.returncode == 3
    assert found.there.torch is not None
    assert (found.there.torch.devices, found.there.torch.refusal) == (0, refusal)
    [error] = [trouble for trouble in found.troubles if trouble.severity == "error"]
    assert error.code == code
    assert message in error.message
