# SPDX-License-Identifier: MIT
"""What surrounds the timed loop: caches, inputs, the gauge and clocks that settle."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
import torch

from frobench.suite.errors import DoesNotFitError
from frobench.suite.kit.device import REFUSALS, Device
from frobench.suite.measure import caches_and_inputs, settling_and_gauge
from frobench.suite.measure.caches_and_inputs import ColdCaches, Inputs, cache_bytes
from frobench.suite.measure.settling_and_gauge import ROUNDS, SETTLERS, Gauge, steady_clocks
from frobench.suite.profiles import TIMES_THE_CACHE

CPU, GPU = Device("cpu"), Device("meta")


@pytest.fixture(autouse=True)
def small_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches_and_inputs, "last_level_cache", lambda: 2**16)
    monkeypatch.setattr(caches_and_inputs, "_kept", {})


def test_the_caches_are_left_clean() -> None:
    """Or the body would pay for writing back what they hold: only the ends are written."""
    caches = ColdCaches([CPU])
    with torch.profiler.profile(record_shapes=True, acc_events=True) as profile:
        caches()
    shapes = [(event.name, event.input_shapes[:1]) for event in profile.events()]
    assert ("aten::sum", [[TIMES_THE_CACHE * cache_bytes(CPU) // 4]]) in shapes
    assert {str(shape) for name, shape in shapes if name == "aten::fill_"} <= {"[[]]", "[[1]]"}


@pytest.mark.parametrize(("times_free", "kept"), [(16, True), (15, False)])
def test_the_buffer_of_the_cpu_is_kept_for_further_cases_where_memory_is_plenty(
    monkeypatch: pytest.MonkeyPatch, times_free: int, *, kept: bool
) -> None:
    zeros = MagicMock(wraps=torch.zeros)
    buffer = TIMES_THE_CACHE * cache_bytes(CPU)
    monkeypatch.setattr(Device, "free_bytes", lambda _: times_free * buffer)
    monkeypatch.setattr(torch, "zeros", zeros)
    for calls in (3, 1):
        caches = ColdCaches([CPU])
        for _ in range(calls):
            caches()
        assert caches.flushed_bytes() == buffer
    assert [made.args for made in zeros.call_args_list] == [(buffer // 4,)] * (1 if kept else 2)


def test_an_accelerator_is_emptied_and_the_cpu_stays_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches_and_inputs, "cache_bytes", lambda _: 2**16)
    monkeypatch.setattr(Device, "free_bytes", lambda _: 2**30)
    caches = ColdCaches([GPU])
    caches()
    assert (caches.bytes_on(GPU), caches.bytes_on(CPU)) == (2**17, 0)


def test_what_was_not_read_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    caches = ColdCaches([CPU])
    caches()
    monkeypatch.setattr(torch.Tensor, "sum", lambda self: self[0])
    caches()
    assert caches.flushed_bytes() == 0


def test_a_cache_of_unknown_size_is_taken_for_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches_and_inputs, "last_level_cache", lambda: None)
    assert [cache_bytes(CPU), cache_bytes(GPU)] == [64 * 2**20, 256 * 2**20]
    told = SimpleNamespace(L2_cache_size=50 * 2**20)
    monkeypatch.setattr(Device, "properties", told)
    assert cache_bytes(GPU) == 50 * 2**20
    monkeypatch.setattr(torch.version, "hip", "7.0")  # behind it lies a larger one
    assert cache_bytes(GPU) == 256 * 2**20


FAIR = torch.rand(40, 40)


def commonest(body: Callable[[], object]) -> float | None:
    """Look at a body's inputs around a call of it."""
    inputs = Inputs(body)
    body()
    return inputs.commonest()


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.float8_e4m3fn]
)
def test_random_inputs_of_any_type_are_fair(dtype: torch.dtype) -> None:
    drawn = (torch.rand(100, 100) * 100).to(dtype)
    found = commonest(drawn.clone)
    assert found is not None
    assert found < 0.2


def test_inputs_of_both_versions_are_found_in_lists_bound_arguments_and_modules() -> None:
    zeros, few = torch.zeros(160), torch.zeros(159)  # of a tenth of those that are fair, or less
    pairs, others = [[(FAIR, zeros)]], [[(FAIR, few)]]
    model = torch.nn.Linear(30, 30)
    torch.nn.init.zeros_(model.weight)
    assert commonest(lambda: [a.sum() + b.sum() for a, b in pairs[0]]) == 1.0
    assert (commonest(lambda: [a.sum() + b.sum() for a, b in others[0]]) or 1.0) < 0.2
    assert [commonest(torch.zeros(size).clone) for size in (16, 15)] == [1.0, None]
    assert commonest(partial(torch.add, zeros, other=zeros)) == 1.0
    assert commonest(lambda: model(FAIR[0, :30])) == 1.0
    assert commonest(torch.eye(64).clone) == 63 / 64
    both = Inputs(*(torch.rand(40, 40).clone for _ in range(15)), zeros.clone)
    assert (both.commonest(), both.devices()) == (1.0, {"cpu"})


