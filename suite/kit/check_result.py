# SPDX-License-Identifier: MIT
"""Comparisons of results with the truth in float64, on the CPU except for large products.

Each public function returns a check: a callable that takes the result, after the timing, and
returns its error. A check costs far less than the work that it judges.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from frobench.suite.lazy_torch import torch
from frobench.suite.stored.types import Check

if TYPE_CHECKING:
    from torch import Tensor

_ROUNDING = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "tfloat32": 2.0**-10,  # units may cut factors to 10 bits rather than round them
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "int32": 0.0,
}
_KEPT_IN = {"int8": "int32", "float8_e4m3fn": "bfloat16", "float8_e4m3fnuz": "bfloat16"}
"""The precision of products, where it is not that of their factors."""
_ADDED_UP_IN = {"float8_e4m3fn": 2.0**-13, "float8_e4m3fnuz": 2.0**-13}
"""The rounding of sums with fewer bits than float32: Hopper cuts summands to about 14 bits, and
AMD is allowed as much. In emulation entries are off by up to 4e-3 (4096 products), 1e-2 (16384)."""
_LADDER = {"float32": 1e-5, "tfloat32": 1e-3, "bfloat16": 1e-2}
"""Largest root mean square error of a float32 product made in each precision. Observed are up to
2e-6 for float32, 2e-4 to 6e-4 for TF32, 1.5e-3 to 4e-3 for bfloat16."""
_ENTRIES = 2**24
"""Entries of a matrix above which only some of its rows, drawn at random, are checked."""
_FLOPS = 2.5e9
"""Operations that the exact side may cost; columns of larger products are checked in groups."""
_PART_IN_BRIEF = 1 / 16
"""The part of these entries and operations that a brief check makes."""
_IS_BRIEF = ContextVar("brief", default=False)
_CHUNK, _LARGE_CHUNK = 2**18, 2**22
"""Numbers that are compared at a time: on a CPU, which has smaller caches, and elsewhere."""
_LARGE = 3 * 2**20
"""Numbers of a product and its factors from which they are compared on their accelerator."""
_BLOCK = 2**14
"""Numbers of one block; a brief check of bits draws blocks."""
_COLUMNS = 16
"""Columns, drawn at random, that are compared entry by entry."""
_PLAIN = 2  # dimensions of a matrix that is not a batch


def freivalds(
    a: "Tensor", b: "Tensor", precision: str | None = None
) -> "Callable[[Tensor], Check]":
    """Check a product of matrices (or of batches of matrices), entry by entry if it is small.

    In a large product, columns are added up in groups with random signs, and C x is compared with
    A (B x), row by row. Some random columns, and that of the smallest entry, are compared entry by
    entry. Errors are relative to the length of the row's part in the group, so that a single
    missing entry shows.

    a, b : the factors as the body multiplied them, with entries independent of each other
    precision : ``tfloat32`` if float32 factors may be rounded to it; else the result's own

    Source: R. Freivalds, "Probabilistic machines can use less running time", IFIP 1977.
    """

    def check(c: "Tensor") -> Check:
        shape, factors = (*a.shape[:-1], b.shape[-1]), _name(a.dtype)
        dtype = _KEPT_IN.get(factors, factors)
        rounding = _ROUNDING[precision or dtype]
        in_sums = _ADDED_UP_IN.get(factors, min(rounding, _ROUNDING["float32"]))
        bound = 4 * rounding + (4 + 4 * math.sqrt(a.shape[-1])) * in_sums
        if (c.shape, _name(c.dtype)) != (shape, dtype):
            shapes = f"{_name(c.dtype)} of shape {tuple(c.shape)} with {dtype} of shape {shape}"
            return Check(shapes, math.inf, bound)
        left, product, which_rows = a, c, ""
        some, all_ = int(_ENTRIES * _part()) // max(a.shape[-1], c.shape[-1]), a.shape[-2]
        if a.dim() == _PLAIN and some < all_:
            rows = torch.randperm(all_, generator=_chance())[:some]
            left, product = a[rows.to(a.device)], c[rows.to(c.device)]
            which_rows = f", {some} of {all_} rows"
        what, parts = _product_errors(left, b, product)
        errors = torch.stack([torch.stack([part.max(), part.square().mean()]) for part in parts])
        largest, typical = errors[:, 0].max().item(), errors[:, 1].mean().sqrt().item()
        precise = (name for name, most in _LADDER.items() if typical <= most)
        made_in = next(precise, None) if c.dtype == torch.float32 else factors
        return Check(what + which_rows, largest, bound, made_in)

    return check


def is_brief() -> bool:
    """Tell whether checks may be brief now."""
    return _IS_BRIEF.get()


@contextmanager
def briefly(*, brief: bool) -> Iterator[None]:
    """Check large results only in part, if `brief`; the first launch checks them whole."""
    before = _IS_BRIEF.set(brief)
    try:
        yield
    finally:
        _IS_BRIEF.reset(before)


def close_to(expected: "Tensor", tolerance: float, what: str) -> Callable[[Any], Check]:
    """Check numbers, a tensor or a sequence, against `expected`.

    tolerance : the largest error allowed, relative to the largest entry of `expected`
    what : what the numbers are, for the message
    """

    def check(result: "Tensor | Iterable[Any]") -> Check:
        numbers = (
            result if isinstance(result, torch.Tensor) else [float(number) for number in result]
        )
        computed = torch.as_tensor(numbers).cpu().double()
        if computed.shape != expected.shape:
            shapes = f"shape {tuple(computed.shape)} with {tuple(expected.shape)}"
            return Check(shapes, math.inf, 0.0)
        truth = expected.cpu().double()
        largest = (computed - truth).abs().max()
        error = largest / truth.abs().max() if largest else largest  # the truth may be all 0
        return Check(f"{what} with float64", error.item(), tolerance)

    return check


def same_bytes(expected: "Sequence[Tensor]") -> "Callable[[Tensor | Iterable[Tensor]], Check]":
    """Check that tensors, or all in a flat one, equal `expected` in every bit.

    The error is the part of the elements that differs.
    """

    def check(result: "Tensor | Iterable[Tensor]") -> Check:
        sizes = [tensor.numel() for tensor in expected]
        parts = [result] if isinstance(result, torch.Tensor) else list(result)
        if isinstance(result, torch.Tensor) and result.numel() == sum(sizes):
            parts = list(torch.split(result.flatten(), sizes))
        if [tensor.numel() for tensor in parts] != sizes:
            return Check(f"{len(parts)} tensors with {len(sizes)}", math.inf, 0.0)
        wrong = sum(map(_different, parts, expected))
        what = "some elements" if any(_blocks(size) for size in sizes) else "every element"
        return Check(f"{what}, bit by bit", wrong / sum(sizes), 0.0)

    return check


def worst(checks: Iterable[Check | bool]) -> Check:
    """Return the check whose error is least below its bound, or furthest beyond it.

    So of those that pass, the strictest is named, which says most of what was compared. Of a result
    that is only known to be right or wrong, the error is 0 or 1.
    """
    every = (
        one if isinstance(one, Check) else Check("right or wrong", float(not one), 0.0)
        for one in checks
    )
    return max(every, key=lambda check: (not check.passed, check.error - check.bound))


def _product_errors(a: "Tensor", b: "Tensor", c: "Tensor") -> "tuple[str, Iterator[Tensor]]":
    """Return what is compared, and the relative errors, some rows at a time.

    Large products are compared where they are, if the device has float64: the CPU would take longer
    than the device took for the product. The float64 sums share no code with the product.
    """
    device = _where(a, b, c)
    a, b, c = a.to(device), b.to(device), c.to(device)
    inner, columns = b.shape[-2:]
    width = _width(a.numel() // inner, inner, columns)
    signs = torch.randint(0, 2, (columns,), generator=_chance()).mul_(2).sub_(1).double().to(device)
    smallest = c.abs().argmin() % columns  # an entry never written is most often zero
    some = torch.randperm(columns, generator=_chance())[:_COLUMNS].to(device)
    single = torch.cat([some, smallest[None]])

    def summed(matrix: "Tensor", weights: "Tensor") -> "Tensor":
        """Add the columns up in groups; the single columns follow as they are."""
        if width == 1:
            return matrix
        groups = torch.unflatten(matrix * weights, -1, (-1, width)).sum(-1)
        return torch.cat([groups, matrix[..., single] * weights[single]], dim=-1)

    ones = torch.ones_like(signs)
    widths = summed(ones, ones)
    right = torch.cat([summed(part, signs) for part in _in_parts(b)], dim=-2)
    size = math.sqrt(sum(part.square().sum().item() for part in _in_parts(b)) / b.numel())

    def errors() -> "Iterator[Tensor]":
        for left, rows in zip(_in_parts(a, columns), _in_parts(c, inner), strict=True):
            typical = left.norm(dim=-1, keepdim=True) * size
            scale = (summed(rows.square(), ones) + widths * typical.square()).sqrt()
            yield (summed(rows, signs) - left @ right).abs() / scale

    return ("every entry" if width == 1 else f"C x with A (B x) by {width} columns"), errors()


def _where(a: "Tensor", b: "Tensor", c: "Tensor") -> "torch.device":
    if a.numel() + b.numel() + c.numel() < _LARGE:
        return torch.device("cpu")
    try:
        with torch.no_grad():
            a.flatten()[:1].double().to(c.device).square().sum().item()
    except (RuntimeError, TypeError):  # no float64, as on Metal, or no memory
        return torch.device("cpu")
    return c.device


def _width(rows: int, inner: int, columns: int) -> int:
    """Return how many columns are added up into one to keep the exact side cheap."""
    width, most = 1, _FLOPS * _part()
    while 2 * rows * inner * columns / width > most and columns % (2 * width) == 0:
        width *= 2
    return width


def _in_parts(matrix: "Tensor", other: int = 0) -> "Iterator[Tensor]":
    """Yield a matrix in float64, as many rows at a time as fit into caches; a batch as a whole.

    other : columns of the matrix whose rows are looked at beside these
    """
    rows = matrix.shape[-2]
    if matrix.dim() == _PLAIN:
        most = _CHUNK if matrix.device.type == "cpu" else _LARGE_CHUNK
        rows = max(1, most // max(other, matrix.shape[-1]))
    for part in torch.split(matrix, rows, dim=-2):
        yield part.double()


def _part() -> float:
    return _PART_IN_BRIEF if is_brief() else 1.0


def _different(computed: "Tensor", expected: "Tensor") -> int:
    if computed.dtype != expected.dtype:
        return computed.numel()
    mine, theirs = computed.detach().flatten(), expected.detach().flatten()
    if blocks := _blocks(len(mine)):
        drawn = torch.randperm(blocks, generator=_chance())[: int(blocks * _PART_IN_BRIEF)]
        mine, theirs = _drawn(mine, drawn), _drawn(theirs, drawn)
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[mine.itemsize]
    mine, theirs = mine.cpu().view(bits), theirs.cpu().view(bits)
    return 0 if torch.equal(mine, theirs) else int((mine != theirs).count_nonzero())


def _blocks(numbers: int) -> int:
    """Return how many blocks a brief check draws from; 0 where it compares a whole tensor."""
    return numbers // _BLOCK if is_brief() and numbers >= _ENTRIES * _PART_IN_BRIEF else 0


def _drawn(numbers: "Tensor", blocks: "Tensor") -> "Tensor":
    end = len(numbers) // _BLOCK * _BLOCK
    some = numbers[:end].view(-1, _BLOCK)[blocks.to(numbers.device)].flatten()
    return torch.cat([some, numbers[end:]])


def _chance() -> "torch.Generator":
    """Return a generator that no body can predict; torch's own stays as it is."""
    generator = torch.Generator()
    generator.seed()
    return generator


def _name(dtype: "torch.dtype") -> str:
    return str(dtype).removeprefix("torch.")
