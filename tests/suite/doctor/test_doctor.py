# SPDX-License-Identifier: MIT
"""New hardware is never measured as a CPU in silence: each trouble is named, with its mend."""

import os
import platform
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from frobench.suite.doctor import Examination, Offer, ask_torch, unusable_accelerators
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


@pytest.mark.parametrize(
    "files",
    [
        {},
        display("0000:05:00.0", "0x1a03"),
        display("0000:00:02.0", "0x8086"),
        display("0000:00:0b.0", "0x8086", "0x120000"),
        display("0000:00:02.0", "0x1af4", "0x038000"),
        display("0000:01:03.0", "0x1002"),
        display("0000:c1:00.0", "0x1002", max_link_speed="16.0", mem_info_vram_total=str(2**29)),
        display("0000:18:00.0", "0x10de", "0x068000"),
    ],
    ids=[
        "nothing",
        "a server's management display",
        "Intel's integrated display",
        "Intel's NPU",
        "a virtual display",
        "a server's old PCI display",
        "AMD's integrated display",
        "NVIDIA's switch",
    ],
)
def test_what_is_no_accelerator_raises_no_alarm(tmp_path: Path, files: dict[str, str]) -> None:
    assert unusable_accelerators(planted(tmp_path, files), {}, CPU_BUILD) == []


@pytest.mark.parametrize(
    "files",
    [
        NVIDIA_H100,
        AMD_MI300,
        INTEL_ARC,
        display("0000:01:00.0", "0x10de"),
        display("0000:03:00.0", "0x1002", max_link_speed="16.0", mem_info_vram_total=str(2**34)),
        display("0000:03:00.0", "0x1002", max_link_speed="32.0"),
    ],
    ids=[
        "NVIDIA",
        "AMD Instinct",
        "Intel Arc",
        "NVIDIA without a driver",
        "AMD Radeon",
        "AMD's newest, which the kernel does not know",
    ],
)
def test_an_accelerator_is_never_overlooked(tmp_path: Path, files: dict[str, str]) -> None:
    assert "torch-build" in codes(unusable_accelerators(planted(tmp_path, files), {}, CPU_BUILD))


def test_where_torch_offers_an_accelerator_all_is_well(tmp_path: Path) -> None:
    root = planted(tmp_path, NVIDIA_H100, INTEL_ARC)
    assert unusable_accelerators(root, {}, replace(CUDA_BUILD, devices=1)) == []


def test_the_installed_torch_is_asked_where_no_offer_is_given(tmp_path: Path) -> None:
    installed = ask_torch()
    troubles = unusable_accelerators(planted(tmp_path, NVIDIA_H100), {})
    assert bool(troubles) == (installed.devices == 0)
    assert installed.version is not None


def test_a_build_for_the_cpu_is_named_with_the_device_and_what_to_install(tmp_path: Path) -> None:
    [trouble] = unusable_accelerators(planted(tmp_path, NVIDIA_H100), {}, CPU_BUILD)
    assert trouble.message == (
        "NVIDIA H100 80GB HBM3 cannot be used: "
        "torch 2.13.0+cpu is built for the CPU alone, not for CUDA"
    )
    assert "pip install --force-reinstall torch==2.13.0 --index-url" in trouble.advice
    assert "https://pytorch.org/get-started/locally/" in trouble.advice
    assert "--devices cpu" in trouble.advice


def test_the_command_is_for_the_python_that_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "checkout" / ".nox" / "bench" / "bin" / "python"
    python.parent.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.chdir(tmp_path / "checkout")
    [trouble] = unusable_accelerators(planted(tmp_path, NVIDIA_H100), {}, CPU_BUILD)
    assert f"{Path('.nox/bench/bin/python')} -m pip install" in trouble.advice


@pytest.mark.parametrize(
    ("files", "offer", "message"),
    [
        (AMD_MI300, CUDA_BUILD, "is built for CUDA, not for ROCm"),
        (INTEL_ARC, CUDA_BUILD, "is built for CUDA, not for XPU"),
        (NVIDIA_H100, ROCM_BUILD, "is built for ROCm, not for CUDA"),
    ],
)
def test_a_build_for_other_accelerators_is_named(
    tmp_path: Path, files: dict[str, str], offer: Offer, message: str
) -> None:
    [trouble] = unusable_accelerators(planted(tmp_path, files), {}, offer)
    assert message in trouble.message


@pytest.mark.parametrize(
    ("cuda", "driver", "too_old"),
    [
        ("13.0", "575.57.08", True),
        ("13.0", "580.65.06", False),
        ("12.6", "525.60", False),
        ("12.6", "470.256.02", True),
        ("14.1", "700.10.01", False),
    ],
)
def test_a_driver_older_than_torchs_cuda_needs_is_named(
    tmp_path: Path, cuda: str, driver: str, *, too_old: bool
) -> None:
    root = planted(tmp_path, NVIDIA_H100, {"proc/driver/nvidia/version": NVRM.format(driver)})
    offer = Offer("2.13.0", NONE | {"CUDA": cuda}, 0)
    [trouble] = unusable_accelerators(root, {}, offer)
    assert (trouble.code == "driver-too-old") == too_old
    assert (driver in trouble.message) == too_old


