# SPDX-License-Identifier: MIT
"""The doctor tells what is there for every maker, and names each planted trouble with its mend."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pynvml
import pytest
from click import unstyle
from click.testing import CliRunner
from msgspec.structs import replace

from frobench.command import main
from frobench.suite import doctor
from frobench.suite.doctor import Offer, glance, judge, troubles
from frobench.suite.doctor.__main__ import page as handbook
from frobench.suite.doctor.examined import (
    ExaminedMachine,
    Host,
    accelerators,
    examine_without_torch,
)
from frobench.suite.doctor.torch_offer import Asking
from frobench.suite.machine.host import affinity
from frobench.suite.stored.types import Conclusion
from frobench.suite.terminal import doctor_page
from tests.instruments.devices.simulated_nvml import Gpu, install, install_none
from tests.instruments.faults.judging import put
from tests.instruments.processes.project_files import planted
from tests.suite.doctor.test_doctor import AMD_MI300, CPU_BUILD, CUDA_BUILD, NVIDIA_H100, codes

ROOT = Path(__file__).parents[3]
OFFER = replace(CUDA_BUILD, devices=1, architectures=("sm_80", "sm_90", "compute_90"))
GIB = 2**30
AMD_NOW = {
    f"sys/bus/pci/devices/0000:0c:00.0/{name}": value
    for name, value in {
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
        "hwmon/hwmon3/temp1_input": "33000",
        "hwmon/hwmon3/power1_average": "140000000",
        "hwmon/hwmon3/power1_cap": "500000000",
        "hwmon/hwmon3/power1_cap_default": "750000000",
    }.items()
}


@pytest.fixture(autouse=True)
def no_gpu_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let neither NVML nor a command of this machine be found."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    install_none(monkeypatch)


@cache  # naming the processor takes a tenth of a second
def host() -> Host:
    return examine_without_torch(ROOT, ROOT / "nowhere", {}).host


def quiet(root: Path, **facts: Any) -> ExaminedMachine:  # noqa: ANN401 - of a `Host`
    """Return what is there below a root, on a host without any trouble but the facts given."""
    calm: dict[str, Any] = {
        "cpu": replace(host().cpu),
        "others": 0.1,
        "memory_free_bytes": 64 * GIB,
        "shared_memory_bytes": 64 * GIB,
        "disk_free_bytes": 64 * GIB,
        "on_battery": False,
    }
    return ExaminedMachine(
        host=replace(host(), **(calm | facts)), accelerators=accelerators(root), torch=None
    )


def said(there: ExaminedMachine, offer: Offer = OFFER) -> list[Conclusion]:
    there.torch = offer
    return troubles(there)


# what is there


def test_amds_gpu_is_described_as_the_kernel_does(tmp_path: Path) -> None:
    [device] = quiet(planted(tmp_path, AMD_MI300, AMD_NOW)).accelerators
    assert (device.vendor, device.name) == ("AMD", "AMD Instinct MI300X")
    assert (device.power_watts, device.power_limit_watts) == (140.0, 500.0)
    assert (device.memory_bytes, device.memory_used_bytes) == (192 * GIB, GIB)
    assert (device.clock_hz, device.max_clock_hz) == (852e6, 1630e6)
    assert (device.temperature_celsius, device.utilization) == (33.0, 0.03)
    assert (device.pcie_generation, device.pcie_generation_max) == (4, 5)
    assert (device.pcie_width, device.pcie_width_max, device.numa_node) == (8, 16, None)
    assert "amdsmi" in device.unknown["processes"]
    assert "amdsmi" in device.unknown["held_back"]
    there = ExaminedMachine(host=quiet(tmp_path).host, accelerators=[device], torch=None)
    assert codes(said(there)) == ["power-cap", "narrow-link"]


def test_without_a_gpu_the_page_still_tells_the_machine(tmp_path: Path) -> None:
    found = judge(quiet(tmp_path), CPU_BUILD, tmp_path, {})
    assert codes(found.troubles) == ["no-accelerator"]
    assert not found.unusable
    told = "\n".join(doctor_page.lines(found.there, found.troubles, 80))
    cores = found.there.host.cpu.usable_cores
    for words in (f"usable cores {cores}", "disk free 64 GiB", "built for the CPU alone"):
        assert words in told
    assert max(map(len, told.splitlines())) <= 80 + len("\x1b[33m\x1b[0m")


def test_masks_are_shown_without_the_devices_uuid(tmp_path: Path) -> None:
    uuid = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
    environ = {"CUDA_VISIBLE_DEVICES": f"{uuid},MIG-1", "HIP_VISIBLE_DEVICES": "0"}
    given = {"NVIDIA_VISIBLE_DEVICES": "all"}  # what a container was given is no mask
    there = examine_without_torch(tmp_path, tmp_path, environ | given)
    assert there.host.masks == {
        "CUDA_VISIBLE_DEVICES": "by UUID, 2 devices",
        "HIP_VISIBLE_DEVICES": "0",
    }
    shown = "masks           CUDA_VISIBLE_DEVICES='by UUID, 2 devices', HIP_VISIBLE_DEVICES='0'"
    assert shown in [unstyle(line) for line in doctor_page.lines(there, [], 100)]


# what is wrong

BUSY = "busy-accelerator"
GENERATION = {"generation": 3, "utilization": (90, 1), "reasons": 0}
SLOWED = {"power": 690_000, "reasons": pynvml.nvmlClocksEventReasonSwPowerCap}
PLANTED: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "power cap": ({"power_limit": 400_000}, "power-cap", "400 W of 700 W (57%)", "-i 0 -pl 700"),
    "lanes": ({"width": 8}, "narrow-link", "8 of 16 PCIe lanes", "Reseat the card"),
    "generation": (GENERATION, "slow-link", "PCIe 3 of 5", "BIOS"),
    "process": ({"processes": [(1, None)]}, BUSY, "1 process computes on it", "nvidia-smi"),
    "load": ({"utilization": (35, 1)}, BUSY, "busy 35%", "nvidia-smi"),
    "memory": ({"used": 100 * GIB}, BUSY, "100 GiB of its memory", "nvidia-smi"),
    "slowed": (SLOWED, "held-back", "SwPowerCap", ""),
    "persistence": ({"persistence": 0}, "unloaded-driver", "persistence", "-i 0 -pm 1"),
    "too new": ({"capability": (12, 0)}, "build-lacks-device", "12.0", "install a build"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_trouble_of_a_gpu_is_named_with_what_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    facts, code, message, mend = PLANTED[name]
    install(monkeypatch, Gpu(**facts))
    there = quiet(tmp_path)
    offer = replace(OFFER, architectures=("sm_80", "sm_90")) if name == "too new" else OFFER
    found = {one.code: one for one in said(there, offer)}
    assert message in found[code].message
    assert mend in found[code].advice
    assert found.keys() <= {code, BUSY}


def test_what_is_wrong_with_eight_equal_gpus_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capped = [Gpu(uuid=f"GPU-{n}", power_limit=400_000, persistence=0) for n in range(7)]
    install(monkeypatch, *capped, Gpu(uuid="GPU-7"))
    cap, persistence = said(quiet(tmp_path), replace(OFFER, devices=8))
    where = "each of 7x NVIDIA H200 (0,1,2,3,4,5,6)"
    assert cap.message == f"{where} may draw 400 W of 700 W (57%)"
    assert cap.advice == "sudo nvidia-smi -i 0,1,2,3,4,5,6 -pl 700"
    assert persistence.message == f"{where} has no persistence mode"


@pytest.mark.parametrize("old", [{"capability": (3, 5)}, {"lost": True}])
def test_what_cannot_be_used_beside_what_can_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: dict[str, Any]
) -> None:
    display = Gpu(name="NVIDIA Quadro K600", uuid="GPU-2", **old)
    install(monkeypatch, Gpu(), display)
    offer = replace(OFFER, devices=2)
    found = judge(quiet(tmp_path), offer, tmp_path, {})
    assert [one.severity for one in found.troubles] == ["warning"]
    assert not found.unusable
    install(monkeypatch, display)
    found = judge(quiet(tmp_path), offer, tmp_path, {})
    assert [one.severity for one in found.troubles] == ["error"]
    assert found.unusable


def test_a_sound_idle_gpu_raises_no_alarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asleep = {"generation": 1, "power": 80_000}  # its link sleeps
    install(monkeypatch, Gpu(**SLOWED | asleep))
    assert said(quiet(tmp_path)) == []


FAILURES = [
    ("nvmlDeviceGetHandleByIndex_v2", pynvml.NVML_ERROR_GPU_IS_LOST, "GPU is lost"),
    ("nvmlDeviceGetHandleByIndex_v2", pynvml.NVML_ERROR_RESET_REQUIRED, "GPU requires restart"),
    ("nvmlInitWithFlags", pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "NVML/RM version mismatch."),
]


@pytest.mark.parametrize(("function", "error", "reason"), FAILURES)
def test_a_device_of_which_the_driver_does_not_speak_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, error: int, reason: str
) -> None:
    install(monkeypatch, Gpu()).refuses[function] = error
    root = planted(tmp_path, NVIDIA_H100)
    found = judge(quiet(root), OFFER, root, {})
    assert codes(found.troubles) == ["device-lost"]
    assert found.troubles[0].message.endswith(reason)
    assert "H100" in found.troubles[0].message
    assert found.unusable


def test_a_driver_that_cannot_be_asked_takes_no_accelerator_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = planted(tmp_path, NVIDIA_H100)
    for reason in ("NVML Shared Library Not Found", "Driver Not Loaded"):
        found = judge(quiet(root), OFFER, root, {})
        assert codes(found.troubles) == ["silent-driver"]
        assert "NVIDIA_DRIVER_CAPABILITIES=compute,utility" in found.troubles[0].advice
        assert found.troubles[0].message.endswith(f"is not watched: NVML: {reason}")
        assert not found.unusable
        install(monkeypatch, Gpu()).refuses["nvmlInitWithFlags"] = (
            pynvml.NVML_ERROR_DRIVER_NOT_LOADED
        )
    found = judge(quiet(root), CPU_BUILD, root, {})
    assert codes(found.troubles) == ["torch-build"]


def test_the_gpus_of_others_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = install(monkeypatch, Gpu())
    library.refuses["nvmlDeviceGetHandleByIndex_v2"] = pynvml.NVML_ERROR_NO_PERMISSION
    assert quiet(tmp_path).accelerators == []


QUOTA = {"cpu.quota_cores": len(affinity()) - 0.5}


@pytest.mark.parametrize(
    ("facts", "code", "mend"),
    [
        ({"cpu.governor": "powersave"}, "slow-governor", "cpupower frequency-set -g performance"),
        (QUOTA | {"container": True}, "quota-below-cores", "docker run --cpus="),
        ({"others": 1000.0}, "busy-processor", "`top`"),
        ({"on_battery": True}, "on-battery", "plug it in"),
        ({"shared_memory_bytes": 64 * 2**20}, "little-shared-memory", "--shm-size"),
        ({"disk_free_bytes": 2**20}, "little-disk-space", "--results"),
        ({"memory_free_bytes": 2**29}, "little-memory", "end other programs"),
    ],
)
def test_each_trouble_of_the_host_is_named_with_what_mends_it(
    tmp_path: Path, facts: dict[str, Any], code: str, mend: str
) -> None:
    there = quiet(tmp_path)
    for path, value in facts.items():
        put(there.host, path, value)
    [trouble] = said(there)
    assert (trouble.code, trouble.severity) == (code, "warning")
    assert mend in trouble.advice.lower()


def test_devices_that_a_mask_hides_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Gpu(), Gpu(uuid="GPU-2"))
    [trouble] = said(quiet(tmp_path, masks={"CUDA_VISIBLE_DEVICES": "0"}))
    assert trouble.message == "PyTorch sees 1 of 2 accelerators: CUDA_VISIBLE_DEVICES='0'"
    assert trouble.advice == "unset CUDA_VISIBLE_DEVICES"
    assert said(quiet(tmp_path), replace(OFFER, devices=2)) == []


@pytest.mark.parametrize(
    ("capability", "built", "served"),
    [
        ((8, 9), ("sm_80", "sm_90"), True),
        ((12, 0), ("sm_80", "sm_90"), False),
        ((12, 0), ("sm_90", "compute_90"), True),
        ((9, 0), ("sm_90a",), True),
        ((10, 0), ("sm_90a", "sm_120"), False),
        ((10, 3), ("sm_100f",), True),
        ((10, 3), ("sm_100a",), False),
    ],
)
def test_a_build_serves_the_generations_that_its_code_runs_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capability: tuple[int, int],
    built: tuple[str, ...],
    *,
    served: bool,
) -> None:
    install(monkeypatch, Gpu(capability=capability))
    found = codes(said(quiet(tmp_path), replace(OFFER, architectures=built)))
    assert found == ([] if served else ["build-lacks-device"])


def test_what_torch_prints_while_it_is_imported_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loud = (
        "import os\nprint('loaded', flush=True)\nos.write(1, b'a library')\nraise ImportError('no')"
    )
    (tmp_path / "torch.py").write_text(loud)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert Asking().answer().builds == {"error": "no"}


def test_a_run_is_not_told_of_accelerators_that_it_does_not_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Gpu(power_limit=400_000))
    assert "power-cap" in codes(glance(tmp_path, [], tmp_path, {}))
    assert "power-cap" not in codes(glance(tmp_path, ["cpu"], tmp_path, {}))
    assert "no-accelerator" not in codes(glance(tmp_path, ["cpu"], tmp_path, {}))


# cores that are far away

NODE = {"sys/bus/pci/devices/0000:18:00.0/numa_node": "1"}
OWN_MEMORY = 8
"""The node that the memory of a GPU is itself, as beside NVIDIA's Grace."""


