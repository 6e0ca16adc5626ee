# SPDX-License-Identifier: MIT
"""The suite's own bodies, timed by the suite and by other tools in turn.

``python -m tests.gpu.anchors_measure OUT DEVICE`` is the script that cuda-bench runs in.
"""

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from random import sample
from statistics import median
from time import perf_counter
from typing import Any

import torch

from frobench.suite.kit.abilities import precision
from frobench.suite.kit.device import Device
from frobench.suite.measure.caches_and_inputs import ColdCaches
from frobench.suite.measure.timed_loop import Body, Sampler
from frobench.suite.stored.types import Check
from studies.peers.tool import Order, run
from tests.gpu.goals import AHEAD, SPAN, Timed
from tests.instruments.processes.alone import BENCHMARKS, load

Way = Callable[[Body], float]
"""Seconds that a tool says of a body."""

CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("bench_matmul", "bench_square", {"n": 8192, "dtype": "bfloat16"}),
    ("bench_matmul", "bench_square", {"n": 4096, "dtype": "float32"}),
    ("bench_matmul", "bench_square", {"n": 1024, "dtype": "float32"}),
    ("bench_copies", "bench_within", {"size": 4**14}),
)
"""What other tools time too, the longest first: modules, functions and parameters."""
SECONDS = 0.125
"""What a way takes in a round: as long as do_bench, with its warm-up, by default."""
SLEEP = 10**6
"""Cycles that keep a GPU busy, for half a millisecond, while a body is launched behind them."""
MILLISECOND = 1e-3
CUDA_BENCH, DO_BENCH = "cuda-bench", "triton's do_bench"
CUDA_BENCH_USES = 2
MEAN = "nv/cold/time/gpu/mean"
"""The tag under which NVBench writes the mean of a kernel's isolated times, in seconds."""


def body_of(module: str, function: str, device: Device, **params: Any) -> Body:  # noqa: ANN401 - the benchmark's
    """Return the body of a case, once its result was seen to be right."""
    taken: list[tuple[Body, Callable[[Any], Check]]] = []

    def measure(body: Body, *, check: Callable[[Any], Check], **_: object) -> None:
        taken.append((body, check))

    getattr(load(BENCHMARKS / f"{module}.py"), function)(measure, device, **params)
    ((body, check),) = taken
    if not check(body()).passed:
        raise RuntimeError(f"{function} with {params}: a wrong result")
    return body


def bodies(device: Device) -> dict[str, Body]:
    """Return what other tools time too, by the names of the suite's cases."""
    return {
        f"{function}[{'-'.join(map(str, (device.name, *params.values())))}]": body_of(
            module, function, device, **params
        )
        for module, function, params in CASES
    }


def times(device: Device, rounds: int, folder: Path, missing: dict[str, str]) -> list[Timed]:
    """Time each body by every tool that is here, in turn, with cold caches.

    folder : for what tools write
    missing : is told of the tools that are not here, or failed
    """
    tools = _do_bench(missing)
    with precision("float32"):
        found = [
            Timed(body=name, seconds=in_turn(_ways(device, body, tools), rounds))
            for name, body in bodies(device).items()
        ]
    means = _cuda_bench(device, folder, missing)
    for timed in found:
        timed.seconds |= means.get(timed.body, {})
    return found


def _ways(device: Device, body: Body, tools: Mapping[str, Way]) -> dict[str, Callable[[], float]]:
    caches = ColdCaches([device])
    cold = Sampler(body, [device], cold=caches)
    cold.took()
    return {
        SPAN: partial(_typical, lambda: cold.span()["span"]),
        AHEAD: partial(_typical, lambda: _behind_work(device, body, caches)),
        **{name: partial(tool, body) for name, tool in tools.items()},
    }


