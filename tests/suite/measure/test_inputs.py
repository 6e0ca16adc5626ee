# SPDX-License-Identifier: MIT
"""What a body works on is looked at, wherever it holds it."""

from collections.abc import Callable
from functools import partial

import pytest
import torch

from frobench.suite.measure.caches_and_inputs import Inputs

FAIR = torch.rand(40, 40)


def commonest(body: Callable[[], object]) -> float | None:
    """Look at a body's inputs around a call of it."""
    inputs = Inputs(body)
    body()
    return inputs.commonest()


def product(plain: torch.Tensor) -> Callable[[], object]:
    return lambda: FAIR.clone() @ plain


@pytest.mark.parametrize(
    ("plain", "least"),
    [
        (torch.zeros(40, 40), 1.0),
        (torch.ones(40, 40, dtype=torch.bfloat16).float(), 1.0),
        (torch.eye(100)[:40], 0.95),
        (torch.zeros(300, 300).expand(2, 300, 300)[0][:40, :40], 1.0),
    ],
)
def test_plain_inputs_are_seen(plain: torch.Tensor, least: float) -> None:
    found = commonest(product(plain))
    assert found is not None
    assert found >= least


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.float8_e4m3fn]
)
def test_random_inputs_of_any_type_are_fair(dtype: torch.dtype) -> None:
    drawn = (torch.rand(100, 100) * 100).to(dtype)
    found = commonest(drawn.clone)
    assert found is not None
    assert found < 0.2


def test_inputs_are_found_in_lists_bound_arguments_and_modules() -> None:
    zeros = torch.zeros(400)
    pairs = [(FAIR, zeros)]
    model = torch.nn.Linear(30, 30)
    torch.nn.init.zeros_(model.weight)
    assert commonest(lambda: [a.sum() + b.sum() for a, b in pairs]) == 1.0
    assert commonest(partial(torch.add, zeros, other=zeros)) == 1.0
    assert commonest(lambda: model(FAIR[0, :30])) == 1.0


def test_what_is_written_over_is_no_input() -> None:
    empty, filled = torch.zeros(40, 40), torch.zeros(40, 40)

    def body() -> None:
        empty.copy_(FAIR)
        filled.fill_(1.0)

    assert commonest(body) is None


def test_masks_and_places_are_no_numbers() -> None:
    mask, places = torch.ones(100, dtype=torch.bool), torch.zeros(100, dtype=torch.int64)
    assert commonest(lambda: mask.sum() + places.sum()) is None


def test_what_cannot_be_looked_at_fails_nothing() -> None:
    lazy, number = torch.nn.LazyLinear(3), torch.zeros(100, dtype=torch.complex128)
    inputs = Inputs(lambda: (lazy, number))
    assert inputs.commonest() is None


def test_both_versions_of_a_body_are_looked_at() -> None:
    fair, zeros = FAIR.clone(), torch.zeros(40, 40)
    inputs = Inputs(lambda: fair + 1, lambda: zeros + 1)
    assert inputs.commonest() == 1.0
    assert inputs.devices() == {"cpu"}


def test_scales_and_counters_say_nothing() -> None:
    scale = torch.ones(())
    assert commonest(lambda: scale + 1) is None


def test_a_small_tensor_beside_a_large_one_may_be_plain() -> None:
    matrix, ones = FAIR.clone(), torch.ones(40)
    found = commonest(lambda: matrix @ ones)
    assert found is not None
    assert found < 0.2


def test_looking_leaves_the_generator_of_the_benchmark_alone() -> None:
    large = torch.rand(200, 200)
    before = torch.get_rng_state()
    commonest(lambda: large + 1)
    assert torch.equal(torch.get_rng_state(), before)
