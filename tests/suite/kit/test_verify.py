# SPDX-License-Identifier: MIT
"""Checks tell right results from wrong ones, and say in which precision a product was made."""

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor

from frobench.suite.kit import check_result
from frobench.suite.kit.check_result import briefly, close_to, freivalds, same_bytes, worst
from frobench.suite.kit.device import Device
from frobench.suite.stored.types import Check

pytestmark = pytest.mark.long

SEEDS = range(8)
Shape = tuple[int, int, int]


def factors(
    shape: Shape, dtype: str = "float32", seed: int = 0, batch: tuple[int, ...] = ()
) -> tuple[Tensor, Tensor]:
    rows, inner, columns = shape
    draw = partial(Device("cpu", seed).uniform, *batch, dtype=dtype)
    return draw(rows, inner), draw(inner, columns)


def zeroed(product: Tensor, seed: int) -> Tensor:
    """Return a product without one of its entries, which was no smaller than most."""
    generator = torch.Generator().manual_seed(seed)
    wrong = product.clone().flatten()
    while True:
        place = int(torch.randint(wrong.numel(), (), generator=generator))
        if wrong[place].abs() > product[0].float().std() / 4:
            wrong[place] = 0
            return wrong.view(product.shape)


@pytest.fixture(params=[False, True], ids=["entries", "groups"])
def large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Treat every product as one that is too large to be compared entry by entry, or none."""
    if request.param:
        monkeypatch.setattr(check_result, "_FLOPS", 1e5)
    return bool(request.param)


WIDTHS = {(25, 25, 80): 1, (256, 256, 256): 256, (256, 64, 8): 4, (8, 3000, 256): 128}
"""By shape, how many columns of a large product are added up for 1e5 operations."""


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize(("shape", "width"), WIDTHS.items())
@pytest.mark.parametrize("seed", SEEDS)
def test_right_products_pass(
    dtype: str, shape: Shape, width: int, seed: int, *, large: bool
) -> None:
    a, b = factors(shape, dtype, seed)
    check = freivalds(a, b)(a @ b)
    assert check.precision == dtype
    # Half of the bound leaves room for other seeds; the reference of float64 is float64 too.
    assert check.error < check.bound / (1 if dtype == "float64" else 2)
    assert check.error > check.bound / 60 or dtype == "float64"  # and little goes unseen
    groups = f"C x with A (B x) by {width} columns"
    assert check.compared == (groups if large and width > 1 else "every entry")


def test_whole_numbers_must_be_exact() -> None:
    a, b = (torch.randint(-127, 128, (32, 32), dtype=torch.int8) for _ in "ab")
    product = a.int() @ b.int()
    assert freivalds(a, b)(product) == Check("every entry", 0.0, 0.0, "int8")
    product[3, 4] += 1
    assert not freivalds(a, b)(product).passed


@pytest.mark.parametrize(
    ("dtype", "precision", "kept", "bound"),
    [
        ("float64", None, "float64", 72 * 2**-53),
        ("float32", None, "float32", 72 * 2**-24),
        ("float32", "tfloat32", "float32", 4 * 2**-10 + 68 * 2**-24),
        ("float16", None, "float16", 4 * 2**-11 + 68 * 2**-24),
        ("bfloat16", None, "bfloat16", 4 * 2**-8 + 68 * 2**-24),
        ("int8", None, "int32", 0.0),
        ("float8_e4m3fn", None, "bfloat16", 4 * 2**-8 + 68 * 2**-13),
        ("float8_e4m3fnuz", None, "bfloat16", 4 * 2**-8 + 68 * 2**-13),
    ],
)
def test_sums_of_256_products_may_be_off_by_some_roundings_of_their_type(
    dtype: str, precision: str | None, kept: str, bound: float
) -> None:
    a, b = (torch.zeros(shape).to(getattr(torch, dtype)) for shape in ((2, 256), (256, 3)))
    seen = freivalds(a, b, precision)(torch.zeros(4, dtype=getattr(torch, kept)))
    assert seen == Check(f"{kept} of shape (4,) with {kept} of shape (2, 3)", math.inf, seen.bound)
    assert seen.bound == pytest.approx(bound, abs=0)


def test_an_error_is_relative_to_an_entry_and_what_is_typical_of_its_row() -> None:
    a, b = torch.tensor([[3.0, 4.0], [6.0, 8.0]]), torch.tensor([[1.0, -1.0], [1.0, 1.0]])
    product = torch.tensor([[7.0, 1.0], [15.0, 2.0]])  # 15, not 14, in a row of length 10
    assert freivalds(a, b)(product).error == pytest.approx(1 / math.hypot(15, 10))
    batch = freivalds(torch.stack([a, a]), torch.stack([b, b]))(torch.stack([a @ b, product]))
    assert batch.error == pytest.approx(1 / math.hypot(15, 10))


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("seed", SEEDS)
def test_an_entry_that_was_not_computed_is_seen(dtype: str, seed: int) -> None:
    a, b = factors((256, 256, 256), dtype, seed)
    assert not freivalds(a, b)(zeroed(a @ b, seed)).passed


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda a, b: a @ b.t(), id="an operand transposed"),
        pytest.param(lambda a, b: (a @ b) * 1.001, id="a scale"),
        pytest.param(lambda a, b: torch.where(a == a[3, 5], math.nan, a @ b), id="one NaN"),
        pytest.param(lambda a, b: a.half() @ b.half(), id="half precision"),
    ],
)
def test_wrong_products_fail(spoil: Callable[[Tensor, Tensor], Tensor]) -> None:
    a, b = factors((256, 256, 256))
    assert not freivalds(a, b)(spoil(a, b)).passed


def rounded_to_tf32(matrix: Tensor) -> Tensor:
    """Keep 10 bits of each fraction, as tensor cores do with float32."""
    return cut_to_tf32((matrix.view(torch.int32) + 0x1000).view(torch.float32))


def cut_to_tf32(matrix: Tensor) -> Tensor:
    return (matrix.view(torch.int32) & ~0x1FFF).view(torch.float32)


def rounded_to_bfloat16(matrix: Tensor) -> Tensor:
    return matrix.bfloat16().float()


@pytest.mark.parametrize("rounded", [rounded_to_tf32, cut_to_tf32, rounded_to_bfloat16])
@pytest.mark.parametrize("n", [16, 100, 256])
@pytest.mark.parametrize("seed", SEEDS)
def test_less_precise_arithmetic_passes_for_itself_alone(
    rounded: Callable[[Tensor], Tensor], n: int, seed: int
) -> None:
    a, b = factors((n, n, n), seed=seed)
    product = rounded(a) @ rounded(b)
    strict, allowed = freivalds(a, b)(product), freivalds(a, b, "tfloat32")(product)
    precision = "bfloat16" if rounded is rounded_to_bfloat16 else "tfloat32"
    assert (strict.passed, allowed.passed) == (False, precision == "tfloat32")
    assert strict.precision == allowed.precision == precision
    assert allowed.bound < 30 * allowed.error


TRUTH = torch.linspace(30, 36, 50, dtype=torch.float64)


@pytest.mark.parametrize("form", [lambda t: t, Tensor.float, Tensor.tolist, Tensor.unbind])
def test_numbers_near_the_truth_pass_in_whatever_form(form: Callable[[Tensor], object]) -> None:
    assert close_to(TRUTH, 1e-6, "norms")(form(TRUTH)).passed


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (TRUTH.where(TRUTH[49] != TRUTH, torch.tensor(0.0).double()), 1.0),
        (TRUTH.where(TRUTH[7] != TRUTH, torch.tensor(math.nan).double()), math.nan),
        (TRUTH.flip(0), 6 / 36),
        (TRUTH * 1.0001, 1e-4),
        (TRUTH[-1:], math.inf),
    ],
)
def test_numbers_off_the_truth_fail(wrong: Tensor, error: float) -> None:
    check = close_to(TRUTH, 9e-5, "norms")(wrong)
    assert (check.passed, check.bound) == (False, 0.0 if math.isinf(error) else 9e-5)
    assert check.error == pytest.approx(error, nan_ok=True)


def test_tensors_equal_bit_by_bit_pass_one_by_one_and_flat() -> None:
    tensors = [torch.tensor([[1.0, math.nan], [-0.0, 2.0]]), torch.tensor([3.0])]
    mixed = [*tensors, *(torch.ones(2).to(kind) for kind in (torch.int8, torch.half, torch.double))]
    assert same_bytes(mixed)([tensor.clone() for tensor in mixed]).passed
    assert same_bytes(tensors)(torch.cat([tensor.flatten() for tensor in tensors])).passed


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        pytest.param(lambda t: [t[0] + 1e-7, t[1]], 0.5, id="the last bit"),
        pytest.param(lambda t: [t[1], t[0]], 1.0, id="exchanged"),
        pytest.param(lambda t: [t[0].t(), t[1]], 12 / 32, id="transposed"),
        pytest.param(lambda t: [t[0]], math.inf, id="one missing"),
        pytest.param(lambda t: [t[0], -t[1]], 0.5, id="minus zero"),
        pytest.param(lambda t: [t[0].double(), t[1]], 0.5, id="another type"),
        pytest.param(lambda t: t[0], math.inf, id="too short"),
    ],
)
def test_tensors_that_differ_fail(spoil: Callable[[list[Tensor]], object], error: float) -> None:
    expected = [Device("cpu").uniform(4, 4), torch.zeros(4, 4)]
    result = spoil([tensor.clone() for tensor in expected])
    check = same_bytes(expected)(result)  # type: ignore[arg-type] # as a body may return
    assert (check.bound, check.error) == (0.0, error)


def test_the_worst_check_is_one_that_failed_or_else_the_strictest() -> None:
    fine, wrong = Check("a", 0.1, 0.2), Check("b", 0.01, 0.001)
    unknown = Check("c", math.nan, 1.0)
    assert worst([fine, wrong]) is wrong
    assert worst([fine, unknown]) is unknown
    assert worst([True, False]) == Check("right or wrong", 1.0, 0.0)
    assert worst([strict := Check("d", 0.0, 0.05), fine]) is strict


def test_a_brief_check_looks_at_few_rows_and_still_finds_what_is_wrong_in_all() -> None:
    a, b = factors((2048, 512, 2048))
    product = a @ b
    check = freivalds(a, b)
    with briefly(brief=True):
        right, rounded_up = check(product), check(product * 1.01)
        few = freivalds(a[:512], b)(product[:512])
    assert (right.passed, rounded_up.passed) == (True, False)
    assert right.compared == "C x with A (B x) by 8 columns, 512 of 2048 rows"
    assert few.compared == "C x with A (B x) by 8 columns"
    assert check(product).compared == "C x with A (B x) by 2 columns"


def test_a_brief_check_of_bits_draws_blocks_and_the_end_of_a_long_tensor() -> None:
    zeros = torch.zeros(2**20 + 5)
    check = same_bytes([zeros])
    with briefly(brief=True):
        drawn = check(zeros + 1)
    assert drawn == Check("some elements, bit by bit", (4 * 2**14 + 5) / (2**20 + 5), 0.0)
    assert check(zeros + 1) == Check("every element, bit by bit", 1.0, 0.0)


def test_a_right_result_of_zeros_only_passes_and_no_other_does() -> None:
    zeros = torch.zeros(3)
    assert close_to(zeros, 0.0, "zeros")(zeros).error == 0.0
    assert close_to(zeros, 0.5, "zeros")(zeros + 1e-9).error == math.inf
    assert not close_to(zeros, 0.5, "zeros")(zeros * float("nan")).passed
