# SPDX-License-Identifier: MIT
"""A simulated NVML: the driver's shared library, with GPUs as a test wants them.

It lies below the real `pynvml`, in place of the library that this loads: constants, exceptions,
structures, strings and the ways of calling are pynvml's own, and none is written from memory.

    gpu = Gpu(power=650_000, refuses={"nvmlDeviceGetFanSpeed": pynvml.NVML_ERROR_NO_PERMISSION})
    library = install(monkeypatch, gpu, Gpu(uuid="GPU-2"))
    gpu.reasons |= pynvml.nvmlClocksEventReasonSwPowerCap  # what is asked next sees it
    gpu.energy = iter(range(0, 10**9, 700)).__next__  # or a function, called each time
    gpu.lost = True  # "GPU is lost", whatever is asked of it
    library.refuses["nvmlInitWithFlags"] = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    library.lacks.add("nvmlDeviceGetCurrentClocksEventReasons")  # an older driver has it not
    install_none(monkeypatch)  # no NVIDIA driver: the library is not found

`refuses` takes the library's own names, as `pynvml` asks for them: `nvmlDeviceGetCount_v2`.
Values are in the library's units: milliwatts, millijoules, megahertz, bytes, percent.
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import Mock

import pynvml
import pytest

EVENT_REASONS: dict[str, int] = {
    name.removeprefix("nvmlClocksThrottleReason"): bit
    for name, bit in vars(pynvml).items()
    if name.startswith("nvmlClocksThrottleReason") and bit.bit_count() == 1
}
"""Every bit by pynvml's names; the names with `Event` lack two that drivers may still set."""
MIB = 2**20


@dataclass
class Gpu:
    """A GPU, at first an H200 that idles; each value may be a function that gives it.

    refuses : error codes by the library's function
    fields : what `nvmlDeviceGetFieldValues` tells beside power, by the field's number
    processes : pairs of a process and its bytes, or `None` where the system does not say
    """

    name: Any = "NVIDIA H200"
    uuid: Any = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
    total: Any = 143_771 * MIB
    used: Any = 0
    clocks: dict[int, Any] = field(default_factory=lambda: {0: 345, 1: 345, 2: 3201, 3: 765})
    max_clocks: dict[int, Any] = field(default_factory=lambda: {0: 1980, 1: 1980, 2: 3201, 3: 1545})
    power: Any = 76_000
    power_limit: Any = 700_000
    power_limit_default: Any = 700_000
    energy: Any = 0
    temperature: Any = 31
    fan: Any = 0
    utilization: Any = (0, 0)
    reasons: Any = pynvml.nvmlClocksEventReasonGpuIdle
    generation: Any = 5
    generation_max: Any = 5
    width: Any = 16
    width_max: Any = 16
    ecc: Any = (1, 1)
    mig: Any = (0, 0)
    capability: Any = (9, 0)
    persistence: Any = 1
    numa_node: Any = 0
    processes: Any = ()
    fields: dict[int, Any] = field(default_factory=dict)
    refuses: dict[str, int] = field(
        default_factory=lambda: {"nvmlDeviceGetFanSpeed": pynvml.NVML_ERROR_NOT_SUPPORTED}
    )
    lost: bool = False

    def now(self, name: str) -> Any:  # noqa: ANN401 - whatever the library tells
        """Return a value as it is at this moment."""
        return _now(getattr(self, name))


NUMBERS = {
    "PowerUsage": "power",
    "PowerManagementLimit": "power_limit",
    "PowerManagementDefaultLimit": "power_limit_default",
    "TotalEnergyConsumption": "energy",
    "FanSpeed": "fan",
    "CurrentClocksEventReasons": "reasons",
    "CurrentClocksThrottleReasons": "reasons",
    "CurrPcieLinkGeneration": "generation",
    "MaxPcieLinkGeneration": "generation_max",
    "CurrPcieLinkWidth": "width",
    "MaxPcieLinkWidth": "width_max",
    "PersistenceMode": "persistence",
    "NumaNodeId": "numa_node",
    "EccMode": "ecc",
    "MigMode": "mig",
    "CudaComputeCapability": "capability",
}
"""What functions called `nvmlDeviceGet...` tell in one number of a GPU, or in two."""
STRINGS = {"Name": "name", "UUID": "uuid"}