@pytest.mark.parametrize(
    ("nodes", "told"),
    [([0, 1], "attached to memory node 1, and the usable cores belong to nodes 0, 1"), ([1], None)],
)
def test_cores_of_another_memory_node_are_a_trouble_with_its_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: list[int] | None, told: str | None
) -> None:
    install(monkeypatch, Gpu(name="NVIDIA H100 80GB HBM3", numa_node=OWN_MEMORY))
    root = planted(tmp_path, NVIDIA_H100, NODE)
    there = quiet(root, cpu=replace(host().cpu, core_nodes=nodes))
    found = [one for one in said(there) if one.code == "far-accelerator"]
    message, advice = f"NVIDIA H100 80GB HBM3 is {told}", "numactl --cpunodebind=1 --membind=1"
    assert [(one.severity, one.message) for one in found] == [("info", message)] * bool(told)
    assert all(one.advice == f"{advice} frobench run" for one in found)


# the command


class Answered:
    """A torch that was asked."""

    def answer(self) -> Offer:
        """Return what it offers."""
        return CPU_BUILD


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


@pytest.mark.parametrize("lost", [False, True])
def test_the_json_keeps_its_fields_and_the_exit_code_says_whether_all_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, lost: bool
) -> None:
    monkeypatch.setattr(doctor, "Asking", Answered)
    install(monkeypatch, Gpu(lost=lost))
    shown = CliRunner().invoke(main, ["doctor", "--json", "--results", str(tmp_path / "new")])
    found = msgspec.json.decode(shown.output, type=doctor.Examination)
    assert shown.exit_code == 3 * found.unusable == 3
    assert ("GPU is lost" in shown.output) == lost
    plain = json.loads(shown.output)
    assert plain.keys() == {"there", "troubles"}
    there = plain["there"] | {"accelerators": plain["there"]["accelerators"][0]}
    for part, names in FIELDS.items():
        assert {*names.split()} <= there[part].keys()
    assert {"code", "severity", "message", "advice"} <= plain["troubles"][0].keys()


@pytest.mark.golden
def test_the_page_of_troubles_is_that_of_the_rules() -> None:
    committed = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
    assert committed == handbook(), (
        "`python -m frobench.suite.doctor > docs/doctor.md` writes it anew"
    )
