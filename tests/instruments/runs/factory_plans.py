# SPDX-License-Identifier: MIT
"""The cases of the factory's runs and what a call of each truly takes, from a few rates."""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from frobench.suite.checks.ceilings import PATHS
from frobench.suite.stored.types import Check, Scalar, Work

STEPS = 1000


class Rates(NamedTuple):
    """What one device can do: FLOP/s by precision, bytes/s, and seconds of fixed costs."""

    flops: dict[str, float]
    memory: float
    link: float
    launch: float
    readback: float
    peer: float


class Pair(NamedTuple):
    """What a machine's processor and each of its accelerators can do."""

    cpu: Rates
    gpu: Rates

    def of(self, device: str) -> Rates:
        """Return what a device can do."""
        return self.cpu if device.startswith("cpu") else self.gpu


CPU = Rates({"float32": 1.1e11, "bfloat16": 1.6e11, "float16": 1.2e9}, 2e10, 1e10, 2e-6, 4e-7, 1e10)
GPU = Rates(
    {"float32": 5.1e13, "tfloat32": 3.8e14, "bfloat16": 7.8e14, "float16": 7.6e14},
    memory=4.3e12,
    link=5.5e10,
    launch=5e-6,
    readback=1.1e-5,
    peer=1.65e11,
)
RATES = Pair(CPU, GPU)
UNIT = {"float64": 2**-53, "float32": 2**-24, "tfloat32": 2**-11, "float16": 2**-11, "int8": 0.0}
UNIT |= {"bfloat16": 2**-8, "float8_e4m3fn": 2**-8}
"""Rounding, relative."""


class Plan(NamedTuple):
    """One case before it is measured: ``seconds`` is what a call truly takes."""

    function: str
    params: dict[str, Scalar]
    seconds: float
    work: Work
    check: Check
    headline: bool = True
    concurrency: float | None = None
    absence: str | None = None

    @property
    def devices(self) -> list[str]:
        """The devices that take part; a place such as ``cpu/0+cpu/1`` names two."""
        return str(self.params["device"]).split("+")


def _product(rates: Rates, flops: float, moved: float, dtype: str = "float32") -> float:
    """Seconds for a product: one launch plus the slower of arithmetic and memory."""
    rate = rates.flops.get(dtype) or min(rates.flops.values())
    return rates.launch + rates.readback + max(flops / rate, moved / rates.memory)


def _freivalds(n: int, dtype: str = "float32") -> Check:
    error = UNIT[dtype] * math.sqrt(n) / 2
    return Check("rows of C x with A (B x) in float64", error, 8 * error, dtype)


def _absent(function: str, **params: Scalar) -> Plan:
    place: dict[str, Scalar] = {"device": "none"}
    return Plan(function, place | params, 0.0, Work(), _freivalds(16), absence="no accelerator")


def _matmul(devices: list[str], pair: Pair) -> Iterator[Plan]:
    for device in devices[:2]:
        for n in (2**power for power in range(4, 15)):
            work, place = Work(flops=2.0 * n**3, bytes=12.0 * n**2), {"device": device, "n": n}
            for dtype in pair.of(device).flops:
                seconds = _product(pair.of(device), 2.0 * n**3, 12.0 * n**2, dtype)
                params: dict[str, Scalar] = place | {"dtype": dtype}
                check, leads = _freivalds(n, dtype), dtype == "float32"
                yield Plan("bench_square", params, seconds, work, check, leads)
            if device != "cpu":
                eager, check = _product(pair.of(device), 2.0 * n**3, 12.0 * n**2), _freivalds(n)
                copied = eager + 3 * pair.gpu.readback + 12.0 * n**2 / pair.gpu.link
                yield Plan("bench_square_with_copies", {**place}, copied, work, check)
                replayed = eager - 0.6 * pair.gpu.launch
                yield Plan("bench_square_graph", {**place}, replayed, work, check, headline=False)
        for function, shape, flops, moved in (
            ("bench_batched", {"batch": 256, "n": 64}, 2.0 * 256 * 64**3, 12.0 * 256 * 64**2),
            ("bench_tall", {"rows": 65536, "n": 16}, 2.0 * 65536 * 16**2, 8.0 * 65536 * 16),
        ):
            seconds, work = _product(pair.of(device), flops, moved), Work(flops=flops, bytes=moved)
            params = {"device": device, **shape}
            yield Plan(function, params, seconds, work, _freivalds(shape["n"]), headline=False)
    if len(devices) == 1:
        yield _absent("bench_square_with_copies", n=16)
        yield _absent("bench_square_graph", n=16)


