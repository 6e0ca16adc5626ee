# SPDX-License-Identifier: MIT
"""The doctor tells what is there for every maker, and names each trouble with its mend.

New hardware is never measured as a CPU in silence.
"""

import json
import os
import platform
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import psutil
import pynvml
import pytest
import torch
from click.testing import CliRunner
from msgspec.structs import replace

from frobench.command import main
from frobench.suite import doctor
from frobench.suite.doctor import (
    Offer,
    ask_torch,
    glance,
    judge,
    torch_offer,
    troubles,
    unusable_accelerators,
)
from frobench.suite.doctor.__main__ import page as handbook
from frobench.suite.doctor.examined import ExaminedMachine, Host, examine_without_torch
from frobench.suite.doctor.torch_offer import START_LOCALLY, Asking
from frobench.suite.machine.accelerator_facts import serves
from frobench.suite.machine.host import AUTOLOAD, Backend, affinity
from frobench.suite.stored.types import Conclusion
from tests.instruments.devices.simulated_nvml import Gpu, Install
from tests.instruments.faults.judging import put
from tests.instruments.processes.command import ROOT, frobench, simulated
from tests.instruments.processes.project_files import planted

Files = dict[str, str]
GIB = 2**30
NONE: dict[str, str | None] = dict.fromkeys(("CUDA", "ROCm", "XPU", "MPS"))


def built(**builds: str | None) -> Offer:
    """Return what a build of torch offers that finds no device."""
    return Offer("2.13.0", NONE | builds)


CPU_BUILD = Offer("2.13.0+cpu", NONE)
CUDA_BUILD, ROCM_BUILD, XPU_BUILD = built(CUDA="13.0"), built(ROCm="7.2"), built(XPU="20250302")
OFFER = replace(CUDA_BUILD, devices=1, architectures=("sm_80", "sm_90"))


def card(place: str, vendor: str, kind: str = "0x030000", **more: str) -> Files:
    """Return the files of a card on the bus, by default a display."""
    files = {"class": kind, "vendor": vendor, "device": "0x1234"} | more
    return {f"sys/bus/pci/devices/{place}/{name}": content for name, content in files.items()}


NVRM = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build"
NVIDIA_H100 = card("0000:18:00.0", "0x10de", "0x030200", device="0x2330") | {
    "proc/driver/nvidia/gpus/0000:18:00.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\n",
    "proc/driver/nvidia/version": NVRM.format("590.48.01"),
    **dict.fromkeys(("dev/nvidia0", "dev/nvidiactl", "dev/nvidia-uvm"), ""),
}
MI300 = "0000:0c:00.0"
AMD_MI300 = card(MI300, "0x1002", "0x120000", device="0x74a1") | {
    "sys/module/amdgpu/version": "6.12",
    "dev/kfd": "",
}
INTEL_ARC = card("0000:03:00.0", "0x8086", device="0xe20b") | {
    "sys/module/xe/refcnt": "1",
    "dev/dri/renderD128": "",
}