@pytest.mark.parametrize(
    ("machine", "missing", "code", "mend"),
    [
        ((NVIDIA_H100, CUDA_BUILD), "proc/driver/nvidia/version", "driver-missing", "nvidia.com"),
        ((NVIDIA_H100, CUDA_BUILD), "dev/nvidia-uvm", "devices-not-passed-on", "--gpus all"),
        (
            (AMD_MI300, ROCM_BUILD),
            "sys/module/amdgpu/version",
            "driver-missing",
            "rocm.docs.amd.com",
        ),
        ((INTEL_ARC, XPU_BUILD), "sys/module/xe/refcnt", "driver-missing", "docs.pytorch.org"),
        ((NVIDIA_H100, CUDA_BUILD), "dev/nvidia0", "devices-not-passed-on", "--gpus all"),
        ((AMD_MI300, ROCM_BUILD), "dev/kfd", "devices-not-passed-on", "--device /dev/kfd"),
        (
            (INTEL_ARC, XPU_BUILD),
            "dev/dri/renderD128",
            "devices-not-passed-on",
            "--device /dev/dri",
        ),
    ],
)
def test_a_missing_driver_is_told_from_a_container_that_lacks_the_devices(
    tmp_path: Path, machine: tuple[dict[str, str], Offer], missing: str, code: str, mend: str
) -> None:
    files, offer = machine
    [trouble] = unusable_accelerators(planted(tmp_path, files, without=missing), {}, offer)
    assert trouble.code == code
    assert mend in trouble.advice


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root"
)
def test_device_files_that_the_user_may_not_open_are_named(tmp_path: Path) -> None:
    root = planted(tmp_path, AMD_MI300)
    (root / "dev/kfd").chmod(0)
    [trouble] = unusable_accelerators(root, {}, ROCM_BUILD)
    assert trouble.code == "no-permission"
    assert "render,video" in trouble.advice


def test_who_may_not_open_nvidias_files_is_told_of_nvidias(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # as root one may open all
    [trouble] = unusable_accelerators(planted(tmp_path, NVIDIA_H100), {}, CUDA_BUILD)
    assert trouble.code == "no-permission"
    assert "/dev/nvidia" in trouble.advice
    assert "render" not in trouble.advice


@pytest.mark.parametrize("mask", ["", "-1", "1", "7,0", '"0"', "none"])
def test_a_mask_that_hides_everything_is_said_to(tmp_path: Path, mask: str) -> None:
    environ = {"CUDA_VISIBLE_DEVICES": mask}
    [trouble] = unusable_accelerators(planted(tmp_path, NVIDIA_H100), environ, CUDA_BUILD)
    assert trouble.code == "mask-hides-all"
    assert "unset CUDA_VISIBLE_DEVICES" in trouble.advice


@pytest.mark.parametrize("mask", ["0", "0,1", " 0", "GPU-8932f937", "MIG-1"])
def test_a_mask_that_leaves_a_device_is_not_blamed(tmp_path: Path, mask: str) -> None:
    environ = {"CUDA_VISIBLE_DEVICES": mask}
    troubles = unusable_accelerators(planted(tmp_path, NVIDIA_H100), environ, CUDA_BUILD)
    assert codes(troubles) == ["unused-accelerator"]


def test_a_number_beyond_the_gpus_that_a_container_was_given_hides_all(tmp_path: Path) -> None:
    eight = [display(f"0000:{n}0:00.0", "0x10de") for n in range(1, 9)]
    root = planted(tmp_path, *eight, NVIDIA_H100, {"dev/nvidia3": ""}, without="dev/nvidia0")
    [trouble] = unusable_accelerators(root, {"CUDA_VISIBLE_DEVICES": "3"}, CUDA_BUILD)
    assert trouble.code == "mask-hides-all"
    assert trouble.message.endswith("; passed on are nvidia3, which it numbers from 0")


def test_a_uuid_of_no_gpu_here_hides_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Gpu(uuid="GPU-8932f937-d72c"))
    root = planted(tmp_path, NVIDIA_H100)
    for mask, code in (("GPU-1", "mask-hides-all"), ("GPU-8932", "unused-accelerator")):
        environ = {"CUDA_VISIBLE_DEVICES": mask}
        assert codes(unusable_accelerators(root, environ, CUDA_BUILD)) == [code]


def test_several_troubles_are_all_told(tmp_path: Path) -> None:
    root = planted(tmp_path, NVIDIA_H100, without="proc/driver/nvidia/version")
    troubles = unusable_accelerators(root, {"CUDA_VISIBLE_DEVICES": ""}, CPU_BUILD)
    assert codes(troubles) == ["torch-build", "driver-missing", "mask-hides-all"]


def test_eight_equal_devices_are_one_trouble(tmp_path: Path) -> None:
    root = planted(tmp_path, *(display(f"0000:{n}0:00.0", "0x10de") for n in range(1, 9)))
    [trouble, _] = unusable_accelerators(root, {}, CPU_BUILD)
    assert trouble.message.startswith("8x NVIDIA GPU (10de:1234) cannot be used")


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
