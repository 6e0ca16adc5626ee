# SPDX-License-Identifier: MIT
"""What single benchmarks compute and check, and the cases that they leave out."""

import math
from collections.abc import Callable
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from frobench.suite.kit.device import Device
from tests.benchmarks.calls import CPU, NUMBERS, Noted, brief, called, module_of
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load, planted

CONVOLUTIONS, PLACEMENT, SPLIT = map(module_of, ("convolutions", "placement", "split_model"))
MANY, TRANSFORMER, LOSSES = map(module_of, ("many_or_one", "transformer", "loss_reporting"))
IMAGES, CHANNELS, POINTS = 3, 8, 28
WIDE: dict[str, Any] = {"width": 4096, "dtype": "bfloat16"}
FIVE = {"devices": [CPU] * 5}


@pytest.mark.parametrize(
    ("call", "given", "reason"),
    [
        ("long_context.prefill", WIDE, "wide layers are for accelerators"),
        ("long_context.products", WIDE, "wide layers are for accelerators"),
        ("loss_reporting.reading", {"network": "large"}, "the large network is for accelerators"),
        ("split_model.pipeline two", FIVE, "24 layers do not divide into 5 equal stages"),
        ("small_weights.decode int8", {}, "no product of int8 weights here"),
    ],
)
def test_what_a_device_cannot_or_should_not_do_is_left_out(
    monkeypatch: pytest.MonkeyPatch, call: str, given: dict[str, Any], reason: str
) -> None:
    monkeypatch.delattr(torch, "_weight_int8pack_mm")
    with pytest.raises(pytest.skip.Exception, match=reason):
        called(call, **given)


def test_scores_that_fill_the_memory_leave_the_case_out() -> None:
    def full() -> torch.Tensor:
        raise torch.OutOfMemoryError("out of memory")

    with pytest.raises(pytest.skip.Exception, match="keeps all scores"):
        module_of("long_context").skip_without_memory(Device("meta"), full)


ROUNDED = {"int8": 0.003, "int4": 0.03, "float8": 0.01}
"""Errors that small weights make at least."""


@pytest.mark.parametrize("weights", ROUNDED)
def test_the_error_is_the_loss_of_small_weights(weights: str) -> None:
    assert called(f"small_weights.decode {weights}").check.error > ROUNDED[weights]


@pytest.mark.parametrize(("weights", "alike", "steps"), [("int8", 256, 127), ("int4", 128, 7)])
def test_small_weights_are_off_by_half_a_step_at_most(weights: str, alike: int, steps: int) -> None:
    drawn = CPU.uniform(256, 256)
    rounded = module_of("small_weights").WAYS[weights](drawn, "float32").rounded
    groups, errors = (part.view(-1, alike).abs().amax(1) for part in (drawn, rounded - drawn))
    assert (errors / groups).max() == pytest.approx(0.5 / steps, rel=0.01)


@pytest.mark.parametrize("layout", CONVOLUTIONS.LAYOUTS)
def test_images_and_weights_have_the_layout(layout: str) -> None:
    training = CONVOLUTIONS.BlockTraining(CPU, IMAGES, CHANNELS, layout, "float32")
    kept = [training.inputs, training.slopes, training.block.first.weight]
    assert all(one.is_contiguous(memory_format=CONVOLUTIONS.LAYOUTS[layout]) for one in kept)
    assert training.step().is_contiguous(memory_format=CONVOLUTIONS.LAYOUTS[layout])


def test_rounding_across_the_edge_of_a_relu_is_no_fault(tmp_path: Path) -> None:
    rounded = "self.between(self.first(images)) + 2e-5"
    path = planted(tmp_path, "bench_convolutions", "self.between(self.first(images))", rounded)
    module = load(path)
    training = module.BlockTraining(CPU, 16, module.NARROW, "channels_last", "float32")
    check = training.check(training.step())
    assert check.passed, check