@pytest.fixture(autouse=True)
def no_gpu_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gpus: Install) -> None:  # noqa: ARG001 - without a call of it there is no driver
    """Let neither NVML nor a command of this machine be found."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def codes(conclusions: list[Conclusion]) -> list[str]:
    return [conclusion.code for conclusion in conclusions]


def expect(found: list[Conclusion], code: str, said: str = "") -> None:
    """Check the only trouble, and what is said of it or advised."""
    [trouble] = found
    assert trouble.code == code
    assert said in f"{trouble.message}\n{trouble.advice}"


# what keeps torch from all accelerators


def amd(place: str, speed: str, **more: str) -> Files:
    return card(place, "0x1002", max_link_speed=speed, **more)


NO_ACCELERATORS: dict[str, Files] = {
    "nothing": {},
    "a server's management display": card("0000:05:00.0", "0x1a03"),
    "Intel's integrated display": card("0000:00:02.0", "0x8086"),
    "Intel's NPU": card("0000:00:0b.0", "0x8086", "0x120000"),
    "a virtual display": card("0000:00:02.0", "0x1af4", "0x038000"),
    "AMD's integrated display": amd("0000:c1:00.0", "16.0", mem_info_vram_total=str(6 * GIB - 1)),
    "NVIDIA's switch": card("0000:18:00.0", "0x10de", "0x068000"),
}
ACCELERATORS = {
    "NVIDIA": NVIDIA_H100,
    "AMD Instinct": AMD_MI300,
    "Intel Arc": INTEL_ARC,
    "NVIDIA without a driver": card("0000:01:00.0", "0x10de"),
    "AMD Radeon": amd("0000:03:00.0", "16.0", mem_info_vram_total=str(6 * GIB)),
    "AMD's newest, unknown to the kernel": amd("0000:03:00.0", "32.0"),
}


@pytest.mark.parametrize("name", [*NO_ACCELERATORS, *ACCELERATORS])
def test_an_accelerator_is_never_overlooked_nor_imagined(tmp_path: Path, name: str) -> None:
    root = planted(tmp_path, (NO_ACCELERATORS | ACCELERATORS)[name])
    found = codes(unusable_accelerators(root, {}, CPU_BUILD))
    assert ("torch-build" in found, not found) == (name in ACCELERATORS, name in NO_ACCELERATORS)


def driven(version: str) -> Files:
    """Return the files of an H100 whose driver has a version."""
    return NVIDIA_H100 | {"proc/driver/nvidia/version": NVRM.format(version)}


def lacking(name: str, *machine: Files) -> Files:
    """Return the files of machines but for one."""
    return {one: text for files in machine for one, text in files.items() if one != name}


ALONE = "H100 80GB HBM3 cannot be used: torch 2.13.0+cpu is built for the CPU alone, not for CUDA"
USE = "let torch say it: python -c \"import torch; torch.ones(1, device='cuda')\", and see https"
DRIVER, PASS_ON = "proc/driver/nvidia/version", "devices-not-passed-on"
TROUBLES: list[tuple[Files, Offer, str, str]] = [
    (NVIDIA_H100, CPU_BUILD, "torch-build", ALONE),
    (NVIDIA_H100, CPU_BUILD, "torch-build", "pip install --force-reinstall torch==2.13.0 --index"),
    (AMD_MI300, CUDA_BUILD, "torch-build", "is built for CUDA, not for ROCm"),
    (INTEL_ARC, CUDA_BUILD, "torch-build", "is built for CUDA, not for XPU"),
    (NVIDIA_H100, ROCM_BUILD, "torch-build", "is built for ROCm, not for CUDA"),
    (driven("579.57.08"), CUDA_BUILD, "driver-too-old", "579.57.08"),
    (driven("580.65.06"), CUDA_BUILD, "unused-accelerator", f"torch 2.13.0 says: nothing\n{USE}"),
    (NVIDIA_H100, replace(CUDA_BUILD, refusal="802"), "unused-accelerator", "2.13.0 says: 802"),
    (driven("525.60"), built(CUDA="12.6"), "unused-accelerator", ""),
    (driven("524.256.02"), built(CUDA="12.6"), "driver-too-old", "524.256.02"),
    (driven("449.256.02"), built(CUDA="11.8"), "driver-too-old", "torch, which needs 450"),
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
    tmp_path: Path, files: Files, offer: Offer, code: str, said: str
) -> None:
    expect(unusable_accelerators(planted(tmp_path, files), {}, offer), code, said)


def test_forbidden_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # as root one may open all
    [trouble] = unusable_accelerators(planted(tmp_path, NVIDIA_H100), {}, CUDA_BUILD)
    assert trouble.code == "no-permission"
    assert trouble.advice.startswith("`ls -l /dev/nvidia*` shows the group that may: join it")


OTHERS = [card(f"0000:{n}0:00.0", "0x10de") for n in (1, 2)]
SECOND = lacking("dev/nvidia0", *OTHERS, NVIDIA_H100, {"dev/nvidia1": ""})
HIDES, UNUSED, UNSET = "mask-hides-all", "unused-accelerator", "unset CUDA_VISIBLE_DEVICES"
ALL_HIDDEN = f"NVIDIA H100 80GB HBM3 cannot be used: {UNSET[6:]}='1' hides every one"
MASKS = [
    *((NVIDIA_H100, mask, HIDES, UNSET) for mask in ("", "-1", "7,0", '"0"', "none")),
    *((NVIDIA_H100, mask, UNUSED, "") for mask in ("0", "0,1", " 0", "GPU-8932f937", "MIG-1")),
    (NVIDIA_H100, "1", HIDES, f"{ALL_HIDDEN}\n{UNSET}; or"),
    (SECOND, "1", HIDES, f"2x NVIDIA GPU (10de:1234), {ALL_HIDDEN}; passed on are nvidia1, which"),
    (AMD_MI300, "1", HIDES, UNSET),
    (INTEL_ARC, "0.1", UNUSED, ""),
]


@pytest.mark.parametrize(("files", "mask", "code", "said"), MASKS)
def test_a_mask_is_blamed_where_it_hides_all(
    tmp_path: Path, files: Files, mask: str, code: str, said: str
) -> None:
    masks = dict.fromkeys(("CUDA_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"), mask)
    offer = built(CUDA="13.0", ROCm="7.2", XPU="20250302")
    expect(unusable_accelerators(planted(tmp_path, files), masks, offer), code, said)


@pytest.mark.parametrize(("mask", "code"), [("GPU-1", HIDES), ("GPU-8932", UNUSED)])
def test_a_uuid_of_no_gpu_hides_all(tmp_path: Path, gpus: Install, mask: str, code: str) -> None:
    gpus(Gpu(uuid="GPU-8932f937-d72c"))
    root = planted(tmp_path, NVIDIA_H100)
    assert codes(unusable_accelerators(root, {"CUDA_VISIBLE_DEVICES": mask}, CUDA_BUILD)) == [code]


def test_several_troubles_are_all_told(tmp_path: Path) -> None:
    root = planted(tmp_path, lacking(DRIVER, NVIDIA_H100))
    found = unusable_accelerators(root, {"CUDA_VISIBLE_DEVICES": ""}, CPU_BUILD)
    assert codes(found) == ["torch-build", "driver-missing", HIDES]


def test_a_torch_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # how Python bars an import
    monkeypatch.setattr(sys, "executable", str(Path.cwd() / "env" / "python"))
    assert unusable_accelerators(tmp_path, {}) == []
    found = unusable_accelerators(planted(tmp_path, NVIDIA_H100), {})
    install = f"{Path('env', 'python')} -m pip install --force-reinstall torch --index-url ADDRESS"
    expect(
        found, "torch-missing", f"{install}, with the address that {START_LOCALLY} gives for CUDA"
    )


def test_where_the_bus_shows_nothing_nvidias_driver_is_asked(tmp_path: Path, gpus: Install) -> None:
    gpus(Gpu(lost=True), Gpu(name="NVIDIA RTX 5090"), driver="575.57.08")
    found = unusable_accelerators(tmp_path, {}, CUDA_BUILD)
    expect(found, "driver-too-old", "NVIDIA GPU, NVIDIA RTX 5090 cannot be used")


def test_apples_gpu_is_in_its_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    found = unusable_accelerators(tmp_path, {}, built(MPS="built in"))
    expect(found, UNUSED, "device='mps'")


# what is there


@cache  # naming the processor takes a tenth of a second
def host() -> Host:
    return examine_without_torch(ROOT, ROOT / "nowhere", {}).host


def quiet(root: Path, **facts: Any) -> ExaminedMachine:  # noqa: ANN401 - of a `Host`
    """Return what is there below a root, on a host without any trouble but the facts given."""
    cpu = replace(host().cpu, quota_cores=len(affinity()))
    calm: dict[str, Any] = {"cpu": cpu, "others": 0.25 * len(affinity()), "on_battery": False}
    calm |= {"memory_free_bytes": 2 * GIB, "shared_memory_bytes": GIB, "disk_free_bytes": GIB}
    found = replace(host(), **(calm | facts))
    return ExaminedMachine(host=found, accelerators=doctor.examined.accelerators(root), torch=None)


def said(there: ExaminedMachine, offer: Offer = OFFER) -> list[Conclusion]:
    there.torch = offer
    return troubles(there)


AMD_NOW = {
    "product_name": "AMD Instinct MI300X",
    "numa_node": "-1",
    "mem_info_vram_total": str(192 * GIB),
    "mem_info_vram_used": str(GIB),
    "current_link_width": "8",
    "max_link_width": "16",
    "current_link_speed": "16.0 GT/s PCIe",
    "max_link_speed": "32.0 GT/s PCIe",
    "gpu_busy_percent": "3",
    "pp_dpm_sclk": "0: 852Mhz *\n1: 991Mhz\n7: 1630Mhz",
    "hwmon/hwmon3/freq1_input": "852000000",
    "hwmon/hwmon3/freq2_input": "900000000",
    "pp_dpm_mclk": "0: 900Mhz *\n1: 1300Mhz\n2: 1200Mhz",
    "hwmon/hwmon3/temp1_input": "33000",
    "hwmon/hwmon3/power1_average": "140000000",
    "hwmon/hwmon3/power1_cap": "500000000",
    "hwmon/hwmon3/power1_cap_default": "750000000",
}


def test_amds_gpu_is_described_as_the_kernel_does(tmp_path: Path) -> None:
    there = quiet(planted(tmp_path, AMD_MI300, card(MI300, "0x1002", "0x120000", **AMD_NOW)))
    [device] = there.accelerators
    assert (device.vendor, device.name) == ("AMD", "AMD Instinct MI300X")
    limits = (device.power_limit_watts, device.power_limit_default_watts)
    assert (device.power_watts, *limits) == (140.0, 500.0, 750.0)
    assert (device.memory_bytes, device.memory_used_bytes) == (192 * GIB, GIB)
    assert (device.clock_hz, device.max_clock_hz) == (852e6, 1630e6)
    assert (device.memory_clock_hz, device.max_memory_clock_hz) == (900e6, 1300e6)
    assert (device.temperature_celsius, device.utilization) == (33.0, 0.03)
    assert (device.pcie_generation, device.pcie_generation_max) == (4, 5)
    assert (device.pcie_width, device.pcie_width_max, device.numa_node) == (8, 16, None)
    assert "amdsmi" in device.unknown["held_back"]
    assert codes(said(there)) == ["power-cap", "narrow-link"]


def test_a_machine_without_a_gpu_can_be_measured(tmp_path: Path) -> None:
    found = judge(quiet(tmp_path), CPU_BUILD, tmp_path, {})
    assert (codes(found.troubles), found.unusable) == (["no-accelerator"], False)


def test_masks_are_shown_without_the_devices_uuid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    masks = {"CUDA_VISIBLE_DEVICES": f"{Gpu().uuid},MIG-1", "HIP_VISIBLE_DEVICES": "0"}
    given = {"NVIDIA_VISIBLE_DEVICES": "all"}  # what a container was given is no mask
    unplugged = SimpleNamespace(power_plugged=False)
    monkeypatch.setattr(psutil, "sensors_battery", lambda: unplugged, raising=False)
    there = examine_without_torch(tmp_path, tmp_path, masks | given)
    assert there.host.on_battery
    assert there.host.masks == masks | {"CUDA_VISIBLE_DEVICES": "by UUID, 2 devices"}


# what is wrong with what is there

BUSY = "busy-accelerator"
AT_WORK = {"utilization": (50, 1)}
USED = {"processes": [(1, None), (2, None)], "utilization": (10, 1)}
SLOWED = {"power": 690_000, "reasons": pynvml.nvmlClocksEventReasonSwPowerCap}
CHOSEN = {"reasons": pynvml.nvmlClocksThrottleReasonApplicationsClocksSetting}
SET = "is held back: clocks that somebody set (ApplicationsClocksSetting)"
LACKING = "has the capability 12.0, and PyTorch was built for sm_80, sm_90"
PLANTED: list[tuple[dict[str, Any], tuple[str, str, str]]] = [
    ({"power_limit": 692_000} | AT_WORK, ("power-cap", "may draw 692 W of 700 W (99%)", "-pl 700")),
    ({"width": 8}, ("narrow-link", "has 8 of 16 PCIe lanes", "Reseat the card")),
    ({"generation": 3} | AT_WORK, ("slow-link", "is at PCIe 3 of 5, although at work", "BIOS")),
    ({"processes": [(1, None)]}, (BUSY, "is in use: 1 process computes on it", "nvidia-smi")),
    (USED, (BUSY, "is in use: 2 processes compute on it, it is busy 10% of the time", "end it")),
    ({"total": 90 * GIB, "used": 9 * GIB}, (BUSY, "is in use: 9 GiB of its memory are in use", "")),
    (SLOWED, ("held-back", "is held back: its power limit (SwPowerCap)", "-i 0 -pl WATTS")),
    (CHOSEN, ("held-back", SET, "sudo nvidia-smi -i 0 -rac; sudo nvidia-smi -i 0 -rgc")),
    ({"reasons": 8}, ("held-back", "is held back: its hardware (HwSlowdown)", "power cables")),
    ({"persistence": 0}, ("unloaded-driver", "has no persistence mode", "-i 0 -pm 1")),
    ({"capability": (12, 0)}, ("build-lacks-device", LACKING, "install a build")),
]


@pytest.mark.parametrize(("facts", "told"), PLANTED)
def test_each_planted_trouble_of_a_gpu_is_named_with_what_mends_it(
    tmp_path: Path, gpus: Install, facts: dict[str, Any], told: tuple[str, str, str]
) -> None:
    code, message, mend = told
    gpus(Gpu(**facts))
    found = {one.code: one for one in said(quiet(tmp_path))}
    assert found[code].message == f"NVIDIA H200 (0) {message}"
    assert mend in found[code].advice
    assert found.keys() <= {code, BUSY}


def test_what_is_wrong_with_eight_equal_gpus_is_told_once(tmp_path: Path, gpus: Install) -> None:
    capped = [Gpu(uuid=f"GPU-{n}", power_limit=400_000, persistence=0) for n in range(7)]
    gpus(*capped, Gpu(uuid="GPU-7"))
    cap, persistence = said(quiet(tmp_path), replace(OFFER, devices=8))
    where = "each of 7x NVIDIA H200 (0,1,2,3,4,5,6)"
    assert cap.message == f"{where} may draw 400 W of 700 W (57%)"
    assert cap.advice == "sudo nvidia-smi -i 0,1,2,3,4,5,6 -pl 700"
    assert persistence.message == f"{where} has no persistence mode"


@pytest.mark.parametrize("old", [{"capability": (3, 5)}, {"lost": True}])
def test_what_cannot_be_used_beside_what_can_is_a_warning(
    tmp_path: Path, gpus: Install, old: dict[str, Any]
) -> None:
    display = Gpu(name="NVIDIA Quadro K600", uuid="GPU-2", **old)
    for there, severity in (([Gpu(), display], "warning"), ([display], "error")):
        gpus(*there)
        found = judge(quiet(tmp_path), replace(OFFER, devices=2), tmp_path, {})
        assert [one.severity for one in found.troubles] == [severity]
        assert found.unusable == (severity == "error")


def test_a_sound_idle_gpu_raises_no_alarm(tmp_path: Path, gpus: Install) -> None:
    asleep = {"generation": 1, "power": 80_000}  # its link sleeps
    gpus(Gpu(**SLOWED | asleep, used=14 * GIB, power_limit=693_000, utilization=(9, 1)))
    assert said(quiet(tmp_path)) == []


@pytest.mark.parametrize(
    ("function", "error", "reason"),
    [
        ("nvmlDeviceGetHandleByIndex_v2", "GPU_IS_LOST", "GPU is lost"),
        ("nvmlDeviceGetHandleByIndex_v2", "RESET_REQUIRED", "GPU requires restart"),
        ("nvmlInitWithFlags", "LIB_RM_VERSION_MISMATCH", "NVML/RM version mismatch."),
    ],
)
def test_a_device_that_the_driver_does_not_name_cannot_be_used(
    tmp_path: Path, gpus: Install, function: str, error: str, reason: str
) -> None:
    gpus(Gpu()).refuses[function] = getattr(pynvml, f"NVML_ERROR_{error}")
    root = planted(tmp_path, NVIDIA_H100)
    found = judge(quiet(root), OFFER, root, {})
    expect(found.troubles, "device-lost", f"{reason}\n")
    assert found.unusable


def test_a_driver_that_is_silent_takes_no_accelerator_away(tmp_path: Path, gpus: Install) -> None:
    root = planted(tmp_path, NVIDIA_H100)
    for reason in ("NVML Shared Library Not Found", "Driver Not Loaded"):
        found = judge(quiet(root), OFFER, root, {})
        assert codes(found.troubles) == ["silent-driver"]
        assert "NVIDIA_DRIVER_CAPABILITIES=compute,utility" in found.troubles[0].advice
        assert found.troubles[0].message.endswith(f"is not watched: NVML: {reason}")
        assert not found.unusable
        gpus(Gpu()).refuses["nvmlInitWithFlags"] = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    assert codes(judge(quiet(root), CPU_BUILD, root, {}).troubles) == ["torch-build"]


def test_the_gpus_of_others_are_left_out(tmp_path: Path, gpus: Install) -> None:
    refuses = gpus(Gpu()).refuses
    refuses["nvmlDeviceGetHandleByIndex_v2"] = pynvml.NVML_ERROR_NO_PERMISSION
    assert quiet(tmp_path).accelerators == []


QUOTA = {"cpu.quota_cores": len(affinity()) - 0.5}


@pytest.mark.parametrize(
    ("facts", "code", "message", "mend"),
    [
        ({"cpu.governor": "powersave"}, "slow-governor", "powersave", "frequency-set -g perf"),
        (QUOTA | {"container": True}, "quota-below-cores", "this container may use", "--cpus="),
        ({"others": 0.26 * len(affinity())}, "busy-processor", "other programs use", "`top`"),
        ({"on_battery": True}, "on-battery", "battery", "plug it in"),
        ({"shared_memory_bytes": GIB - 1}, "little-shared-memory", "can share", "--shm-size"),
        ({"disk_free_bytes": GIB - 1}, "little-disk-space", "free where results", "--results"),
        ({"memory_free_bytes": 2 * GIB - 1}, "little-memory", "of memory are free", "end other"),
    ],
)
def test_each_trouble_of_the_host_is_named_with_what_mends_it(
    tmp_path: Path, facts: dict[str, Any], code: str, message: str, mend: str
) -> None:
    there = quiet(tmp_path)
    for path, value in facts.items():
        put(there.host, path, value)
    [trouble] = said(there)
    assert (trouble.code, trouble.severity) == (code, "warning")
    assert message in trouble.message
    assert mend in trouble.advice.lower()


def test_devices_that_a_mask_hides_are_told(tmp_path: Path, gpus: Install) -> None:
    gpus(Gpu(), Gpu(uuid="GPU-2"))
    [trouble] = said(quiet(tmp_path, masks={"CUDA_VISIBLE_DEVICES": "0"}))
    assert trouble.message == "PyTorch sees 1 of 2 accelerators: CUDA_VISIBLE_DEVICES='0'"
    assert trouble.advice == UNSET
    assert said(quiet(tmp_path), replace(OFFER, devices=2)) == []


@pytest.mark.parametrize(
    ("capability", "built", "served"),
    [
        ((8, 9), "sm_80 sm_90", True),
        ((12, 0), "sm_80 sm_90", False),
        ((12, 0), "sm_90 compute_90", True),
        ((9, 0), "sm_90a", True),
        ((10, 0), "sm_90a sm_120", False),
        ((10, 3), "sm_100f", True),
        ((10, 3), "sm_100a", False),
    ],
)
def test_a_build_serves_the_generations_that_its_code_runs_on(
    tmp_path: Path, gpus: Install, capability: tuple[int, int], built: str, *, served: bool
) -> None:
    gpus(Gpu(capability=capability))
    found = codes(said(quiet(tmp_path), replace(OFFER, architectures=tuple(built.split()))))
    assert found == ([] if served else ["build-lacks-device"])


def test_a_build_for_amds_gpus_serves_those_of_its_families() -> None:
    builds = (["gfx90a", "gfx9-4-generic"], ["gfx942:xnack-", "gfx90a"], ["gfx90a", "gfx1100"])
    assert [serves(built, "gfx942:sramecc+:xnack-") for built in builds] == [True, True, False]


LOUD = "print('loaded', flush=True); os.write(1, b'a library')"


@pytest.mark.parametrize(
    ("torch", "error"),
    [
        ("raise ImportError('no') from OSError('old')", "no (OSError: old)"),
        ("os._exit(7)", "its process ended with code 7"),
        ("time.sleep(600)", "it does not answer within 0.5 s"),
    ],
)
def test_a_torch_that_prints_crashes_or_hangs_is_no_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch: str, error: str
) -> None:
    (tmp_path / "torch.py").write_text(f"import os, time; {LOUD}; {torch}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(torch_offer, "PATIENCE", 0.5 if "sleep" in torch else 600)
    assert Asking().answer() == Offer(None, {"error": error})


def test_a_torch_that_sees_no_accelerator_says_what_it_is_built_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: None)
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["sm_90"])
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    told = {"CUDA": "13.0", "ROCm": torch.version.hip, "XPU": torch.version.xpu, "MPS": "built in"}
    assert ask_torch() == Offer(torch.__version__, told, 0, ("sm_90",))
    gpu, init = torch.device("cuda"), Mock(side_effect=RuntimeError("Error 802\nand more"))
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: gpu)
    monkeypatch.setattr(torch, "get_device_module", lambda _: SimpleNamespace(init=init))
    assert ask_torch().refusal == "Error 802"
    init.side_effect = None
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    assert ask_torch() == Offer(torch.__version__, told, 2, ("sm_90",))


def test_a_run_is_told_only_of_devices_that_it_measures(tmp_path: Path, gpus: Install) -> None:
    gpus(Gpu(power_limit=400_000, width=8))
    of_gpus = {"power-cap", "narrow-link", "no-accelerator", "hidden-devices"}
    assert of_gpus & {*codes(glance(tmp_path, [], tmp_path, {}))} == {"power-cap", "narrow-link"}
    assert of_gpus & {*codes(glance(tmp_path, ["cpu"], tmp_path, {}))} == set()


NODE = {"sys/bus/pci/devices/0000:18:00.0/numa_node": "1"}
OWN_MEMORY = 8
"""The node that the memory of a GPU is itself, as beside NVIDIA's Grace."""


