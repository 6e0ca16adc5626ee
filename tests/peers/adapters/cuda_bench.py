# SPDX-License-Identifier: MIT
"""cuda-bench (NVBench in Python): a script that registers a body; for CUDA devices only.

``python -m tests.peers.adapters.cuda_bench OUT BODY`` is that script. Its users read a mean from
its JSON, so a process has one sample here.
"""

import json
import sys
from typing import Any

from tests.peers.bodies import DEVICE, QUEUED, make
from tests.peers.tool import Measurement, Order, Process, Tool, missing_on_cuda, run

MEAN = "nv/cold/time/gpu/mean"
"""The tag under which NVBench writes the mean of a kernel's isolated times, in seconds."""


def script(out: str, name: str) -> None:
    """Time a body on the stream that NVBench gives."""
    import torch  # noqa: PLC0415 - the script alone needs it
    from cuda import bench  # noqa: PLC0415 - the script alone needs it

    body = make(name)

    def benchmark(state: Any) -> None:  # noqa: ANN401 - cuda-bench's own
        def launch(given: Any) -> None:  # noqa: ANN401 - cuda-bench's own
            address = given.get_stream().addressof()
            with torch.cuda.stream(torch.cuda.ExternalStream(address)):  # type: ignore[no-untyped-call]
                body()

        state.exec(launch, batched=False)

    bench.register(benchmark)
    bench.run_all_benchmarks([sys.argv[0], "--json", out])


def measure(order: Order) -> list[Measurement]:
    """Run the script for each body."""
    return [_one(order, name) for name in order.bodies]


def _one(order: Order, name: str) -> Measurement:
    out = order.folder / f"{name}.json"
    environment = {DEVICE: order.device}
    wall, _ = run("-m", __name__, out, name, order=order, environment=environment)
    process = Process(samples=[mean_in(json.loads(out.read_bytes()))], alone=wall, shared=wall)
    return Measurement(body=name, processes=[process])


def mean_in(written: dict[str, Any]) -> float:
    """Return the mean that NVBench wrote for its only state, in seconds."""
    summaries = written["benchmarks"][0]["states"][0]["summaries"]
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
    script(sys.argv[1], sys.argv[2])
