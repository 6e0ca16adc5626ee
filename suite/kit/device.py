# SPDX-License-Identifier: MIT
"""Devices: the CPU and every accelerator of torch (CUDA, ROCm, XPU, MPS, out-of-tree).

All are asked through `torch.accelerator` and `torch.get_device_module`, and none by its vendor.
"""

import statistics
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, cached_property, partial, reduce
from inspect import signature
from time import perf_counter
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from frobench.suite.errors import DoesNotFitError
from frobench.suite.lazy_torch import is_imported, torch
from frobench.suite.machine import host
from frobench.suite.machine.accelerator_facts import eight_bit_float, serves
from frobench.suite.stored.types import Scalar

if TYPE_CHECKING:
    from torch import Tensor

HEADROOM = 0.9
"""The part of the free memory that a case may ask for."""
PIECE = 2**22
"""Numbers that one generator draws of a large tensor on a CPU."""


class UnknownDeviceError(ValueError):
    """A device was named that this machine does not have."""


class Device:
    """One device by its name in torch (`cpu`, `cuda:0`), with a seeded source of inputs."""

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name = name
        self.seed = seed
        self._kept_bytes = 0

    def __repr__(self) -> str:
        return f"Device({self.name!r})"

    @cached_property
    def handle(self) -> "torch.device":
        """What torch calls the device."""
        return torch.device(self.name)

    @property
    def is_accelerator(self) -> bool:
        """Whether work is queued on the device rather than done by the calling thread."""
        return self.name.partition(":")[0] != "cpu"

    @cached_property
    def module(self) -> Any:  # noqa: ANN401 - each backend has its own
        """The backend's own module, such as `torch.cuda`; an empty one where it has none."""
        with suppress(RuntimeError):
            return torch.get_device_module(self.handle)
        return ModuleType(self.handle.type)

    @property
    def properties(self) -> Any:  # noqa: ANN401 - each backend has its own
        """The backend's properties of the device; raises what the backend raises."""
        return self.module.get_device_properties(self.handle)

    @cached_property
    def _generator(self) -> "torch.Generator":
        """A generator on the device if the backend has one that works, else on the CPU."""
        with suppress(*REFUSALS):
            generator = torch.Generator(self.handle)
            torch.rand(1, generator=generator, device=self.handle)
            return generator.manual_seed(self.seed)
        return torch.Generator("cpu").manual_seed(self.seed)

    @property
    def wait(self) -> str | None:
        """The name of the call that waits for this device; `None` for a CPU."""
        return proved(self.handle).name if self.is_accelerator else None

    @property
    def uuid(self) -> str | None:
        """The UUID of an NVIDIA GPU; `None` for other devices."""
        is_nvidia = self.handle.type == "cuda" and torch.version.hip is None
        return str(self.properties.uuid) if is_nvidia else None

    def synchronize(self) -> None:
        """Wait until everything queued on this device is done."""
        if self.is_accelerator:
            proved(self.handle).call()

    def ready_reading(self) -> float:
        """Return the seconds of reading one element of a ready value back."""
        ready = torch.ones(2).to(self.handle)
        read(ready)
        return _typical(partial(reading, ready))

    def finish(self, result: object) -> None:
        """Do as `synchronize`; where the device computes only what is read, read the result."""
        if self.wait == RESULTS:
            for tensor in tensors(result, self.handle):
                read(tensor)
        else:
            self.synchronize()

    @cached_property
    def _has_own_events(self) -> bool:
        """Whether the backend has both events and streams of its own; neither works alone."""
        return hasattr(self.module, "Event") and hasattr(self.module, "current_stream")

    def event(self) -> "torch.Event":
        """Return a timing event for this device."""
        if self._has_own_events:
            return cast("torch.Event", self.module.Event(enable_timing=True))
        return torch.Event(self.handle, enable_timing=True)

    def record(self, event: "torch.Event", stream: "torch.Stream | None" = None) -> None:
        """Record an event on a stream of this device, by default on its current one."""
        # Without a stream the event is recorded on torch's current device, maybe another one.
        event.record(self._chosen(stream))

    def _chosen(self, stream: "torch.Stream | None") -> "torch.Stream":
        home: Any = self.module if self._has_own_events else torch.accelerator
        return stream or home.current_stream(self.handle)

    def wait_for(self, event: "torch.Event", stream: "torch.Stream | None" = None) -> None:
        """Let later work on a stream, by default the current one, wait for an event."""
        self._chosen(stream).wait_event(event)

    def can_wait_for(self, other: "Device") -> bool:
        """Tell whether work on this device can wait for an event of another device."""
        with suppress(*REFUSALS):
            event = other.event()
            other.record(event)
            self.wait_for(event)
            return True
        return False

    @cached_property
    def has_events(self) -> bool:
        """Whether events can be timed; not where the device computes only what is read."""
        with suppress(*REFUSALS):
            begin, end = self.event(), self.event()
            self.record(begin)
            self.record(end)
            self.synchronize()
            return begin.elapsed_time(end) >= 0 and self.wait != RESULTS
        return False

    def stream(self) -> "torch.Stream":
        """Return a new stream of this device."""
        if hasattr(self.module, "Stream"):
            return cast("torch.Stream", self.module.Stream(device=self.handle))
        return torch.Stream(self.handle)

    def free_bytes(self) -> int:
        """Return the bytes that can still be allocated."""
        if not self.is_accelerator:
            return host.free_memory()
        for home, ask in ((torch.accelerator, "get_memory_info"), (self.module, "mem_get_info")):
            with suppress(*REFUSALS):
                free = int(getattr(home, ask)(self.handle)[0])
                with suppress(*REFUSALS):  # torch's cache, which the driver calls used
                    free += torch.accelerator.memory_reserved(self.handle)
                    free -= torch.accelerator.memory_allocated(self.handle)
                return free
        return host.free_memory()  # memory shared with the host, as on MPS

    def require(self, nbytes: float) -> None:
        """Raise `DoesNotFitError` unless `nbytes` more can be allocated with headroom."""
        free = self.free_bytes()
        if nbytes > HEADROOM * free:
            msg = f"needs {nbytes / 2**30:.1f} GiB; {self.name} has {free / 2**30:.1f} GiB free"
            raise DoesNotFitError(msg)

    def uniform(self, *shape: int, dtype: "str | torch.dtype" = "float32") -> "torch.Tensor":
        """Draw a tensor uniformly from [-1, 1], the same for every run of one seed.

        Zeros, ones and identities run faster than such data on power-limited devices, and hide
        mistakes. 8-bit floats are of the type that the device has units for.
        """
        wanted = getattr(torch, dtype) if isinstance(dtype, str) else dtype
        if wanted == torch.float8_e4m3fn:
            wanted = getattr(torch, eight_bit_float(self.gfx))
        count = torch.Size(shape).numel()
        self.require(count * (4 + wanted.itemsize * (wanted != torch.float32)))
        drawn = torch.empty(shape, device=self._generator.device)
        _draw(drawn, self._generator)
        return drawn.to(device=self.handle, dtype=wanted)

    @property
    def gfx(self) -> str | None:
        """AMD's name of the architecture; `None` for other devices."""
        is_amd = self.handle.type == "cuda" and torch.version.hip is not None
        return str(self.properties.gcnArchName) if is_amd else None

    def peak_bytes(self) -> int | None:
        """Return the most bytes allocated since `reset_peak_bytes`, if the backend counts them."""
        for home in (torch.accelerator, self.module) if self.is_accelerator else ():
            with suppress(*REFUSALS):
                return int(home.max_memory_allocated(self.handle)) - self._kept_bytes
        return None

    def reset_peak_bytes(self) -> None:
        """Count the most bytes allocated from now on, without those allocated already."""
        for home in (torch.accelerator, self.module) if self.is_accelerator else ():
            with suppress(*REFUSALS):
                home.reset_peak_memory_stats(self.handle)
                self._kept_bytes = int(home.memory_allocated(self.handle))
                return


