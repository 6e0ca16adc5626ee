# SPDX-License-Identifier: MIT
"""Small calls of the exercises' benchmarks on the CPU, and the work that each must declare."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

import frobench
from frobench.suite.kit import check_result
from frobench.suite.kit.device import Device
from frobench.suite.kit.search_strategy import Shape
from frobench.suite.kit.worker_commands import Commands
from frobench.suite.kit.worker_process import Seat
from frobench.suite.stored.types import Check
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
    """Arguments of a benchmark, and what it must declare: its work, and what else is not usual.

    masked : operations that torch counts and attention need not do
    """

    arguments: dict[str, Any]
    declared: Mapping[str, object] = {}
    masked: float = 0.0


class Queue(nullcontext[None]):
    """A stream of a device that works while it is called."""

    def wait_stream(self, other: "Queue") -> None:
        """Do nothing: the other stream's work is done."""


class Colleague(Commands):
    """A worker in this process, which works while one waits for it."""

    seat = Seat("cpu", "cpu")

    def start(self, calls: int = 1) -> None:
        """Put calls off until somebody waits for them."""
        self._calls = calls

    def wait(self) -> None:
        """Make the calls."""
        self.call(self._calls)

    def check(self, brief: bool = False) -> Check:  # noqa: FBT001, FBT002 - as workers have it
        """Compare the last call's result with the truth."""
        return super().check(brief)


def search(make: Callable[[Shape], Callable[[], Any]]) -> Shape:
    """Find the shape, whose product must be computable."""
    assert make(SHAPE)().shape == (SHAPE.rows, SHAPE.columns)
    return SHAPE


def _peak(dtype: str, nbytes: int, **where: Device) -> Call:
    flops = 2.0 * 128 * 64 * 192
    return Call(where | {"dtype": dtype, "search": search}, {"flops": flops, "bytes": nbytes})


def _product(n: int, width: int = 4, **given: Any) -> Call:  # noqa: ANN401 - a device, or a type
    return Call(given | {"n": n}, {"bytes": 3 * width * n**2})


def _products(many: int, lanes: int, **where: Any) -> Call:  # noqa: ANN401 - devices or workers
    return Call(where | {"n": 64}, {"bytes": many * 12 * 64**2, "items": many, "lanes": lanes})


def _copy(times: int, path: str, lanes: int, **where: Any) -> Call:  # noqa: ANN401 - as above
    return Call(where | {"size": 4**6}, {"bytes": times * 4**6, "path": path, "lanes": lanes})


def _pieces(pieces: int, **where: Device) -> Call:
    work = {"flops": NUMBERS, "bytes": 2 * 4 * NUMBERS, "items": pieces}
    return Call(where | {"pieces": pieces}, work)


def also(call: Call, **what: object) -> Call:
    """Return a call that says more of itself, or what torch does not count."""
    return call._replace(declared={**call.declared, **what})


def _norms(steps: int, **where: Device) -> Call:
    flops = steps * (2 * 100**3 + 2 * 100**2)  # the norm's operations are not counted by torch
    return Call(where | {"steps": steps}, {"flops": flops, "items": steps})


def _parameters(passes: int = 1, **where: Device) -> Call:
    work = {"bytes": passes * MODEL, "items": passes * TENSORS}
    return Call(where | {"parameters": 1_000_000}, work)


def _placed(n: int, **given: Any) -> Call:  # noqa: ANN401 - a device, or a kind of values
    return Call(given | {"n": n}, {"bytes": 4 * n, "items": n})


def _trained(networks: int = 1, **given: Any) -> Call:  # noqa: ANN401 - as the benchmark has them
    given = {"network": "small", "batch": 64} | given
    items = networks * BRIEF["loss_reporting"]["STEPS"] * 64
    return Call(given, {"items": items, "lanes": networks - 1})


def _split(items: int, lanes: int, **given: Any) -> Call:  # noqa: ANN401 - as above
    return Call(given, {"items": items, "lanes": lanes})


def _shared(lanes: int, **given: Any) -> Call:  # noqa: ANN401 - as above
    return Call({"size": "small", "batch": 64} | given, {"items": 64, "lanes": lanes})


def _attention(nbytes: int, items: int, masked: float = 0.0, **sizes: int) -> Call:
    given = HERE | {"width": WIDTH, "dtype": "float32"} | sizes
    return Call(given, {"bytes": nbytes, "items": items}, masked)


