# SPDX-License-Identifier: MIT
"""The cases of the factory's runs and what a call of each truly takes, from a few rates."""

import math
from collections.abc import Iterator
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


CPU = Rates({"float32": 1.1e11, "bfloat16": 1.6e11, "float16": 1.2e9}, 2e10, 1e10, 2e-6, 4e-7)
GPU = Rates(
    {"float32": 5.1e13, "tfloat32": 3.8e14, "bfloat16": 7.8e14, "float16": 7.6e14},
    4.3e12,
    5.5e10,
    5e-6,
    1.1e-5,
)


class Plan(NamedTuple):
    """One case before it is measured: ``seconds`` is what a call truly takes."""

    function: str
    title: str
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


def _rates(device: str) -> Rates:
    return CPU if device.startswith("cpu") else GPU


def _product(device: str, flops: float, moved: float, dtype: str = "float32") -> float:
    """Seconds for a product: one launch plus the slower of arithmetic and memory."""
    rates = _rates(device)
    return rates.launch + rates.readback + max(flops / rates.flops[dtype], moved / rates.memory)


def _freivalds(n: int, dtype: str = "float32") -> Check:
    unit = {"float32": 2**-24, "tfloat32": 2**-11, "bfloat16": 2**-8, "float16": 2**-11}[dtype]
    error = unit * math.sqrt(n) / 2
    return Check("rows of C x with A (B x) in float64", error, 8 * error, dtype)


def _matmul(devices: list[str]) -> Iterator[Plan]:
    for device in devices[:2]:
        on_cpu = device == "cpu"
        for n in (2**power for power in range(4, 15)):
            work = Work(flops=2.0 * n**3, bytes=12.0 * n**2)
            for dtype in _rates(device).flops:
                params: dict[str, Scalar] = {"device": device, "n": n, "dtype": dtype}
                yield Plan(
                    "bench_square",
                    "Multiply two n x n matrices.",
                    params,
                    _product(device, 2.0 * n**3, 12.0 * n**2, dtype),
                    work,
                    _freivalds(n, dtype),
                    headline=dtype == "float32",
                )
            if on_cpu:
                continue
            eager = _product(device, 2.0 * n**3, 12.0 * n**2)
            params = {"device": device, "n": n}
            yield Plan(
                "bench_square_with_copies",
                "Copy two n x n matrices there, multiply them, copy the product back.",
                params,
                eager + 3 * GPU.readback + 12.0 * n**2 / GPU.link,
                work,
                _freivalds(n),
            )
            yield Plan(
                "bench_square_graph",
                "Replay a captured n x n product.",
                params,
                eager - 0.6 * GPU.launch,
                work,
                _freivalds(n),
                headline=False,
            )
        yield Plan(
            "bench_batched",
            "Multiply a batch of small matrices.",
            {"device": device, "batch": 256, "n": 64},
            _product(device, 2.0 * 256 * 64**3, 12.0 * 256 * 64**2),
            Work(flops=2.0 * 256 * 64**3, bytes=12.0 * 256 * 64**2),
            _freivalds(64),
            headline=False,
        )
        yield Plan(
            "bench_tall",
            "Multiply a tall matrix by a thin one.",
            {"device": device, "rows": 65536, "n": 16},
            _product(device, 2.0 * 65536 * 16**2, 8.0 * 65536 * 16),
            Work(flops=2.0 * 65536 * 16**2, bytes=8.0 * 65536 * 16),
            _freivalds(16),
            headline=False,
        )
    if len(devices) == 1:
        for function in ("bench_square_with_copies", "bench_square_graph"):
            yield Plan(
                function,
                "Multiply two n x n matrices on the accelerator.",
                {"device": "none", "n": 16},
                0.0,
                Work(),
                _freivalds(16),
                absence="no accelerator",
            )


def _norm_logging(devices: list[str]) -> Iterator[Plan]:
    """Costs of a step in units of what it does: launches, and read-backs that wait."""
    costs = {  # function: (title, launches, read-backs, extra seconds on the host)
        "bench_product_only": ("Multiply, with no norm at all.", 1, 0.0, 0.0),
        "bench_norm_only": ("Multiply and take the norm, keeping none.", 2, 0.0, 0.0),
        "bench_log_on_device": ("Keep a log on the device, move it once.", 3, 0.0, 0.0),
        "bench_item": ("Bring every norm back with .item().", 2, 1.0, 0.0),
        "bench_numpy": ("Bring every norm back as a NumPy array.", 2, 1.0, 1.5e-6),
        "bench_print": ("Print every norm to a sink.", 2, 1.0, 2e-5),
        "bench_batched": ("One batched product and one batched norm.", 0, 0.0, 0.0),
    }
    for device in devices[:2]:
        rates = _rates(device)
        compute = 2e6 / rates.flops["float32"]
        for function, (title, launches, readbacks, host) in costs.items():
            queued = max(launches * rates.launch, compute)
            waiting = readbacks * (rates.readback + compute)
            step = compute + 2e-6 * launches if device == "cpu" else queued + waiting
            yield Plan(
                function,
                title,
                {"device": device, "steps": STEPS},
                STEPS * (step + host) + rates.readback,
                Work(flops=2e6 * STEPS, items=float(STEPS)),
                Check("the last norm with float64", 2e-7, 1e-5, "float32"),
                headline=function in {"bench_item", "bench_log_on_device", "bench_product_only"},
            )