WRONG: dict[str, Callable[[Tensor], Tensor]] = {
    "a tenth off": lambda drawn: drawn + 0.1,
    "uniform": torch.rand_like,
    "the last tenth left out": lambda drawn: drawn * (torch.arange(NUMBERS) < 0.9 * NUMBERS),
    "of one sign": torch.Tensor.abs,
    "not a number": lambda drawn: drawn * torch.nan,
    "in another precision": torch.Tensor.double,
    "too few": lambda drawn: drawn[1:],
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_numbers_that_are_not_normally_spread_are_told(wrong: Callable[[Tensor], Tensor]) -> None:
    drawn = torch.randn(NUMBERS, generator=torch.Generator().manual_seed(1))
    assert PLACEMENT.normal(NUMBERS)(drawn).passed
    assert not PLACEMENT.normal(NUMBERS)(wrong(drawn)).passed


def test_a_tensor_on_another_device_is_wrong() -> None:
    drawn = torch.randn(64)
    assert PLACEMENT.on(CPU, PLACEMENT.normal(64))(drawn).passed
    wrong = Noted("a tensor on cpu with one on meta", math.inf, 0.0)
    assert PLACEMENT.on(Device("meta"), PLACEMENT.normal(64))(drawn) == wrong


def test_weights_are_drawn_so_that_numbers_keep_their_size() -> None:
    shape = TRANSFORMER.Shape(256, 1, "float32")
    block = CONVOLUTIONS.draw_block(CPU, 1, 64, "contiguous").state_dict()
    layer = TRANSFORMER.draw_layers(CPU, shape, "float32").state_dict()
    for name, part in (block | layer | {"dense": SPLIT.layer(CPU, 64, 64)}).items():
        if part.dim() > 1:
            assert part.square().sum() == pytest.approx(len(part), rel=0.05)
        elif part.dim():
            middle = 0 if name.endswith(("mean", "bias")) else 1
            assert 0.4 < (part - middle).abs().max() <= 0.5


def test_a_checked_row_lies_in_every_micro_batch() -> None:
    batch, layers = SPLIT.task(CPU, 64)
    right = SPLIT.through(batch, layers)
    check = SPLIT.outputs(batch, layers)
    for piece in range(32):
        wrong = right.clone()
        wrong.chunk(32)[piece].neg_()
        assert not check([wrong]).passed
    assert check(right.chunk(8)).passed
    assert not check([right[:-1]]).passed
    assert not check([torch.cat([right, right])]).passed


class Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's is untyped
    """Counts the operations that compute, as PyTorch launches them."""

    operations = 0

    def __torch_dispatch__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401 - as torch has it
        """Run an operation."""
        self.operations += func.overloadpacket.__name__ in {"add", "mul", "_foreach_mul"}
        return func(*args, **(kwargs or {}))

    def get_total_flops(self) -> int:
        """Return them where torch's counter returns products."""
        return self.operations


@pytest.mark.parametrize(
    ("function", "given", "operations"),
    [
        *(("pieces", {"device": CPU, "pieces": count}, count) for count in (1, 10, 10_000)),
        ("pieces_foreach", {"device": CPU, "pieces": 100}, 1),
        ("pieces_graph", {"accelerator": CPU, "pieces": 100}, 100),
        *(("chain", {"device": CPU, "n": n}, 100) for n in (1, 64)),
        *(("chain_large", {"accelerator": CPU, "n": n}, 100) for n in (1, 64)),
        ("chain_compiled", {"device": CPU, "n": 64}, 100),
    ],
)
def test_the_same_arithmetic_is_as_many_operations_as_it_says(
    monkeypatch: pytest.MonkeyPatch, function: str, given: dict[str, Any], operations: int
) -> None:
    monkeypatch.setattr(MANY, "compiled", lambda _device, body: (body, 2.5))
    seen = Recorder(Counter())  # type: ignore[no-untyped-call]  # as above
    getattr(MANY, f"bench_{function}")(seen, **given)
    assert seen.check.passed
    assert seen.products == operations
    assert seen.apart == ({"compile": 2.5} if function == "chain_compiled" else {})


TRAININGS: dict[str, Callable[[], Any]] = {
    "convolutions": lambda: CONVOLUTIONS.BlockTraining(CPU, 3, 8, "channels_last", "float32"),
    "transformer": lambda: TRANSFORMER.prepared(CPU, TRANSFORMER.Shape(256, 2, "float32"), 16),
}


@pytest.mark.parametrize("name", TRAININGS)
def test_every_step_begins_from_the_same_weights(name: str) -> None:
    training = TRAININGS[name]()
    for _ in range(3):
        training.begin()
        assert training.check(training.step()).passed
    training.step()
    assert not training.check(training.step()).passed


def test_a_recorded_optimizer_is_one_for_graphs_which_a_cpu_refuses() -> None:
    with pytest.raises(AssertionError, match="capturable=True"):
        TRANSFORMER.bench_train_graph(Recorder(), CPU, width=256, layers=1, dtype="float32")


def test_a_single_wrong_row_is_seen() -> None:
    close: Callable[..., Any] = load(BENCHMARKS / "decoders.py").close
    true = torch.rand(500, 64, generator=torch.Generator().manual_seed(1))
    wrong: Tensor = true.clone()
    wrong[321] = 0.0
    assert close(true, true, 0.05, "rows").error == 0
    assert close(true, wrong, 0.05, "rows").error > 0.9
    assert not close(true, true[:-1], 0.05, "rows").passed
    assert not close(true, wrong * float("nan"), 0.05, "rows").passed


STEPS = 20
SMALL: dict[str, Any] = {"network": "small", "batch": 64}
TOGETHER = SMALL | {"devices": [CPU] * 3}


@pytest.mark.parametrize("reading", ["nobody", "first"])
def test_each_device_has_a_thread_of_its_own(monkeypatch: pytest.MonkeyPatch, reading: str) -> None:
    together, step, seen = Barrier(3, timeout=30), LOSSES.Training.step, Recorder()

    def meet(*given: object) -> object:
        together.wait()  # for a step of each device
        return step(*given)

    monkeypatch.setattr(LOSSES.Training, "step", meet)
    LOSSES.bench_threads(seen, reading=reading, **TOGETHER)
    assert seen.check.passed


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many numbers are read together, each time that some are."""
    seen: list[int] = []

    def counting(read: Callable[[Tensor], object]) -> Callable[[Tensor], object]:
        def counted(log: Tensor) -> object:
            seen.append(log.numel())
            return read(log)

        return counted

    for name in ("item", "tolist"):
        monkeypatch.setattr(Tensor, name, counting(getattr(Tensor, name)))
    return seen


@pytest.mark.parametrize(("every", "times"), [(1, 20), (5, 4), (10, 2), (100, 1)])
def test_losses_are_read_as_rarely_as_is_said(reads: list[int], every: int, times: int) -> None:
    training = LOSSES.Training(CPU, "small", 64)
    LOSSES.train(training, LOSSES.on_device(training), every)
    assert reads == [STEPS // times] * times


@pytest.mark.parametrize("function", ["one_thread", "threads"])
@pytest.mark.parametrize(
    ("reading", "times"), [("nobody", [STEPS] * 3), ("first", [1] * STEPS + [STEPS] * 2)]
)
def test_the_first_device_s_losses_are_read_in_each_step_only_where_a_case_is_named_so(
    reads: list[int], function: str, reading: str, times: list[int]
) -> None:
    def measure(body: Callable[[], object], *, before: Callable[[], object], **_: object) -> None:
        before()
        reads.clear()
        body()

    getattr(LOSSES, f"bench_{function}")(measure, reading=reading, **TOGETHER)
    assert sorted(reads) == times


@pytest.mark.parametrize(("place", "passes"), [("1 - number % 2", True), ("number % 2", False)])
def test_a_batch_that_is_prefetched_is_used_from_where_it_was_put(
    tmp_path: Path, place: str, *, passes: bool
) -> None:
    module = brief(planted(tmp_path, "bench_loss_reporting", "1 - number % 2", place))
    seen = called("loss_reporting.loading pageable", module, memory="prefetched")
    assert seen.check.passed == passes