def _images(layout: str, weights: int, images: int, dtype: str = "float32") -> Call:
    """Move numbers of four bytes, or of images as large as the type is."""
    nbytes = 4 * weights + getattr(torch, dtype).itemsize * images * 3 * 8 * 28**2
    shape = {"images": 3, "channels": 8, "layout": layout, "dtype": dtype}
    return Call(HERE | shape, {"bytes": nbytes, "items": 3})


def _layers(tokens: int, moved: int, passes: int, **given: Any) -> Call:  # noqa: ANN401 - as above
    masked = passes * 2 * 4 * 256 * (tokens * (tokens - 1) // 2)  # pairs of a token and a later one
    given = {"width": 256, "layers": 2} | given
    return Call(given, {"items": given.get("batch", tokens), "bytes": moved}, masked)


def _passed(rows: int, cached: int, width: int) -> int:
    """Count the bytes of weights, caches, inputs and outputs, of numbers of so many bytes."""
    return width * (2 * (LAYER + 2 * cached * 256) + 2 * rows * 256)


def _small(numbers: float, scales: int, weights: str, **where: Any) -> Call:  # noqa: ANN401 - as above
    """Decode with weights of so many bytes each, and with so many bytes of scales."""
    width, cached = 512, 2048
    moved = 12 * width**2 * numbers + scales + 2 * (2 * width + 2 * cached * width + 2 * width)
    work = {"flops": 24 * width**2 + 4 * width * cached, "bytes": moved, "items": 1}
    return Call((where or HERE) | {"width": width, "weights": weights, "dtype": "bfloat16"}, work)


TOGETHER = {"devices": [CPU] * 3, "reading": "first"}
PAIR = {"devices": [CPU] * 2}
WORKERS = {"workers": [Colleague("cpu", 5) for _ in range(2)]}
SMALL_STEP = 2 * 64 * (2 * 16 * 64 + 3 * 64 * 1)
"""Operations of a step of the small network on 64 samples, without a gradient of the inputs."""
BLOCK = 2 * 8 * (8 * 3**2 + 2)
"""Weights of a block of two convolutions of 8 channels, and of what normalises them."""
LAYER = 12 * 256**2 + 2 * 256
"""Weights of a layer of a transformer."""
STEP = 2 * LAYER * 4 * 4 * 2
"""Bytes of weights, gradients and both moments of two layers, read and written."""
NARROW: dict[str, Any] = HERE | {"dtype": "float32"}
WIDE: dict[str, Any] = THERE | {"dtype": "bfloat16"}
PLACED: dict[str, dict[str, Any]] = {
    "create": HERE | {"values": "randn"},
    "create full": HERE | {"values": "full"},
    "create_then_move": THERE | {"values": "randn"},
    "move": THERE,
    "empty_then_copy": HERE,
}
CALLS: dict[str, Call] = {
    "attainable_peak.product": _peak("float32", 4 * SIDES, device=CPU),
    "attainable_peak.product_narrow": _peak("tfloat32", 4 * SIDES, accelerator=CPU),
    # sums of whole numbers are kept in four bytes
    "attainable_peak.product_narrow int8": _peak("int8", SIDES + 3 * 128 * 192, accelerator=CPU),
    "convolutions.forward": _images("channels_last", BLOCK + 4 * 8, 2),  # with the statistics
    "convolutions.step": _images("channels_last", 6 * BLOCK, 4),
    "convolutions.step bfloat16": _images("contiguous", 6 * BLOCK, 4, "bfloat16"),
    "copies.to_device": _copy(1, "host", 0, accelerator=CPU, memory="pageable"),
    "copies.to_host": _copy(1, "host", 0, accelerator=CPU, memory="pageable"),
    "copies.both_ways": _copy(2, "both-ways", 2, accelerator=CPU),
    "copies.all_at_once": _copy(3, "host", 3, devices=[CPU] * 3, direction="to_host"),
    "copies.within": _copy(2, "within", 0, device=CPU),
    "copies.within_cold": also(_copy(2, "within", 0, device=CPU), cold=True),
    "copies.between": _copy(1, "between", 0, pair=[CPU] * 2, way="direct"),
    "copies.numpy": Call(HERE | {"size": 4**6}, {"items": 1}),
    **{
        f"copies.print {size}": Call(HERE | {"size": size}, {"items": 1})
        for size in (4, 4000, 4004, 4**10)
    },
    "data_parallel.one_device": _shared(0, accelerator=CPU),
    "data_parallel.by_hand": _shared(4, devices=[CPU] * 4),
    "data_parallel.by_hand two": _shared(2, **PAIR),
    "data_parallel.forward": _shared(0, accelerator=CPU),
    "data_parallel.data_parallel": _shared(0, **PAIR),
    "data_parallel.one_process": also(_shared(1, **WORKERS), flops=10 * SMALL_STEP, items=640),
    **{
        f"data_parallel.forward_parts {part}": _shared(0, part=part, **PAIR)
        for part in ("scatter", "replicate", "parallel_apply", "gather", "whole")
    },
    "long_context.prefill": _attention(
        4 * 4 * TOKENS * WIDTH, TOKENS, 2 * WIDTH * TOKENS * (TOKENS - 1), tokens=TOKENS
    ),
    "long_context.decode": _attention(2 * 4 * (CACHED + 1) * WIDTH, 1, cached=CACHED),
    "long_context.products": _attention(
        4 * (12 * WIDTH**2 + 2 * TOKENS * WIDTH), TOKENS, tokens=TOKENS
    ),
    "loss_reporting.reading": _trained(device=CPU, every="10"),
    "loss_reporting.reading each": _trained(device=CPU, every="1"),
    **{
        f"loss_reporting.loading {memory}": _trained(accelerator=CPU, memory=memory)
        for memory in ("pageable", "pinned", "at_once")
    },
    "loss_reporting.one_thread": _trained(3, **TOGETHER),
    "loss_reporting.threads": also(_trained(3, **TOGETHER), flops=3 * 20 * SMALL_STEP),
    "many_or_one.pieces": _pieces(10, device=CPU),
    "many_or_one.pieces_foreach": _pieces(10, device=CPU),
    "many_or_one.pieces_graph": _pieces(10, accelerator=CPU),
    "many_or_one.chain": Call(
        HERE | {"n": 64}, {"flops": LENGTH * 64, "bytes": 2 * 4 * 64, "items": LENGTH}
    ),
    "matmul.square": _product(64, device=CPU, dtype="float32"),
    "matmul.square bfloat16": _product(128, 2, device=CPU, dtype="bfloat16"),
    "matmul.square_cold": also(_product(64, device=CPU), cold=True),
    "matmul.square_narrow": _product(64, accelerator=CPU, dtype="tfloat32"),
    "matmul.square_narrow int8": also(
        Call(THERE | {"n": 64, "dtype": "int8"}), bytes=(1 + 1 + 4) * 64**2, flops=2 * 64**3
    ),
    "matmul.square_with_copies": _product(64, accelerator=CPU),
    "matmul.square_graph": _product(64, accelerator=CPU, dtype="float32"),
    "matmul.oblong": Call(
        HERE | {"rows": 64, "inner": 8, "columns": 32}, {"bytes": 4 * (64 * 8 + 8 * 32 + 64 * 32)}
    ),
    "matmul.batched": Call(HERE | {"batch": 7, "n": 16}, {"bytes": 7 * 3 * 4 * 16**2}),
    "norm_logging.item": _norms(1, device=CPU),
    **{
        f"norm_logging.{name}": _norms(30, device=CPU)
        for name in ("log_on_device", "numpy", "print", "batched", "norm_only", "log_kept")
    },
    **{f"norm_logging.{name}": _norms(30, accelerator=CPU) for name in ("graph", "pinned", "wait")},
    "norm_logging.launch_only": Call(HERE | {"steps": 30}, {"flops": 30 * 4, "items": 30}),
    "norm_logging.read_ready": also(_norms(20, device=CPU), flops=None),
    "norm_logging.read_ready_log": also(_norms(20, device=CPU), flops=None),
    "parallel_matmul.sequence": _products(2, 0, accelerator=CPU),
    "parallel_matmul.two_streams": _products(2, 2, accelerator=CPU),
    "parallel_matmul.one_thread": _products(3, 3, devices=[CPU] * 3),
    "parallel_matmul.threads": also(_products(3, 3, devices=[CPU] * 3), flops=3 * 2 * 64**3),
    "parallel_matmul.in_turn": also(_products(3, 3, devices=[CPU] * 3), control=True),
    "parallel_matmul.processes": _products(2, 2, **WORKERS),
    "parallel_matmul.process_sequence": _products(2, 0, **WORKERS),
    "parallel_matmul.processes_in_turn": also(_products(2, 2, **WORKERS), control=True),
    "parameters.read_scalar": Call(HERE | {"parameters": 1_000_000}, {"bytes": 4, "items": 1}),
    "parameters.read_tensor": Call(
        HERE | {"parameters": 1_000_000}, {"bytes": 4 * 250**2, "items": 1}
    ),
    "parameters.move": _parameters(2, accelerator=CPU),
    "parameters.write_copy_pinned": _parameters(accelerator=CPU),
    "parameters.write_load_pinned": _parameters(accelerator=CPU),
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
    "placement.stay": Call(HERE | {"n": 64}, {"items": 1}),
    "small_weights.decode bfloat16": _small(2, 0, "bfloat16"),
    "small_weights.decode int8": _small(1, 2 * 9 * 512, "int8"),  # of each row
    "small_weights.decode int4": _small(0.5, 4 * 12 * 512**2 // 128, "int4"),  # with a zero each
    "small_weights.decode float8": _small(1, 4 * 4, "float8_e4m3fn"),
    "small_weights.decode_graph": _small(1, 2 * 9 * 512, "int8", accelerator=CPU),
    "split_model.forward": _split(64, 0, tokens=64, device=CPU),
    "split_model.split_forward": _split(64, 0, tokens=64, accelerator=CPU),
    "split_model.layers": _split(64, 0, tokens=64, device=CPU),
    "split_model.step": _split(64, 0, tokens=64, device=CPU),
    "split_model.split_step": _split(64, 0, tokens=64, accelerator=CPU),
    "split_model.embedding": Call(HERE | {"tokens": 64}, {"bytes": 2 * 64 * 512 * 4, "items": 64}),
    "split_model.boundary": Call(THERE | {"tokens": 64}, {"bytes": 64 * 512 * 4, "items": 64}),
    "split_model.pipeline two": _split(4, 2, **PAIR, n=64, micro=4),
    "split_model.one_device": _split(8, 1, accelerator=CPU, n=64, micro=8),
    "split_model.tasks_at_once two": _split(2, 2, **PAIR, n=64),
    "split_model.tasks_in_sequence": _split(2, 0, accelerator=CPU, n=64),
    "transformer.train_narrow": _layers(16, STEP, 3, **NARROW),
    "transformer.prefill_narrow": _layers(16, _passed(16, 16, 4), 1, **NARROW),
    "transformer.decode_narrow": _layers(1, _passed(2, 2 * 16, 4), 1, batch=2, **NARROW),
    "transformer.train": _layers(16, STEP, 3, **WIDE),
    "transformer.prefill": _layers(24, _passed(24, 24, 2), 1, **WIDE),
    "transformer.prefill_graph": _layers(24, _passed(24, 24, 2), 1, **WIDE),
    "transformer.decode": _layers(1, _passed(3, 3 * 24, 2), 1, batch=3, **WIDE),
    "transformer.decode_graph": _layers(1, _passed(3, 3 * 24, 2), 1, batch=3, **WIDE),
}
"""By an exercise and a benchmark of it, with what tells several calls of one apart."""


@cache
def module_of(exercise: str) -> Any:  # noqa: ANN401 - a module whose type nobody knows
    """Return the benchmarks of an exercise."""
    return brief(BENCHMARKS / f"bench_{exercise}.py")


def brief(path: Path) -> Any:  # noqa: ANN401 - as above
    """Import benchmarks, and let them be short and possible on the CPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frobench, "Check", Noted, raising=False)
        patch.setattr(frobench, "capture", lambda _device, body: body, raising=False)
        patch.setattr(frobench, "pinned", lambda tensor: tensor, raising=False)
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


class Noted(Check, frozen=True):
    """A check that is noted, also where another one is worse."""

    def __post_init__(self) -> None:
        CHECKS.append(self)


CHECKS: list[Check] = []
"""Of the last call."""


def called(name: str, module: Any = None, **more: Any) -> Recorder:  # noqa: ANN401 - as above
    """Make a call of `CALLS`, with other arguments; attention is of products that torch counts."""
    exercise, _, function = name.split(maxsplit=1)[0].partition(".")
    seen = Recorder()
    CHECKS.clear()
    with sdpa_kernel(SDPBackend.MATH), pytest.MonkeyPatch.context() as patch:
        patch.setattr(check_result, "Check", Noted)
        patch.setattr(torch.cpu, "current_stream", lambda _: Queue())
        patch.setattr(Device, "stream", lambda _: Queue())
        benchmark = getattr(module or module_of(exercise), f"bench_{function}")
        benchmark(seen, **CALLS[name].arguments | more)
    return seen
