# SPDX-License-Identifier: MIT
"""Small calls of the exercises' benchmarks on the CPU, and the work that each must declare."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from frobench.suite.kit.device import Device
from frobench.suite.kit.search_strategy import Shape
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load

CPU = Device("cpu", seed=5)
HERE, THERE = {"device": CPU}, {"accelerator": CPU}
SHAPE = Shape(128, 64, 192)
SIDES = 128 * 64 + 64 * 192 + 128 * 192
"""Numbers of the factors and the product of `SHAPE`."""
MODEL, TENSORS = 4 * 16 * (250**2 + 250), 32
"""Bytes and tensors of a model of a million parameters."""
NUMBERS, LENGTH = 30_000, 100
"""Of all pieces together, and operations of a chain."""
WIDTH, TOKENS, CACHED = 256, 48, 64
"""Of attention, and the keys that it finds."""
BRIEF = {"loss_reporting": {"STEPS": 20}, "transformer": {"TRAINED": 16, "CACHED": 24, "FEW": 16}}
"""What modules are given instead of their own numbers, so that a call is short."""


class Call(NamedTuple):
    """Arguments of a benchmark, and of its work what is known.

    masked : operations that torch counts and attention need not do
    """

    arguments: dict[str, Any]
    work: Mapping[str, object] = {}
    masked: float = 0.0


def search(make: Callable[[Shape], Callable[[], Any]]) -> Shape:
    """Find the shape, whose product must be computable."""
    assert make(SHAPE)().shape == (SHAPE.rows, SHAPE.columns)
    return SHAPE


def _peak(dtype: str, nbytes: int, **where: Device) -> Call:
    flops = 2.0 * 128 * 64 * 192
    return Call(where | {"dtype": dtype, "search": search}, {"flops": flops, "bytes": nbytes})


def _product(n: int, width: int = 4, **given: Any) -> Call:  # noqa: ANN401 - a device, or a type
    return Call(given | {"n": n}, {"bytes": 3 * width * n**2})


def _products(many: int, **where: Any) -> Call:  # noqa: ANN401 - a device or several
    return Call(where | {"n": 64}, {"bytes": many * 12 * 64**2, "items": many})


def _copy(times: int, path: str, **where: Any) -> Call:  # noqa: ANN401 - a device or several
    return Call(where | {"size": 4**6}, {"bytes": times * 4**6, "path": path})


def _norms(steps: int, **where: Device) -> Call:
    flops = steps * (2 * 100**3 + 2 * 100**2)  # the norm's operations are not counted by torch
    return Call(where | {"steps": steps}, {"flops": flops, "items": steps})


def _ready() -> Call:
    return Call(HERE | {"steps": 20}, {"flops": None, "items": 20})


def _parameters(passes: int = 1, **where: Device) -> Call:
    work = {"bytes": passes * MODEL, "items": passes * TENSORS}
    return Call(where | {"parameters": 1_000_000}, work)


def _placed(n: int, **given: Any) -> Call:  # noqa: ANN401 - a device, or a kind of values
    return Call(given | {"n": n}, {"bytes": 4 * n, "items": n})


def _trained(networks: int = 1, **given: Any) -> Call:  # noqa: ANN401 - as the benchmark has them
    given = {"network": "small", "batch": 64} | given
    return Call(given, {"items": networks * BRIEF["loss_reporting"]["STEPS"] * 64})


def _split(items: int, **given: Any) -> Call:  # noqa: ANN401 - as the benchmark has them
    return Call(given, {"items": items})


def _shared(**given: Any) -> Call:  # noqa: ANN401 - as the benchmark has them
    return Call({"size": "small", "batch": 64} | given, {"items": 64})


def _attention(nbytes: int, masked: float = 0.0, **sizes: int) -> Call:
    return Call(HERE | {"width": WIDTH, "dtype": "float32"} | sizes, {"bytes": nbytes}, masked)


def _images(layout: str) -> Call:
    shape = {"images": 3, "channels": 8, "layout": layout, "dtype": "float32"}
    return Call(HERE | shape, {"items": 3})


def _layers(tokens: int, passes: int = 1, **given: Any) -> Call:  # noqa: ANN401 - as above
    masked = passes * 2 * 4 * 256 * (tokens * (tokens - 1) // 2)  # pairs of a token and a later one
    shape = {"width": 256, "layers": 2, "dtype": "float32"}
    return Call(HERE | shape | given, {"items": given.get("batch", tokens)}, masked)


def _small(nbytes: float, weights: str) -> Call:
    """Decode with weights of so many bytes each, their part of the scales included."""
    width, cached = 512, 2048
    moved = 12 * width**2 * nbytes + 2 * (2 * width + 2 * cached * width + 2 * width)
    work = {"flops": 24 * width**2 + 4 * width * cached, "bytes": pytest.approx(moved, rel=0.01)}
    return Call(HERE | {"width": width, "weights": weights, "dtype": "bfloat16"}, work)


TOGETHER = {"devices": [CPU] * 3, "reading": "first"}
PAIR = {"devices": [CPU] * 2}
PLACED: dict[str, dict[str, Any]] = {
    "create": HERE | {"values": "randn"},
    "create full": HERE | {"values": "full"},
    "create_then_move": THERE | {"values": "randn"},
    "create_then_move full": THERE | {"values": "full"},
    "move": THERE,
    "empty_then_copy": HERE,
}
CALLS: dict[str, Call] = {
    "attainable_peak.product": _peak("float32", 4 * SIDES, device=CPU),
    "attainable_peak.product bfloat16": _peak("bfloat16", 2 * SIDES, device=CPU),
    "attainable_peak.product_narrow": _peak("tfloat32", 4 * SIDES, accelerator=CPU),
    "attainable_peak.product_narrow float16": _peak("float16", 2 * SIDES, accelerator=CPU),
    # sums of whole numbers are kept in four bytes
    "attainable_peak.product_narrow int8": _peak("int8", SIDES + 3 * 128 * 192, accelerator=CPU),
    "convolutions.forward": _images("channels_last"),
    "convolutions.forward contiguous": _images("contiguous"),
    "convolutions.step": _images("channels_last"),
    "convolutions.step contiguous": _images("contiguous"),
    "copies.to_device": _copy(1, "host", accelerator=CPU, memory="pageable"),
    "copies.to_host": _copy(1, "host", accelerator=CPU, memory="pageable"),
    "copies.within": _copy(2, "within", device=CPU),
    "copies.within_cold": _copy(2, "within", device=CPU),
    "copies.between": _copy(1, "between", pair=[CPU] * 2, way="direct"),
    "copies.numpy": Call(HERE | {"size": 4**6}, {"bytes": None, "items": 1}),
    **{f"copies.print {size}": Call(HERE | {"size": size}) for size in (4, 4000, 4**10)},
    "data_parallel.one_device": _shared(accelerator=CPU),
    "data_parallel.one_device medium": _shared(size="medium", accelerator=CPU),
    "data_parallel.by_hand": _shared(devices=[CPU] * 4),
    "data_parallel.by_hand medium": _shared(size="medium", devices=[CPU] * 4),
    "data_parallel.by_hand two": _shared(**PAIR),
    "data_parallel.forward": _shared(accelerator=CPU),
    "data_parallel.forward medium": _shared(size="medium", accelerator=CPU),
    "data_parallel.data_parallel": _shared(**PAIR),
    **{
        f"data_parallel.forward_parts {part}": _shared(part=part, **PAIR)
        for part in ("scatter", "replicate", "parallel_apply", "gather", "whole")
    },
    "long_context.prefill": _attention(
        4 * 4 * TOKENS * WIDTH, 2 * WIDTH * TOKENS * (TOKENS - 1), tokens=TOKENS
    ),
    "long_context.decode": _attention(2 * 4 * (CACHED + 1) * WIDTH, cached=CACHED),
    "long_context.products": _attention(4 * (12 * WIDTH**2 + 2 * TOKENS * WIDTH), tokens=TOKENS),
    "loss_reporting.reading": _trained(device=CPU, every="10"),
    "loss_reporting.reading each": _trained(device=CPU, every="1"),
    "loss_reporting.reading medium": _trained(device=CPU, every="1", network="medium"),
    "loss_reporting.loading": _trained(accelerator=CPU, memory="pageable"),
    "loss_reporting.loading at once": _trained(accelerator=CPU, memory="at_once"),
    "loss_reporting.one_thread": _trained(3, **TOGETHER),
    "many_or_one.pieces": Call(HERE | {"pieces": 10}, {"flops": NUMBERS, "items": 10}),
    "many_or_one.pieces one": Call(HERE | {"pieces": 1}, {"flops": NUMBERS, "items": 1}),
    "many_or_one.pieces_foreach": Call(HERE | {"pieces": 10}, {"flops": NUMBERS}),
    "many_or_one.chain": Call(HERE | {"n": 64}, {"flops": LENGTH * 64, "items": LENGTH}),
    "matmul.square": _product(64, device=CPU, dtype="float32"),
    "matmul.square bfloat16": _product(128, 2, device=CPU, dtype="bfloat16"),
    "matmul.square float16": _product(32, 2, device=CPU, dtype="float16"),
    "matmul.square_cold": _product(64, device=CPU),
    "matmul.square_narrow": _product(64, accelerator=CPU, dtype="tfloat32"),
    "matmul.square_with_copies": _product(64, accelerator=CPU),
    "matmul.oblong": Call(
        HERE | {"rows": 64, "inner": 8, "columns": 32}, {"bytes": 4 * (64 * 8 + 8 * 32 + 64 * 32)}
    ),
    "matmul.batched": Call(HERE | {"batch": 7, "n": 16}, {"bytes": 7 * 3 * 4 * 16**2}),
    "norm_logging.item": _norms(1, device=CPU),
    "norm_logging.item ten": _norms(10, device=CPU),
    **{
        f"norm_logging.{name}": _norms(30, device=CPU)
        for name in ("log_on_device", "numpy", "print", "batched", "norm_only", "log_kept")
    },
    "norm_logging.wait": _norms(30, accelerator=CPU),
    "norm_logging.read_ready": _ready(),
    "norm_logging.read_ready_log": _ready(),
    "parallel_matmul.sequence": _products(2, accelerator=CPU),
    "parallel_matmul.one_thread": _products(3, devices=[CPU] * 3),
    "parallel_matmul.in_turn": _products(3, devices=[CPU] * 3),
    "parameters.read_scalar": Call(HERE | {"parameters": 1_000_000}),
    "parameters.read_tensor": Call(HERE | {"parameters": 1_000_000}),
    "parameters.move": _parameters(2, accelerator=CPU),
    **{
        f"parameters.{name}": _parameters(device=CPU)
        for name in (
            *("read_state_dict", "read_flat", "write_copy", "write_fill"),
            *("write_load", "write_rebuild", "write_rebuild_on_meta"),
        )
    },
    **{
        f"placement.{name} {n}": _placed(n, **given)
        for n in (1, 64, 4096, 70_000)
        for name, given in PLACED.items()
    },
    "placement.stay": Call(HERE | {"n": 64}, {"bytes": None, "items": 1}),
    "small_weights.decode bfloat16": _small(2.0, "bfloat16"),
    "small_weights.decode int8": _small(1 + 2 / 512, "int8"),
    "small_weights.decode int4": _small(0.5 + 4 / 128, "int4"),
    "small_weights.decode float8": _small(1.0, "float8_e4m3fn"),
    "split_model.forward": _split(64, tokens=64, device=CPU),
    "split_model.split_forward": _split(64, tokens=64, accelerator=CPU),
    "split_model.layers": _split(64, tokens=64, device=CPU),
    "split_model.step": _split(64, tokens=64, device=CPU),
    "split_model.split_step": _split(64, tokens=64, accelerator=CPU),
    "split_model.embedding": Call(HERE | {"tokens": 64}, {"bytes": 2 * 64 * 512 * 4}),
    "split_model.boundary": Call(THERE | {"tokens": 64}, {"bytes": 64 * 512 * 4}),
    "split_model.pipeline": _split(4, devices=[CPU] * 3, n=64, micro=4),
    "split_model.pipeline two": _split(4, **PAIR, n=64, micro=4),
    "split_model.one_device": _split(8, accelerator=CPU, n=64, micro=8),
    "split_model.tasks_at_once": _split(3, devices=[CPU] * 3, n=64),
    "split_model.tasks_at_once two": _split(2, **PAIR, n=64),
    "split_model.tasks_in_sequence": _split(2, accelerator=CPU, n=64),
    "transformer.train_narrow": _layers(16, 3),
    "transformer.prefill_narrow": _layers(16),
    "transformer.decode_narrow": _layers(1, batch=2),
}
"""By an exercise and a benchmark of it, with what tells several calls of one apart."""


@cache
def module_of(exercise: str) -> Any:  # noqa: ANN401 - a module whose type nobody knows
    """Return the benchmarks of an exercise."""
    return brief(BENCHMARKS / f"bench_{exercise}.py")


def brief(path: Path) -> Any:  # noqa: ANN401 - as above
    """Import benchmarks, and let them be short and possible on the CPU."""
    module: Any = load(path)
    exercise = path.stem.removeprefix("bench_")
    for name, value in BRIEF.get(exercise, {}).items():
        setattr(module, name, value)
    if exercise == "data_parallel":  # PyTorch has its parts for accelerators alone
        module.nn = SimpleNamespace(**vars(nn) | {"DataParallel": lambda model, _: model})
        module.scatter = lambda tensor, handles: tensor.chunk(len(handles))
        module.replicate = lambda model, handles: [model] * len(handles)
        module.parallel_apply = _parallel_apply
        module.gather = lambda tensors, _: torch.cat([*tensors])
    return module


def _parallel_apply(models: Sequence[nn.Module], shares: Sequence[Tensor]) -> list[Tensor]:
    return [model(share) for model, share in zip(models, shares, strict=True)]


def called(name: str, module: Any = None, **more: Any) -> Recorder:  # noqa: ANN401 - as above
    """Make a call of `CALLS`, with other arguments; attention is of products that torch counts."""
    exercise, _, function = name.split(maxsplit=1)[0].partition(".")
    seen = Recorder()
    with sdpa_kernel(SDPBackend.MATH):
        benchmark = getattr(module or module_of(exercise), f"bench_{function}")
        benchmark(seen, **CALLS[name].arguments | more)
    return seen