def _draw(numbers: "torch.Tensor", generator: "torch.Generator") -> None:
    """Draw numbers from [-1, 1]; many on a CPU in pieces, by several threads.

    A CPU's generator draws in sequence; with one generator, drawing dominated the set-up of cases.
    The numbers do not depend on the number of threads.
    """
    if numbers.device.type != "cpu" or numbers.numel() <= PIECE:
        numbers.uniform_(-1, 1, generator=generator)
        return
    pieces = torch.split(numbers.view(-1), PIECE)
    seeds = torch.randint(2**62, (len(pieces),), generator=generator).tolist()

    def draw(piece: "torch.Tensor", seed: int) -> None:
        piece.uniform_(-1, 1, generator=torch.Generator().manual_seed(seed))

    with ThreadPoolExecutor(torch.get_num_threads()) as threads:
        list(threads.map(draw, pieces, seeds))


def accelerators() -> list[str]:
    """Name every accelerator that torch can use, visible-device masks honoured."""
    kind = torch.accelerator.current_accelerator(check_available=True)
    count = torch.accelerator.device_count() if kind else 0
    return [name for index in range(count) if _is_there(name := f"{kind}:{index}")]


def _is_there(name: str) -> bool:
    """Tell whether a counted device exists: torch may count NVML's GPUs, and CUDA have fewer."""
    try:
        return Device(name).properties is not None
    except (AttributeError, NotImplementedError):  # a backend without properties
        return True
    except (AssertionError, RuntimeError):
        return False


