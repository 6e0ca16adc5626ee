# SPDX-License-Identifier: MIT
"""Benchmarks of `nn.DataParallel` as they are, and with wrong arithmetic planted.

``python -m tests.instruments.data_parallel FOLDER`` calls them on the accelerators of a process of
its own and writes one JSON object; the folder is for changed copies of benchmarks. PyTorch has
three functions in C++ for CUDA alone; plain copies stand in for them elsewhere. As there, what
stays on its device is not copied: the first replica shares its tensors with the module itself.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from frobench.suite.kit.device import Device, accelerators
from tests.instruments.processes.alone import BENCHMARKS, Recorder, copied, load

PARTS = ("scatter", "replicate", "parallel_apply", "gather", "whole")
FAULTS = {
    "samples in another order": (
        "data_parallel",
        "",
        "step(model, training.optimizer, inputs, targets)",
        "step(model, training.optimizer, inputs.flip(0), targets)",
    ),
    "an update of what is not trained": (
        "data_parallel",
        "",
        "step(model, training.optimizer,",
        "step(model, torch.optim.SGD(training.start.parameters(), 1.0),",
    ),
    "other samples scattered": (
        "forward_parts",
        "scatter",
        "lambda: scatter(inputs, handles)",
        "lambda: scatter(inputs.flip(0), handles)",
    ),
    "a layer forgotten": (
        "forward_parts",
        "replicate",
        "lambda: replicate(model, handles)",
        "lambda: replicate(model[:-1], handles)",
    ),
    "other inputs applied": (
        "forward_parts",
        "parallel_apply",
        "lambda: parallel_apply(replicas, shares)",
        "lambda: parallel_apply(replicas, [share + 1 for share in shares])",
    ),
    "gathered in another order": (
        "forward_parts",
        "gather",
        "lambda: gather(outputs, handles[0])",
        "lambda: gather(outputs[::-1], handles[0])",
    ),
    "the whole of other samples": (
        "forward_parts",
        "whole",
        "lambda: run(replicate(model, handles), scatter(inputs, handles))",
        "lambda: run(replicate(model, handles), scatter(inputs.flip(0), handles))",
    ),
}


def play(folder: Path) -> dict[str, dict[str, object]]:
    """Call the benchmarks on all accelerators; return what their checks compare and find."""
    right = BENCHMARKS / "bench_data_parallel.py"
    called: list[tuple[str, Path, str, dict[str, Any]]] = [
        (f"data_parallel-{batch}", right, "data_parallel", {"batch": batch}) for batch in (1, 5, 64)
    ]
    called += [
        (f"{part}-{batch}", right, "forward_parts", {"batch": batch, "part": part})
        for part in PARTS
        for batch in (1, 64)
    ]
    for name, (function, part, old, new) in FAULTS.items():
        wrong = copied(folder) / f"bench_{name.replace(' ', '_')}.py"
        code = right.read_text("utf-8")
        assert old in code, name
        wrong.write_text(code.replace(old, new), "utf-8")
        called.append((name, wrong, function, {"batch": 64} | ({"part": part} if part else {})))
    return {name: _call(path, function, more) for name, path, function, more in called}


def _call(path: Path, function: str, more: dict[str, Any]) -> dict[str, object]:
    seen = Recorder()
    devices = [Device(name) for name in accelerators()]
    getattr(load(path), f"bench_{function}")(seen, devices, "small", **more)
    return {"compared": seen.check.compared, "passed": seen.check.passed}


def install() -> None:
    """Put them where PyTorch looks for them, unless those that are there serve the devices."""
    if not hasattr(torch._C, "_scatter") or _on(0).type != "cuda":
        torch._C._broadcast_coalesced = _broadcast
        torch._C._scatter = _scatter
        torch._C._gather = _gather


def _on(index: int) -> torch.device:
    kind = torch.accelerator.current_accelerator()
    assert kind is not None
    return torch.device(kind.type, index)


def _broadcast(
    tensors: list[Tensor],
    devices: list[int],
    buffer_size: int,  # noqa: ARG001 - of the copies that PyTorch joins
) -> list[list[Tensor]]:
    return [[tensor.to(_on(index)).detach() for tensor in tensors] for index in devices]


def _scatter(
    tensor: Tensor,
    devices: list[int],
    chunk_sizes: list[int] | None,
    dim: int,
    streams: object,  # noqa: ARG001 - of copies from the host
) -> list[Tensor]:
    parts = torch.split(tensor, chunk_sizes or -(-tensor.shape[dim] // len(devices)), dim)
    return [part.to(_on(index)) for index, part in zip(devices, parts, strict=False)]


def _gather(tensors: list[Tensor], dim: int, destination_index: int | None) -> Tensor:
    return torch.cat([tensor.to(_on(destination_index or 0)) for tensor in tensors], dim)


if __name__ == "__main__":
    install()
    json.dump(play(Path(sys.argv[1])), sys.stdout)