class Library:
    """The shared library: its functions take what ctypes gives them and return error codes.

    refuses : error codes by function, whichever GPU is meant
    lacks : functions that this version of the library does not have
    users : how often it was initialised and not shut down; without, it knows nothing
    calls : every function that was called
    """

    def __init__(self, *gpus: Gpu, driver: str = "580.95.05") -> None:
        self.gpus = gpus
        self.driver = driver
        self.refuses: dict[str, int] = {}
        self.lacks: set[str] = set()
        self.users = 0
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function of the library, as the loader finds it."""
        if name.startswith("_") or name in self.lacks:
            raise AttributeError(name)
        if name == "nvmlErrorString":
            return lambda code: f"NVML Error with code {code}".encode()
        answer = self._answer(name)

        def called(*arguments: Any) -> int:  # noqa: ANN401 - as the library declares them
            self.calls.append(name)
            if name in self.refuses:
                return self.refuses[name]
            if not self.users and name != "nvmlInitWithFlags":
                return int(pynvml.NVML_ERROR_UNINITIALIZED)
            return answer(*arguments) or 0

        return called

    def _answer(self, name: str) -> Callable[..., int | None]:
        own = getattr(type(self), f"_{name}", None)
        if own is not None:
            return lambda *arguments: own(self, *arguments)
        tell = _telling(name)
        return lambda handle, *arguments: self._ask(name, tell, handle, *arguments)

    def _ask(self, name: str, tell: Callable[..., int | None], handle: Any, *outs: Any) -> int:  # noqa: ANN401 - see above
        gpu = self.gpus[(ctypes.cast(handle, ctypes.c_void_p).value or 0) - 1]
        if gpu.lost:
            return int(pynvml.NVML_ERROR_GPU_IS_LOST)
        return gpu.refuses.get(name) or tell(gpu, *outs) or 0

    def _nvmlDeviceGetHandleByIndex_v2(self, wanted: Any, out: Any) -> int:  # noqa: ANN401, N802 - see above
        if not wanted.value < len(self.gpus):
            return int(pynvml.NVML_ERROR_INVALID_ARGUMENT)
        if self.gpus[wanted.value].lost:
            return int(pynvml.NVML_ERROR_GPU_IS_LOST)
        handle = ctypes.c_void_p(wanted.value + 1)
        ctypes.memmove(out, ctypes.byref(handle), ctypes.sizeof(handle))
        return 0

    def _nvmlDeviceGetCount_v2(self, out: Any) -> None:  # noqa: ANN401, N802 - see above
        _put(out, len(self.gpus))

    def _nvmlInitWithFlags(self, _: int) -> None:  # noqa: N802 - the library's name
        self.users += 1

    def _nvmlShutdown(self) -> None:  # noqa: N802 - the library's name
        self.users -= 1

    def _nvmlSystemGetDriverVersion(self, out: Any, _: Any) -> None:  # noqa: ANN401, N802 - the library's
        out.value = self.driver.encode()


Install = Callable[..., Library]
"""Takes the GPUs that are to be in the machine, as `install` does."""


def install(monkeypatch: pytest.MonkeyPatch, *gpus: Gpu, **told: Any) -> Library:  # noqa: ANN401 - of `Library`
    """Put a simulated library below pynvml until the test ends, and return it."""
    library = Library(*gpus, **told)
    monkeypatch.setattr(pynvml, "nvmlLib", library)
    monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
    return library


def install_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pynvml find no library until the test ends, as on a machine without the driver."""
    missing = Mock(side_effect=OSError("cannot open shared object file: No such file or directory"))
    monkeypatch.setattr(pynvml, "nvmlLib", None)
    monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
    monkeypatch.setattr(pynvml, "CDLL", missing)


def _now(value: Any) -> Any:  # noqa: ANN401 - any value, or a function that gives one
    return value() if callable(value) else value


def _put(out: Any, value: int) -> int:  # noqa: ANN401 - what ctypes.byref returns
    out._obj.value = value
    return int(pynvml.NVML_SUCCESS)


def _telling(name: str) -> Callable[..., int | None]:
    """Return the function that writes what a GPU answers where the caller wants it."""
    what = name.removeprefix("nvmlDeviceGet")
    if what in NUMBERS:
        return lambda gpu, *outs: _put_each(outs, gpu.now(NUMBERS[what]))
    if what in STRINGS:
        return lambda gpu, out, _: setattr(out, "value", gpu.now(STRINGS[what]).encode())
    if what not in TELLING:  # pynvml lets the error through, unlike a missing attribute
        raise NotImplementedError(f"{name} is not simulated")
    return TELLING[what]


def _put_each(outs: Any, values: Any) -> None:  # noqa: ANN401 - see `_put`
    for out, value in zip(outs, values if isinstance(values, tuple) else (values,), strict=True):
        _put(out, value)


def _memory(gpu: Gpu, out: Any) -> None:  # noqa: ANN401 - see `_put`
    info = out._obj
    info.total, info.used = gpu.now("total"), gpu.now("used")
    info.free = info.total - info.used


def _utilization(gpu: Gpu, out: Any) -> None:  # noqa: ANN401 - see `_put`
    out._obj.gpu, out._obj.memory = gpu.now("utilization")


def _clock(which: str) -> Callable[..., int | None]:
    return lambda gpu, kind, out: _put(out, _now(gpu.now(which)[kind.value]))


def _processes(gpu: Gpu, count: Any, array: Any) -> int | None:  # noqa: ANN401 - see `_put`
    running = gpu.now("processes")
    if len(running) > (len(array) if array else 0):
        _put(count, len(running))
        return int(pynvml.NVML_ERROR_INSUFFICIENT_SIZE)
    for entry, (pid, used) in zip(array or (), running, strict=False):
        entry.pid = pid
        unknown = pynvml.NVML_VALUE_NOT_AVAILABLE_ulonglong.value
        entry.usedGpuMemory = unknown if used is None else used
    return _put(count, len(running))


def _fields(gpu: Gpu, _: Any, out: Any) -> None:  # noqa: ANN401 - see `_put`
    known = gpu.fields | {
        pynvml.NVML_FI_DEV_POWER_INSTANT: gpu.power,
        pynvml.NVML_FI_DEV_POWER_AVERAGE: gpu.power,
        pynvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION: gpu.energy,
    }
    for entry in out._obj:
        if entry.fieldId in known:
            entry.nvmlReturn = 0
            entry.valueType = pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
            entry.value.ullVal = _now(known[entry.fieldId])
        else:
            entry.nvmlReturn = pynvml.NVML_ERROR_NOT_SUPPORTED


TELLING: dict[str, Callable[..., int | None]] = {
    "MemoryInfo": _memory,
    "MemoryInfo_v2": _memory,
    "UtilizationRates": _utilization,
    "ClockInfo": _clock("clocks"),
    "MaxClockInfo": _clock("max_clocks"),
    "Temperature": lambda gpu, _, out: _put(out, gpu.now("temperature")),
    "ComputeRunningProcesses_v3": _processes,
    "FieldValues": _fields,
}
"""Those that tell more than numbers, and what each writes."""