def try_device(index: int = 0) -> "torch.device":
    """Return accelerator `index` where it exists, and the CPU where it does not."""
    names = accelerators()
    return torch.device(names[index] if 0 <= index < len(names) else "cpu")


def all_devices() -> "list[torch.device]":
    """Return every accelerator, or the CPU alone where there is none."""
    return [torch.device(name) for name in accelerators() or ["cpu"]]


def choose(wanted: Iterable[str]) -> list[str]:
    """Name the devices to measure: those wanted, or the CPU and every accelerator that computes.

    Where none computes, all are named, so that a run never silently measures the CPU alone.

    Raises `UnknownDeviceError` for a name that this machine does not have.
    """
    here = accelerators()
    present = ["cpu", *here]
    lacking = {} if wanted else unserved(here)
    chosen = []
    for name in wanted or ["cpu", *([name for name in here if name not in lacking] or here)]:
        full = f"{name}:0" if name != "cpu" and name.isalpha() else name
        if full not in present:
            msg = f"no device {name!r} here; there is {', '.join(present)} (--devices chooses)"
            raise UnknownDeviceError(msg)
        chosen.append(full)
    return list(dict.fromkeys(chosen))


def unserved(names: Iterable[str]) -> dict[str, str]:
    """Return the accelerators that torch sees and that cannot compute, and why not."""
    refusals = {name: _refusal(Device(name)) for name in names if name != "cpu"}
    return {name: refusal for name, refusal in refusals.items() if refusal}


def _refusal(device: Device) -> str | None:
    """Return why torch has no code for a device, or why a tiny product fails there."""
    built = torch.cuda.get_arch_list() if device.handle.type == "cuda" else []
    if built:
        capability = torch.cuda.get_device_capability(device.name)
        if not serves(built, device.gfx or "{}.{}".format(*capability)):
            return "PyTorch was not built for this generation"
    try:
        _multiply(device)
    except (NotImplementedError, torch.OutOfMemoryError):  # which its cases will say
        return None
    except RuntimeError as error:
        return str(error).partition("\n")[0]
    return None


def _multiply(device: Device) -> None:
    ones = torch.ones(2, 2).to(device.handle)
    read(ones @ ones)


def release_memory() -> None:
    """Release the accelerators' memory and the pinned host memory that torch keeps unused.

    Pinned memory is released only if releasing the accelerators' did not raise: on a backend that
    keeps none, torch 2.13 ends the process by a memory fault.
    """
    if not is_imported():
        return
    with suppress(*REFUSALS):
        torch.accelerator.empty_cache()
        pinned = getattr(torch.accelerator, "empty_host_cache", None)
        (pinned or torch._C._host_emptyCache)()  # noqa: SLF001 - the name before torch 2.13


def global_state() -> dict[str, Scalar]:
    """Return the process-wide settings that a benchmark must leave as it found them."""
    state: dict[str, Scalar] = {"affinity": ",".join(map(str, host.affinity()))}
    return (
        state
        if not is_imported()
        else state
        | {
            "threads": torch.get_num_threads(),
            "default dtype": str(torch.get_default_dtype()),
            "default device": str(torch.get_default_device()),
            "matmul precision": torch.get_float32_matmul_precision(),
            "gradients": torch.is_grad_enabled(),
            "deterministic": torch.are_deterministic_algorithms_enabled(),
        }
    )


READ_BACK = "read-back"
"""Reading one element back, after which a device that works in order has done all work before."""
RESULTS = "read-back of results"
"""Reading one element of each result back, for devices that compute only what is read."""