def _parallel_matmul(devices: list[str]) -> Iterator[Plan]:
    pair = devices[1:3] if len(devices) > 2 else ["cpu/0", "cpu/1"]
    for n in (64, 256, 1024, 2048):
        one = _product(pair[0], 2.0 * n**3, 12.0 * n**2)
        together = one + 1.5e-5  # a thread is woken for the second lane
        ways = {
            "bench_sequence": ("Two products, one after the other, on one device.", 2 * one, 0.0),
            "bench_two_at_once": (
                "Two products at once, on two devices.",
                together,
                one / together,
            ),
            "bench_in_turn": ("Two products on two devices in turn: the control.", 2 * one, 0.0),
        }
        for function, (title, seconds, concurrency) in ways.items():
            yield Plan(
                function,
                title,
                {"device": "+".join(pair), "n": n},
                seconds,
                Work(flops=4.0 * n**3, bytes=24.0 * n**2),
                _freivalds(n),
                concurrency=concurrency,
            )


def _parameters(devices: list[str]) -> Iterator[Plan]:
    for device in devices[:2]:
        rates = _rates(device)
        for count in (1_000_000, 100_000_000):
            size = 4.0 * count
            tensors = 26
            ways = {
                ("bench_read", "scalar"): (rates.readback, 4.0),
                ("bench_read", "tensor"): (rates.readback + size / 13 / rates.link, size / 13),
                ("bench_read", "state_dict"): (tensors * rates.readback + size / rates.link, size),
                ("bench_read", "flat"): (rates.readback + 1.1 * size / rates.link, size),
                ("bench_write", "fill"): (tensors * rates.launch + size / rates.memory, size),
                ("bench_write", "copy"): (tensors * rates.readback + 2 * size / rates.link, size),
                ("bench_write", "load_state_dict"): (2e-4 + 2 * size / rates.link, size),
                ("bench_write", "rebuild"): (5e-3 + 3 * size / rates.link, size),
                ("bench_move", "there_and_back"): (1e-3 + 3 * size / rates.link, 2 * size),
            }
            for (function, how), (seconds, moved) in ways.items():
                yield Plan(
                    function,
                    "Read, write or move a model's parameters.",
                    {"device": device, "parameters": count, "how": how},
                    seconds + 1e-6,
                    Work(bytes=moved, items=float(tensors)),
                    Check("every parameter, bit by bit", 0.0, 0.0, "float32"),
                    headline=count == 1_000_000,
                )


def _copies(devices: list[str]) -> Iterator[Plan]:
    """Let a copy take fixed costs and its bytes; pageable memory gets a fifth of a link."""
    ways: list[tuple[str, dict[str, Scalar], int, float]] = [
        ("bench_within", {"device": device}, 2, _rates(device).memory) for device in devices[:2]
    ]
    for device in devices[1:2]:
        for memory, rate in (("pageable", 0.2 * GPU.link), ("pinned", GPU.link)):
            place: dict[str, Scalar] = {"device": device, "memory": memory}
            ways += [(name, place, 1, rate) for name in ("bench_to_device", "bench_to_host")]
    if len(devices) > 2:
        pair: dict[str, Scalar] = {"device": "+".join(devices[1:3]), "way": "direct"}
        ways.append(("bench_between", pair, 1, 3 * GPU.link))
    for function, where, times, rate in ways:
        rates = _rates(str(where["device"]))
        for size in (4**6, 4**9, 4**13):
            yield Plan(
                function,
                "Copy bytes from one place to another.",
                {"device": where["device"], "size": size, **where},
                rates.launch + rates.readback + times * size / rate,
                Work(bytes=float(times * size), path=PATHS[function]),
                Check("every element, bit by bit", 0.0, 0.0),
                headline=function == "bench_within" or where.get("memory") == "pageable",
            )
    if len(devices) == 1:
        yield Plan(
            "bench_to_device",
            "Copy from memory of the host to the device.",
            {"device": "none", "size": 4, "memory": "pageable"},
            0.0,
            Work(),
            Check("every element, bit by bit", 0.0, 0.0),
            absence="no accelerator",
        )


def _transformer(devices: list[str]) -> Iterator[Plan]:
    """Yield layers of width 4,096 on an accelerator, launched and replayed, and a narrow one."""
    width, narrow = 12 * 4096**2, 12 * 256**2
    wide: dict[str, Scalar] = {"width": 4096, "layers": 1}
    works: dict[str, tuple[Work, int, dict[str, Scalar]]] = {
        "train": (Work(flops=6.0 * width * 1024, bytes=32.0 * width, items=1024.0), 45, {}),
        "prefill": (Work(flops=2.0 * width * 2048, bytes=2.0 * width, items=2048.0), 45, {}),
        "decode": (Work(flops=2.0 * width, bytes=2.0 * width + 2**25, items=1.0), 15, {"batch": 1}),
    }
    for device in devices[1:2]:
        for name, (work, kernels, more) in works.items():
            for behind, launches in (("", kernels), ("_graph", 1)):
                replayed = _product(device, work.flops or 0.0, work.bytes or 0.0, "bfloat16")
                yield Plan(
                    f"bench_{name}{behind}",
                    "Send tokens through wide layers.",
                    {"device": device, **wide, **more, "dtype": "bfloat16"},
                    replayed + (launches - 1) * GPU.launch,
                    work,
                    _freivalds(4096, "bfloat16"),
                )
    for device in devices[:1]:
        work = Work(flops=6.0 * narrow * 128, bytes=32.0 * narrow, items=128.0)
        yield Plan(
            "bench_train_narrow",
            "Train a narrow layer.",
            {"device": device, "width": 256, "layers": 1, "dtype": "float32"},
            45 * CPU.launch + _product(device, work.flops or 0.0, work.bytes or 0.0),
            work,
            _freivalds(256),
        )


PLANS = {
    "matmul": _matmul,
    "norm_logging": _norm_logging,
    "parallel_matmul": _parallel_matmul,
    "parameters": _parameters,
    "copies": _copies,
    "transformer": _transformer,
}