def in_turn(ways: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Return a value of each way in each round, the ways in an order of the round's own."""
    seen: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way in sample(list(ways), len(ways)):
            seen[way].append(ways[way]())
    return seen


def _typical(took: Callable[[], float]) -> float:
    """Return the median of the samples of a while, in which a device's clock may fall."""
    begun, seen = perf_counter(), [took()]
    while perf_counter() - begun < SECONDS:
        seen.append(took())
    return median(seen)


def _behind_work(device: Device, body: Body, caches: ColdCaches) -> float:
    """Return the seconds that the device takes for a body that was launched while it slept."""
    begin, end = device.event(), device.event()
    caches()
    torch.cuda._sleep(SLEEP)  # type: ignore[no-untyped-call]  # has no public name
    device.record(begin)
    body()
    device.record(end)
    device.synchronize()
    return begin.elapsed_time(end) * MILLISECOND


def _missing(module: str) -> str | None:
    """Say why a tool for CUDA devices cannot be used here, if so."""
    if not torch.cuda.is_available():
        return "needs a CUDA GPU"
    try:
        import_module(module)
    except ImportError:
        return "not installed"
    return None


def _do_bench(missing: dict[str, str]) -> dict[str, Way]:
    if why := _missing("triton"):
        missing[DO_BENCH] = why
        return {}
    from triton.testing import do_bench

    return {DO_BENCH: lambda body: median(do_bench(body, return_mode="all")) * MILLISECOND}


def _cuda_bench(
    device: Device, folder: Path, missing: dict[str, str]
) -> dict[str, dict[str, list[float]]]:
    """Return the means that cuda-bench gives, in processes of its own, by body and tool."""
    order = Order(bodies=(), folder=folder, processes=1, device=device.name)
    means: dict[str, dict[str, list[float]]] = {}
    if why := _missing("cuda.bench"):
        missing[CUDA_BENCH] = why
        return {}
    try:
        for use in range(CUDA_BENCH_USES):
            out = folder / f"cuda-bench-{use}.json"
            run("-m", __name__, out, device.name, order=order)
            for name, mean in _means_in(json.loads(out.read_bytes())).items():
                means.setdefault(name, {CUDA_BENCH: []})[CUDA_BENCH].append(mean)
    except RuntimeError as error:  # the others have still something to say
        missing[CUDA_BENCH] = str(error).splitlines()[-1]
    return means


def _time_each(bodies: Mapping[str, Body], device: str, out: str) -> None:
    """Time bodies by their names, on the stream that NVBench gives, and write its JSON."""
    from cuda import bench

    for name, body in bodies.items():
        bench.register(_benchmark(body)).set_name(name)
    # NVBench would measure on every device that it sees, and the bodies lie on one.
    only = ["--devices", device.partition(":")[2] or "0"]
    bench.run_all_benchmarks([sys.argv[0], *only, "--json", out])


def _benchmark(body: Body) -> Callable[[Any], None]:
    def launch(given: Any) -> None:  # noqa: ANN401 - cuda-bench's own
        stream = torch.cuda.ExternalStream(given.get_stream().addressof())  # type: ignore[no-untyped-call]
        with torch.cuda.stream(stream):
            body()

    def benchmark(state: Any) -> None:  # noqa: ANN401 - cuda-bench's own
        state.exec(launch, batched=False)

    return benchmark


def _means_in(written: dict[str, Any]) -> dict[str, float]:
    """Return the means that NVBench wrote for benchmarks of one state each, in seconds."""
    return {
        benchmark["name"]: _mean(benchmark["states"][0]["summaries"])
        for benchmark in written["benchmarks"]
    }


def _mean(summaries: list[dict[str, Any]]) -> float:
    (found,) = (each for each in summaries if each["tag"] == MEAN)
    (value,) = (each["value"] for each in found["data"] if each["name"] == "value")
    return float(value)


if __name__ == "__main__":
    with precision("float32"):
        _time_each(bodies(Device(sys.argv[2])), sys.argv[2], sys.argv[1])
