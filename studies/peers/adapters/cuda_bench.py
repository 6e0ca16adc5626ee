# SPDX-License-Identifier: MIT
"""cuda-bench (NVBench in Python): a script that registers bodies; for CUDA devices only.

``python -m studies.peers.adapters.cuda_bench OUT BODY`` is that script. Its users read a mean
from its JSON, so a process has one sample here.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from studies.peers.bodies import DEVICE, QUEUED, Body, make
from studies.peers.tool import Measurement, Order, Process, Tool, missing_on_cuda, run

MEAN = "nv/cold/time/gpu/mean"
"""The tag under which NVBench writes the mean of a kernel's isolated times, in seconds."""


def time_each(bodies: Mapping[str, Body], device: str, out: str) -> None:
    """Time bodies by their names, on the stream that NVBench gives, and write its JSON."""
    from cuda import bench  # noqa: PLC0415 - the script alone needs it

    for name, body in bodies.items():
        bench.register(_benchmark(body)).set_name(name)
    # NVBench would measure on every device that it sees, and the bodies lie on one.
    only = ["--devices", device.partition(":")[2] or "0"]
    bench.run_all_benchmarks([sys.argv[0], *only, "--json", out])


def _benchmark(body: Body) -> Callable[[Any], None]:
    import torch  # noqa: PLC0415 - the script alone needs it

    def launch(given: Any) -> None:  # noqa: ANN401 - cuda-bench's own
        stream = torch.cuda.ExternalStream(given.get_stream().addressof())  # type: ignore[no-untyped-call]
        with torch.cuda.stream(stream):
            body()

    def benchmark(state: Any) -> None:  # noqa: ANN401 - cuda-bench's own
        state.exec(launch, batched=False)

    return benchmark


def measure(order: Order) -> list[Measurement]:
    """Run the script for each body."""
    return [_one(order, name) for name in order.bodies]


def _one(order: Order, name: str) -> Measurement:
    out = order.folder / f"{name}.json"
    environment = {DEVICE: order.device}
    wall, _ = run("-m", __name__, out, name, order=order, environment=environment)
    mean = means_in(json.loads(out.read_bytes()))[name]
    process = Process(samples=[mean], alone=wall, shared=wall)
    return Measurement(body=name, processes=[process])


def means_in(written: dict[str, Any]) -> dict[str, float]:
    """Return the means that NVBench wrote for benchmarks of one state each, in seconds."""
    return {
        benchmark["name"]: _mean(benchmark["states"][0]["summaries"])
        for benchmark in written["benchmarks"]
    }


def _mean(summaries: list[dict[str, Any]]) -> float:
    (found,) = (each for each in summaries if each["tag"] == MEAN)
    (value,) = (each["value"] for each in found["data"] if each["name"] == "value")
    return float(value)


TOOL = Tool(
    name="cuda-bench",
    usage="`state.exec(launch, batched=False)`, with its defaults",
    distribution="cuda-bench",
    missing=lambda: missing_on_cuda("cuda.bench"),
    measure=measure,
    reports=lambda processes: processes[0][0],
    rules=None,
    devices=(QUEUED,),
)

if __name__ == "__main__":
    time_each({sys.argv[2]: make(sys.argv[2])}, os.environ[DEVICE], sys.argv[1])