def _norm_logging(devices: list[str], pair: Pair) -> Iterator[Plan]:
    """Costs of a step in units of what it does: launches, and read-backs that wait."""
    costs = {  # function: (launches, read-backs, extra seconds on the host)
        "bench_product_only": (1, 0.0, 0.0),
        "bench_norm_only": (2, 0.0, 0.0),
        "bench_log_on_device": (3, 0.0, 0.0),
        "bench_item": (2, 1.0, 0.0),
        "bench_numpy": (2, 1.0, 1.5e-6),
        "bench_print": (2, 1.0, 2e-5),
        "bench_batched": (0, 0.0, 0.0),
    }
    check = Check("the last norm with float64", 2e-7, 1e-5, "float32")
    for device in devices[:2]:
        rates = pair.of(device)
        compute = 2e6 / rates.flops["float32"]
        for function, (launches, readbacks, host) in costs.items():
            queued = max(launches * rates.launch, compute)
            waiting = readbacks * (rates.readback + compute)
            step = compute + 2e-6 * launches if device == "cpu" else queued + waiting
            seconds = STEPS * (step + host) + rates.readback
            work = Work(flops=2e6 * STEPS, items=float(STEPS))
            leads = function in {"bench_item", "bench_log_on_device", "bench_product_only"}
            yield Plan(function, {"device": device, "steps": STEPS}, seconds, work, check, leads)


def _parallel_matmul(devices: list[str], pair: Pair) -> Iterator[Plan]:
    two = devices[1:3] if len(devices) > 2 else ["cpu/0", "cpu/1"]
    for n in (64, 256, 1024, 2048):
        one = _product(pair.of(two[0]), 2.0 * n**3, 12.0 * n**2)
        together = one + 1.5e-5  # a thread is woken for the second lane
        work, place = Work(flops=4.0 * n**3, bytes=24.0 * n**2), "+".join(two)
        for function, seconds, concurrency in (
            ("bench_sequence", 2 * one, 0.0),
            ("bench_two_at_once", together, one / together),
            ("bench_in_turn", 2 * one, 0.0),
        ):
            params: dict[str, Scalar] = {"device": place, "n": n}
            yield Plan(function, params, seconds, work, _freivalds(n), concurrency=concurrency)


def _parameters(devices: list[str], pair: Pair) -> Iterator[Plan]:
    check, tensors = Check("every parameter, bit by bit", 0.0, 0.0, "float32"), 26
    for device in devices[:2]:
        rates = pair.of(device)
        for count in (1_000_000, 100_000_000):
            size = 4.0 * count
            for (function, how), (seconds, moved) in {
                ("bench_read", "scalar"): (rates.readback, 4.0),
                ("bench_read", "tensor"): (rates.readback + size / 13 / rates.link, size / 13),
                ("bench_read", "state_dict"): (tensors * rates.readback + size / rates.link, size),
                ("bench_read", "flat"): (rates.readback + 1.1 * size / rates.link, size),
                ("bench_write", "fill"): (tensors * rates.launch + size / rates.memory, size),
                ("bench_write", "copy"): (tensors * rates.readback + 2 * size / rates.link, size),
                ("bench_write", "load_state_dict"): (2e-4 + 2 * size / rates.link, size),
                ("bench_write", "rebuild"): (5e-3 + 3 * size / rates.link, size),
                ("bench_move", "there_and_back"): (1e-3 + 3 * size / rates.link, 2 * size),
            }.items():
                params: dict[str, Scalar] = {"device": device, "parameters": count, "how": how}
                work = Work(bytes=moved, items=float(tensors))
                yield Plan(function, params, seconds + 1e-6, work, check, count == 1_000_000)