def test_what_is_written_over_is_no_input() -> None:
    empty = torch.zeros(40, 40)

    def body() -> None:
        empty.copy_(FAIR)

    assert commonest(body) is None


def gauge(monkeypatch: pytest.MonkeyPatch, cases: int, **bodies: Callable[[], object]) -> Gauge:
    """Return the gauge of such bodies."""
    monkeypatch.setattr(settling_and_gauge, "_bodies", lambda _: bodies)
    return Gauge([CPU], cases)


@pytest.mark.parametrize(("cases", "between"), [(1, 1), (6, 6), (20, 20), (21, 11), (400, 20)])
def test_samples_are_taken_before_the_first_case_between_cases_and_behind_the_last(
    monkeypatch: pytest.MonkeyPatch, cases: int, between: int
) -> None:
    body = MagicMock()
    read = gauge(monkeypatch, cases, python=body)
    assert body.call_count == 2 + 5
    for _ in range(cases):
        read.read_before_case()
    assert read.finish().keys() == {"cpu/python"}
    assert body.call_count == 2 + 5 + between + 5


@pytest.mark.parametrize(
    ("effects", "names"),
    [
        *(([refusal], {"cpu/python"}) for refusal in REFUSALS),
        ([*[None] * (2 + ROUNDS), RuntimeError], {"cpu/copy", "cpu/python"}),
    ],
)
def test_a_body_that_the_device_refuses_is_left_out_and_one_that_fails_later_keeps_its_samples(
    monkeypatch: pytest.MonkeyPatch, effects: list[type[Exception] | None], names: set[str]
) -> None:
    copy = MagicMock(side_effect=effects)
    read = gauge(monkeypatch, 1, copy=copy, python=lambda: sum(range(1000)))
    read.read_before_case()
    assert read.finish().keys() == names


class Small(Device):
    """A CPU that stands for an accelerator with memory for small matrices only, or for none.

    error : what it raises when it is full or lost
    """

    is_accelerator = True
    wait = None

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__("cpu")
        self.made: list[int] = []
        self.error = error

    def synchronize(self) -> None:
        """Wait for nothing."""

    def free_bytes(self) -> int:
        """Say so without torch, which may be built for accelerators and then refuses a CPU."""
        return 2**30

    def uniform(self, *shape: int, dtype: str | torch.dtype = "float32") -> torch.Tensor:
        """Refuse what a small device has no room for."""
        if self.error or shape[0] > SETTLERS[1]:
            raise self.error or DoesNotFitError("too large")
        self.made.append(shape[0])
        return super().uniform(*shape, dtype=dtype)


@pytest.mark.parametrize(
    ("long_enough", "tried", "products"), [(1e9, [256, 512], 4 * 3 + 4), (0.0, [256], 3 + 4)]
)
def test_a_small_device_is_settled_with_the_smallest_long_product_or_what_fits(
    monkeypatch: pytest.MonkeyPatch, long_enough: float, tried: list[int], products: int
) -> None:
    multiply, readings = MagicMock(wraps=torch.matmul), iter([5.0, 5.0, 7.9, 8.0])
    monkeypatch.setattr(torch, "matmul", multiply)
    monkeypatch.setattr(settling_and_gauge, "SETTLE_CALL", long_enough)
    monkeypatch.setattr(settling_and_gauge, "perf_counter", readings.__next__)
    device = Small()
    steady_clocks([device])
    assert sorted({rows for rows in device.made if rows in SETTLERS}) == tried
    assert multiply.call_count == products


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("no room"), torch.AcceleratorError("device is lost")]
)
def test_a_refusing_device_is_left_alone(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.setattr(settling_and_gauge, "SETTLERS", SETTLERS[:2])
    product = MagicMock(wraps=torch.matmul)
    monkeypatch.setattr(torch, "matmul", product)
    steady_clocks([Small(error), Small()], 1e-3)
    assert product.called
    product.reset_mock()
    steady_clocks([Small(error)], 1e-3)
    assert product.call_count == 0
    product.side_effect = [*range(9), error]  # refused in mid-work
    steady_clocks([Small()], 60.0)
    assert product.call_count == 10
