# SPDX-License-Identifier: MIT
"""Runs of made-up cards whose rates are known, with the cases that scores are made of.

A case takes its launches, a read-back, and the longer of its arithmetic and its memory, one after
the other. So a doubled rate never quite doubles a speed.
"""

from collections.abc import Callable, Iterator
from functools import partial

from msgspec.structs import replace

from frobench.suite.stored.types import Case, Check, Run, Scalar, Work
from tests.instruments.faults.judging import of_its_name
from tests.instruments.runs.exact_runs import LAUNCHES
from tests.instruments.runs.factory import Wanted, of_machine
from tests.instruments.runs.factory_machine import environment
from tests.instruments.runs.factory_plans import CPU, GPU, Pair, Plan, Rates

DEVICE = "cuda:0"
NOISE = 0.003
"""Standard deviation of its launches: so little that no case is noisy."""
CHECK = Check("every element", 0.0, 1.0)
KERNELS = 15
"""Launches of a layer."""


CARD = GPU._replace(link=2.5e10)
"""Rates of a card of the year 2024."""


def faster(card: Rates, compute: float = 1, memory: float = 1, link: float = 1) -> Rates:
    """Return a card with so many times the rates."""
    flops = {dtype: compute * rate for dtype, rate in card.flops.items()}
    return card._replace(flops=flops, memory=memory * card.memory, link=link * card.link)


def run(card: Rates, device: str = "Made-up card") -> Run:
    """Build a run of a card by its rates and its name."""
    told = environment(None, 1)
    one = replace(told.accelerators[0], name=device, capability=None, memory_bytes=64 * 2**30)
    told = of_its_name(replace(told, accelerators=[one]))
    told.unknown["accelerators.0.capability"] = "the card is made up"
    plans = {name: partial(_plans_of_card, name) for name in PLANS}
    wanted = Wanted(launches=LAUNCHES, profile="rigorous", noise=NOISE)
    return of_machine(wanted, told, Pair(CPU, card), plans)


def _plans_of_card(exercise: str, _: list[str], rates: Pair) -> Iterator[Plan]:
    return PLANS[exercise](rates.gpu)


def _seconds(card: Rates, work: Work, launches: int = 1, dtype: str = "float32") -> float:
    flops, moved = (work.flops or 0.0) / card.flops[dtype], (work.bytes or 0.0) / card.memory
    return launches * card.launch + card.readback + max(flops, moved)


def _plan(function: str, seconds: float, work: Work, **params: Scalar) -> Plan:
    place: dict[str, Scalar] = {"device": DEVICE}
    return Plan(function, place | params, seconds, work, CHECK)


def _products(card: Rates) -> Iterator[Plan]:
    for dtype, width in (("float32", 4), ("bfloat16", 2), ("tfloat32", 4)):
        function = "bench_square_narrow" if dtype == "tfloat32" else "bench_square"
        for n in (16, 64, 256, 1024, 4096, 8192, 16384):
            work = Work(flops=2.0 * n**3, bytes=3.0 * width * n**2)
            seconds = _seconds(card, work, dtype=dtype)
            yield _plan(function, seconds, work, n=n, dtype=dtype)


def _copies(card: Rates) -> Iterator[Plan]:
    for size in [4**power for power in range(2, 16)]:
        work = Work(bytes=2.0 * size, path="within")
        yield _plan("bench_within", _seconds(card, work), work, size=size)
        for function in ("bench_to_device", "bench_to_host"):
            for memory, rate in (("pinned", card.link), ("pageable", 0.2 * card.link)):
                work = Work(bytes=float(size), path="host")
                seconds = card.launch + card.readback + size / rate
                yield _plan(function, seconds, work, size=size, memory=memory)


def _pieces(card: Rates) -> Iterator[Plan]:
    for pieces in (1, 100, 1000, 10_000):
        work = Work(flops=1e6, bytes=8e6)
        seconds = _seconds(card, work, pieces)
        yield _plan("bench_pieces", seconds, work, pieces=pieces)


def _logging(card: Rates) -> Iterator[Plan]:
    for function, launches, read in (("bench_item", 2, 1), ("bench_log_on_device", 3, 0)):
        work = Work(flops=2e9, items=1000)
        seconds = 1000 * (launches * card.launch + read * card.readback)
        yield _plan(function, seconds, work, steps=1000)


def _losses(card: Rates) -> Iterator[Plan]:
    work = Work(flops=1e8, items=100)
    for every in (1, 100):
        seconds = 100 * 20 * card.launch + 100 // every * card.readback
        shown = {"network": "small", "every": str(every)}
        yield _plan("bench_reading", seconds, work, **shown)


def _transformer(card: Rates) -> Iterator[Plan]:
    width = 4096
    weights = 12 * width**2
    shape: dict[str, Scalar] = {"width": width, "layers": 1}
    train = Work(flops=6.0 * weights * 1024, bytes=32.0 * weights)
    prefill = Work(flops=2.0 * weights * 2048, bytes=2.0 * weights)
    for function, work in (("bench_train", train), ("bench_prefill", prefill)):
        for name, launches in ((function, 3 * KERNELS), (f"{function}_graph", 1)):
            seconds = _seconds(card, work, launches, "bfloat16")
            yield _plan(name, seconds, work, **shape, dtype="bfloat16")
    for batch in (1, 32):
        cache = 4 * 2048 * batch * width
        work = Work(flops=2.0 * batch * weights, bytes=2.0 * weights + cache)
        for name, launches in (("bench_decode", KERNELS), ("bench_decode_graph", 1)):
            seconds = _seconds(card, work, launches, "bfloat16")
            yield _plan(name, seconds, work, **shape, batch=batch, dtype="bfloat16")
    narrow = Work(flops=6.0 * 12 * 256**2 * 128, bytes=32.0 * 12 * 256**2)
    seconds = _seconds(card, narrow, 3 * KERNELS)
    yield _plan("bench_train_narrow", seconds, narrow, width=256, layers=1, dtype="float32")


def _convolutions(card: Rates) -> Iterator[Plan]:
    numbers, weights = 256 * 256 * 28**2, 2 * 9 * 256**2
    forward = Work(flops=2.0 * weights * 256 * 28**2, bytes=2.0 * (weights + 2 * numbers))
    step = Work(flops=6.0 * weights * 256 * 28**2, bytes=24.0 * weights + 8.0 * numbers)
    for layout in ("channels_last", "contiguous"):
        shape: dict[str, Scalar] = {"images": 256, "channels": 256, "layout": layout}
        for function, work, launches in (("bench_forward", forward, 7), ("bench_step", step, 30)):
            seconds = _seconds(card, work, launches, "bfloat16")
            yield _plan(function, seconds, work, **shape, dtype="bfloat16")


PLANS: dict[str, Callable[[Rates], Iterator[Plan]]] = {
    "matmul": _products,
    "copies": _copies,
    "many_or_one": _pieces,
    "norm_logging": _logging,
    "loss_reporting": _losses,
    "convolutions": _convolutions,
    "transformer": _transformer,
}
"""What plans the cases of an exercise."""


def on_the_cpu(base: Run) -> Run:
    """Return a run with the cases of a card as if its processor had done them."""

    def moved(case: Case) -> Case:
        info = replace(case.extra_info, device="cpu", devices=["cpu"])
        names = {name: getattr(case, name).replace(DEVICE, "cpu") for name in ("name", "fullname")}
        return replace(case, params=case.params | {"device": "cpu"}, extra_info=info, **names)

    return replace(base, benchmarks=[moved(case) for case in base.benchmarks])