def test_cores_of_another_memory_node_are_a_trouble_with_its_mend(
    tmp_path: Path, gpus: Install
) -> None:
    gpus(Gpu(name="NVIDIA H100 80GB HBM3", numa_node=OWN_MEMORY))
    root = planted(tmp_path, NVIDIA_H100, NODE)
    attached = "NVIDIA H100 80GB HBM3 is attached to memory node 1, and the usable cores belong to"
    for nodes, own in (([0, 1], "nodes 0, 1"), ([2], "node 2")):
        [found] = said(quiet(root, cpu=replace(host().cpu, core_nodes=nodes)))
        assert (found.severity, found.message) == ("info", f"{attached} {own}")
        assert found.advice == "numactl --cpunodebind=1 --membind=1 frobench run"
    assert said(quiet(root, cpu=replace(host().cpu, core_nodes=[1]))) == []


# the command

FIELDS = {
    "host": """cpu cores clock_hz others memory_free_bytes shared_memory_bytes disk_free_bytes
        on_battery os kernel container python masks unknown""",
    "accelerators": """vendor name index fault driver capability memory_bytes memory_used_bytes
        clock_hz max_clock_hz memory_clock_hz max_memory_clock_hz power_watts power_limit_watts
        power_limit_default_watts temperature_celsius utilization held_back processes
        pcie_generation pcie_generation_max pcie_width pcie_width_max numa_node ecc mig persistence
        unknown""",
    "torch": "version builds devices architectures names refusal",
}
"""What programs find in `frobench doctor --json`; more may be added."""


