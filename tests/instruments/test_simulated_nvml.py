# SPDX-License-Identifier: MIT
"""The simulated NVML answers through the real pynvml, and fails in each of its ways."""

from collections.abc import Callable
from typing import Any

import pynvml
import pytest

from tests.instruments.devices.simulated_nvml import (
    EVENT_REASONS,
    NUMBERS,
    PAIRS,
    Gpu,
    install,
    install_none,
)

ASKED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "name": (pynvml.nvmlDeviceGetName, "NVIDIA H200"),
    "memory": (lambda gpu: pynvml.nvmlDeviceGetMemoryInfo(gpu).free, 143_771 * 2**20 - 5),
    "memory, second version": (
        lambda gpu: pynvml.nvmlDeviceGetMemoryInfo(gpu, pynvml.nvmlMemory_v2).used,
        5,
    ),
    "clock": (lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM), 345),
    "highest clock": (
        lambda gpu: pynvml.nvmlDeviceGetMaxClockInfo(gpu, pynvml.NVML_CLOCK_MEM),
        3201,
    ),
    "power": (pynvml.nvmlDeviceGetPowerUsage, 76_000),
    "limits": (pynvml.nvmlDeviceGetPowerManagementLimitConstraints, [200_000, 700_000]),
    "temperature": (lambda gpu: pynvml.nvmlDeviceGetTemperature(gpu, 0), 31),
    "temperature, new": (lambda gpu: pynvml.nvmlDeviceGetTemperatureV(gpu, 0), 31),
    "utilisation": (lambda gpu: pynvml.nvmlDeviceGetUtilizationRates(gpu).memory, 4),
    "processes": (
        lambda gpu: [
            (one.pid, one.usedGpuMemory) for one in pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)
        ],
        [(7, 512), (8, None)],
    ),
    "no processes": (pynvml.nvmlDeviceGetGraphicsRunningProcesses, []),
    "field": (
        lambda gpu: (
            pynvml.nvmlDeviceGetFieldValues(gpu, [pynvml.NVML_FI_DEV_POWER_INSTANT])[0].value.ullVal
        ),
        76_000,
    ),
    "unknown field": (
        lambda gpu: pynvml.nvmlDeviceGetFieldValues(gpu, [82])[0].nvmlReturn,
        pynvml.NVML_ERROR_NOT_SUPPORTED,
    ),
    "energy": (pynvml.nvmlDeviceGetTotalEnergyConsumption, 9),
    "ECC": (pynvml.nvmlDeviceGetEccMode, [1, 1]),
    "link": (lambda gpu: pynvml.nvmlDeviceGetNvLinkState(gpu, 0), 1),
    "topology": (lambda gpu: pynvml.nvmlDeviceGetTopologyCommonAncestor(gpu, gpu), 50),
}


@pytest.mark.parametrize("asked", ASKED)
def test_pynvml_reads_what_was_planted(monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    gpu = Gpu(
        used=5,
        utilization=(3, 4),
        processes=[(7, 512), (8, None)],
        energy=lambda: 9,
        nvlinks=1,
    )
    install(monkeypatch, Gpu(uuid="GPU-other", name="Other"), gpu)
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByUUID(gpu.uuid)
    read, expected = ASKED[asked]
    assert read(handle) == expected
    assert pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(0)) == "Other"


def test_every_function_is_one_that_pynvml_asks_for() -> None:
    with open(pynvml.__file__, encoding="utf-8") as file:  # noqa: PTH123 - the module's own path
        source = file.read()
    assert all(f'"{name}"' in source for name in (*NUMBERS, *PAIRS))


def test_every_reason_bit_is_there() -> None:
    assert {1 << place for place in range(11)} == set(EVENT_REASONS.values())


@pytest.mark.parametrize(
    "code",
    [
        pynvml.NVML_ERROR_NO_PERMISSION,
        pynvml.NVML_ERROR_NOT_SUPPORTED,
        pynvml.NVML_ERROR_GPU_IS_LOST,
        pynvml.NVML_ERROR_UNKNOWN,
    ],
)
def test_a_function_refuses_with_pynvmls_own_error(
    monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    gpu = Gpu(refuses={"nvmlDeviceGetPowerUsage": code})
    install(monkeypatch, gpu)
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    with pytest.raises(pynvml.NVMLError) as refused:
        pynvml.nvmlDeviceGetPowerUsage(handle)
    assert refused.value.value == code
    assert pynvml.nvmlDeviceGetPersistenceMode(handle) == 1


def test_a_lost_device_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Gpu()
    install(monkeypatch, gpu)
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    gpu.lost = True
    with pytest.raises(pynvml.NVMLError_GpuIsLost):
        pynvml.nvmlDeviceGetName(handle)


def test_the_library_fails_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    library = install(monkeypatch, Gpu())
    with pytest.raises(pynvml.NVMLError_Uninitialized):
        pynvml.nvmlDeviceGetCount()
    library.refuses["nvmlInitWithFlags"] = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    with pytest.raises(pynvml.NVMLError_DriverNotLoaded):
        pynvml.nvmlInit()
    del library.refuses["nvmlInitWithFlags"]
    library.lacks.add("nvmlDeviceGetCurrentClocksEventReasons")
    pynvml.nvmlInit()
    with pytest.raises(pynvml.NVMLError_FunctionNotFound):
        pynvml.nvmlDeviceGetCurrentClocksEventReasons(pynvml.nvmlDeviceGetHandleByIndex(0))
    assert pynvml.nvmlDeviceGetCount() == 1
    pynvml.nvmlShutdown()
    assert library.users == 0
    install_none(monkeypatch)
    with pytest.raises(pynvml.NVMLError_LibraryNotFound):
        pynvml.nvmlInit()
