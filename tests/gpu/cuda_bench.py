# SPDX-License-Identifier: MIT
"""cuda-bench (NVBench in Python): registers bodies, runs them, and reads the means it wrote."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import torch

from studies.peers.bodies import Body

MEAN = "nv/cold/time/gpu/mean"
"""The tag under which NVBench writes the mean of a kernel's isolated times, in seconds."""


def time_each(bodies: Mapping[str, Body], device: str, out: str) -> None:
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