WORKS = ((256, 1), (256, 16), (1024, 1), (1024, 8), (4096, 1))
"""Work that is queued to try a wait, the least first: edges of matrices, and products in a row."""
AT_ONCE = 3.0
"""A call that takes this many times as long as reading a ready value, which is launched too, has
computed its product instead of queueing it."""
LEFT = 0.5
"""The part of the work left without a wait, or of a ready reading, that may be left after one."""
TRIES = 3
"""Times of which the median counts."""

REFUSALS = (AttributeError, RuntimeError, TypeError, ValueError)
"""Errors of backends that lack a call."""


class Wait(NamedTuple):
    """A call that waits for a device, and its name as it is stored."""

    name: str
    call: Callable[[], object]


class KnownWork(NamedTuple):
    """Work, the seconds to read a ready value, and the further seconds until it is done."""

    work: "Callable[[], Tensor]"
    ready: float
    left: float


@cache
def proved(device: "torch.device") -> Wait:
    """Return the first call that is proved to wait for a device.

    Raises what the device raises where nothing can be computed on it.
    """
    known = _known_work(device)
    most = known.ready + LEFT * max(known.left, known.ready)
    for wait in _candidates(device):
        try:
            if _typical(partial(_left, known.work, wait.call)) <= most:
                return wait
        except torch.OutOfMemoryError:
            raise
        except REFUSALS:
            continue
    return Wait(RESULTS, _candidates(device)[-1].call)


def read(tensor: "Tensor") -> object:
    """Read one element of a tensor back."""
    return tensor.as_strided((), ()).item()


def reading(tensor: "Tensor", clock: Callable[[], float] = perf_counter) -> float:
    """Return the seconds of reading one element of a tensor back."""
    begun = clock()
    read(tensor)
    return clock() - begun


def tensors(value: Any, device: "torch.device") -> "Iterator[Tensor]":  # noqa: ANN401 - any result
    """Yield the tensors of a body's result that have elements on a device."""
    if isinstance(value, torch.Tensor):
        if value.device == device and value.numel():
            yield value
    elif isinstance(value, torch.nn.Module | dict | list | tuple):
        held = value.parameters() if isinstance(value, torch.nn.Module) else value
        for each in held.values() if isinstance(held, dict) else held:
            yield from tensors(each, device)


def _candidates(device: "torch.device") -> list[Wait]:
    """Return the calls that may wait for a device, the general call first."""
    marker = torch.zeros(()).to(device)

    def own() -> object:
        synchronize = torch.get_device_module(device).synchronize  # on MPS it takes no device
        return synchronize(device) if signature(synchronize).parameters else synchronize()

    def stream() -> None:
        torch.accelerator.current_stream(device).synchronize()

    return [
        Wait("torch.accelerator.synchronize", partial(torch.accelerator.synchronize, device)),
        Wait(f"torch.{device.type}.synchronize", own),
        Wait("torch.accelerator.current_stream", stream),
        Wait(READ_BACK, marker.item),
    ]


def _known_work(device: "torch.device") -> KnownWork:
    """Return the least work that is not done once it is queued; the most if all is done.

    Then the device computes within the call, or too fast for a wait to matter. The work is products
    of matrices, or sums on a backend without products.
    """
    try:
        return _enough(device, torch.matmul)
    except NotImplementedError:
        return _enough(device, torch.add)


def _enough(device: "torch.device", operation: "Callable[[Tensor, Tensor], Tensor]") -> KnownWork:
    for edge, calls in WORKS:
        factor = torch.full((edge, edge), 1 / edge).to(device)
        work = partial(reduce, operation, [factor] * (calls + 1))
        result = work()
        read(result)  # first calls include one-time work
        ready = _typical(partial(reading, result))
        called = _typical(partial(_called, work))
        left = _typical(partial(_left, work)) - ready
        if left >= ready or called >= AT_ONCE * calls * ready:
            break
    return KnownWork(work, ready, left)


def _typical(seconds: Callable[[], float]) -> float:
    return statistics.median(seconds() for _ in range(TRIES))


def _called(work: "Callable[[], Tensor]") -> float:
    """Return the seconds of calling work; its result is read before the next call."""
    begun = perf_counter()
    result = work()
    called = perf_counter() - begun
    read(result)
    return called


def _left(work: "Callable[[], Tensor]", wait: Callable[[], object] | None = None) -> float:
    """Queue work, and wait; return the seconds of reading one element of its result."""
    result = work()
    if wait is not None:
        wait()
    return reading(result)
