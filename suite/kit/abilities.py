# SPDX-License-Identifier: MIT
"""What only some devices can do: precisions, graphs, compiling, pinned memory.

A case that needs more than its device can do is skipped with that reason.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from time import perf_counter
from typing import Any

import pytest

from frobench.suite.errors import in_brief
from frobench.suite.kit.device import REFUSALS, Device
from frobench.suite.lazy_torch import torch

WARM_UPS = 3
VENDORS_GRAPHS = ("CUDAGraph", "XPUGraph")
"""Classes of graphs in the modules of backends; ROCm's is that of CUDA."""


@contextmanager
def needed(what: str) -> Iterator[None]:
    """Skip the case if the block raises, since the machine lacks `what`; fail it without memory."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except REFUSALS as error:
        raise pytest.skip.Exception(f"no {what} here: {in_brief(error)}") from error


@contextmanager
def precision(name: str) -> Iterator[None]:
    """Allow TF32 in float32 products and convolutions if `name` is ``tfloat32``; else forbid it."""
    cudnn: Any = torch.backends.cudnn
    before = torch.get_float32_matmul_precision(), cudnn.allow_tf32
    try:
        torch.set_float32_matmul_precision("high" if name == "tfloat32" else "highest")
        cudnn.allow_tf32 = name == "tfloat32"
        yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        cudnn.allow_tf32 = before[1]


def pinned(tensor: "torch.Tensor") -> "torch.Tensor":
    """Return a copy of a host tensor in pinned memory, which accelerators read directly."""
    with needed("pinned memory"):
        return tensor.pin_memory()


def capture(device: Device, body: Callable[[], Any]) -> Callable[[], Any]:
    """Record what a body launches; return a callable that replays it and returns its result.

    The result has the same memory after every replay. The body must not read anything back.
    Where no class of graphs works, the case is skipped with the reason of each.
    """
    if device.name not in _graphs:
        _graphs[device.name] = _try_graphs(device)
    maker = _graphs[device.name]
    if isinstance(maker, str):
        pytest.skip(f"no graphs here: {maker}")
    with needed("graphs"):
        graph = maker()
    result = _record(device, graph, body)

    def replay() -> Any:  # noqa: ANN401 - whatever the body returns
        graph.replay()
        return result

    return replay


_graphs: dict[str, Callable[[], Any] | str] = {}
"""By device: the class of graphs that works, or why none does."""


def _try_graphs(device: Device) -> Callable[[], Any] | str:
    """Return the first class of graphs that replays a sum on a device, or why none does.

    The vendor's class comes first: torch has the general one before vendors support it.
    """
    refusals = []
    classes = [*((device.module, own) for own in VENDORS_GRAPHS), (torch.accelerator, "Graph")]
    for home, name in classes:
        maker: Callable[[], Any] | None = getattr(home, name, None)
        if maker is None:
            continue
        number = torch.ones(2).to(device.handle)
        try:
            graph = maker()
            doubled = _record(device, graph, partial(torch.add, number, number))
            number.fill_(3.0)
            graph.replay()
            device.synchronize()
            if doubled.tolist() == [6.0, 6.0]:
                return maker
            refusal = "a replay computes nothing"
        except torch.OutOfMemoryError:
            raise
        except REFUSALS as error:
            refusal = in_brief(error)
        refusals.append(f"{home.__name__}.{name}: {refusal}")
    return "; ".join(refusals) or "neither torch nor the backend has any"


def _record(device: Device, graph: Any, body: Callable[[], Any]) -> Any:  # noqa: ANN401 - each backend has its own; whatever the body returns
    device.synchronize()
    with torch.accelerator.device_index(device.handle.index), device.stream():
        for _ in range(WARM_UPS):  # the set-up of libraries cannot be recorded
            body()
        device.synchronize()
        graph.capture_begin()
        try:
            result = body()
        finally:  # a stream left in capture fails every later case
            graph.capture_end()
    device.synchronize()
    return result


def compiled(
    device: Device, body: Callable[[], Any], *methods: Callable[..., Any]
) -> tuple[Callable[[], Any], float]:
    """Compile a body as a whole; return the compiled body and the seconds until its first result.

    The compiler is loaded and tried before; its caches are empty, and thrown away afterwards.

    methods : what is compiled in place of the body, each as a whole: methods of objects that the
        body calls, for a body such as a backward pass, which cannot be compiled as a whole
    """
    _try_compiler(device.handle)
    begun = perf_counter()
    faster = _compile(body, *methods)
    device.synchronize()
    return faster, perf_counter() - begun


@cache
def _try_compiler(where: "torch.device") -> None:
    numbers = torch.ones(2, device=where)
    with needed("compiler"):
        _compile(lambda: numbers + numbers)


def _compile(body: Callable[[], Any], *methods: Any) -> Callable[[], Any]:  # noqa: ANN401 - bound
    from torch._inductor.utils import fresh_cache  # noqa: PLC0415 - takes seconds

    # Otherwise the first body compiled on a machine waits for 150 MB of headers.
    options: dict[str, Any] = {"cpp_cache_precompile_headers": False}
    torch.compiler.reset()  # or a function compiled before would be compiled for further sizes
    whole = partial(torch.compile, fullgraph=True, dynamic=False, options=options)
    with fresh_cache():
        for method in methods:
            setattr(method.__self__, method.__name__, whole(method))
        faster = body if methods else whole(body)
        faster()
        return faster