def _copies(devices: list[str], pair: Pair) -> Iterator[Plan]:
    """Let a copy take fixed costs and its bytes; pageable memory gets a fifth of a link."""
    ways: list[tuple[str, dict[str, Scalar], int, float]] = [
        ("bench_within", {"device": device}, 2, pair.of(device).memory) for device in devices[:2]
    ]
    for device in devices[1:2]:
        for memory, rate in (("pageable", 0.2 * pair.gpu.link), ("pinned", pair.gpu.link)):
            place: dict[str, Scalar] = {"device": device, "memory": memory}
            ways += [(name, place, 1, rate) for name in ("bench_to_device", "bench_to_host")]
    if len(devices) > 2:
        place = {"device": "+".join(devices[1:3]), "way": "direct"}
        ways.append(("bench_between", place, 1, pair.gpu.peer))
    check = Check("every element, bit by bit", 0.0, 0.0)
    for function, where, times, rate in ways:
        rates = pair.of(str(where["device"]))
        leads = function == "bench_within" or where.get("memory") == "pageable"
        for size in (4**6, 4**9, 4**13):
            params = {"device": where["device"], "size": size, **where}
            seconds = rates.launch + rates.readback + times * size / rate
            work = Work(bytes=float(times * size), path=PATHS[function])
            yield Plan(function, params, seconds, work, check, leads)
    if len(devices) == 1:
        yield _absent("bench_to_device", size=4, memory="pageable")


def _transformer(devices: list[str], pair: Pair) -> Iterator[Plan]:
    """Yield layers of width 4,096 on an accelerator, launched and replayed, and a narrow one."""
    width, narrow = 12 * 4096**2, 12 * 256**2
    works: dict[str, tuple[Work, int, dict[str, Scalar]]] = {
        "train": (Work(flops=6.0 * width * 1024, bytes=32.0 * width, items=1024.0), 45, {}),
        "prefill": (Work(flops=2.0 * width * 2048, bytes=2.0 * width, items=2048.0), 45, {}),
        "decode": (Work(flops=2.0 * width, bytes=2.0 * width + 2**25, items=1.0), 15, {"batch": 1}),
    }
    for device in devices[1:2]:
        for name, (work, kernels, more) in works.items():
            for behind, launches in (("", kernels), ("_graph", 1)):
                params = {"device": device, "width": 4096, "layers": 1, **more, "dtype": "bfloat16"}
                replayed = _product(
                    pair.of(device), work.flops or 0.0, work.bytes or 0.0, "bfloat16"
                )
                seconds = replayed + (launches - 1) * pair.gpu.launch
                check = _freivalds(4096, "bfloat16")
                yield Plan(f"bench_{name}{behind}", params, seconds, work, check)
    for device in devices[:1]:
        work = Work(flops=6.0 * narrow * 128, bytes=32.0 * narrow, items=128.0)
        params = {"device": device, "width": 256, "layers": 1, "dtype": "float32"}
        seconds = 45 * pair.cpu.launch + _product(
            pair.of(device), work.flops or 0.0, work.bytes or 0.0
        )
        yield Plan("bench_train_narrow", params, seconds, work, _freivalds(256))


Plans = Callable[[list[str], Pair], Iterator[Plan]]
PLANS: dict[str, Plans] = {
    "matmul": _matmul,
    "norm_logging": _norm_logging,
    "parallel_matmul": _parallel_matmul,
    "parameters": _parameters,
    "copies": _copies,
    "transformer": _transformer,
}