def test_the_json_keeps_its_fields_and_the_exit_code_says_whether_all_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpus: Install
) -> None:
    monkeypatch.setattr(doctor, "Asking", lambda: SimpleNamespace(answer=lambda: CPU_BUILD))
    gpus(Gpu(lost=True))
    shown = CliRunner().invoke(main, ["doctor", "--json", "--results", str(tmp_path / "new")])
    assert (shown.exit_code, "GPU is lost" in shown.output) == (3, True)
    plain = json.loads(shown.output)
    assert plain.keys() == {"there", "troubles"}
    there = plain["there"] | {"accelerators": plain["there"]["accelerators"][0]}
    for part, names in FIELDS.items():
        assert {*names.split()} <= there[part].keys()
    assert {"code", "severity", "message", "advice"} <= plain["troubles"][0].keys()


@pytest.mark.golden
def test_the_page_of_troubles_is_that_of_the_rules() -> None:
    committed = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
    assert committed == handbook(), "`python -m frobench.suite.doctor > docs/doctor.md` mends it"


# a backend of another package

SAID = "Failed to load the backend extension: torch_npu. (OSError: libascendcl.so is missing)"


@pytest.mark.parametrize("files", [{}, NVIDIA_H100], ids=["alone", "beside a GPU"])
def test_a_backend_that_fails_is_named_as_torch_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: Files
) -> None:
    npu = Backend("torch_npu", "torch-npu", "2.9.0")
    for module in ("machine.host", "doctor", "terminal.doctor_page"):
        monkeypatch.setattr(f"frobench.suite.{module}.installed", lambda: [npu])
    broken = Offer(None, {"error": SAID})
    found = unusable_accelerators(planted(tmp_path, files), {}, broken)
    expect(found, "torch-missing", "Failed to load the backend extension: torch_npu.")
    assert found[0].severity == "error"
    off, *_ = unusable_accelerators(tmp_path, {AUTOLOAD: "0"}, CPU_BUILD)
    setting = f"the backend torch_npu of torch-npu 2.9.0 is not loaded: {AUTOLOAD}='0' switches"
    assert (off.code, off.message) == ("backend-switched-off", f"{setting} it off")


def test_the_doctor_lists_the_devices_of_a_backend(tmp_path: Path) -> None:
    seen = frobench("doctor", "--json", folder=tmp_path, environment=simulated({}))
    names = json.loads(seen.stdout)["there"]["torch"]["names"]
    assert names == [[name, "Simulated accelerator"] for name in ("sim:0", "sim:1")]
