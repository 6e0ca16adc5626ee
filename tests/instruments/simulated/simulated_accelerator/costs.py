# SPDX-License-Identifier: MIT
# ruff: noqa: ANN401 (operations take and return whatever PyTorch's do)
"""How long an operation takes on the device, and what its results will look like.

Both depend on the shapes and types of the arguments alone. They are worked out once with
PyTorch's own meta tensors and its own count of floating-point operations, then remembered.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch

from .spec import Spec
from .stand_ins import standing_in

Form = tuple[torch.Size, tuple[int, ...], torch.dtype]


class Plan(NamedTuple):
    """What is known of an operation before its values are.

    forms : of its new results, in order
    sizes : bytes of memory that these take
    result : what it returns, with a `Slot` in place of each tensor
    seconds : on a device of nominal speed, from its memory and from its cache
    flops : 0 unless it is a product or a convolution
    """

    forms: tuple[Form, ...]
    sizes: tuple[int, ...]
    result: Any
    seconds: tuple[float, float]
    flops: float


class Slot(NamedTuple):
    """A tensor's place in a result: the argument or the new tensor of that number."""

    given: bool
    number: int


def form_of(tensor: torch.Tensor) -> Form:
    """Return shape, strides and dtype."""
    return tensor.shape, tensor.stride(), tensor.dtype


def map_leaves(tree: Any, kind: type | tuple[type, ...], change: Callable[[Any], Any]) -> Any:
    """Return a tree of lists and tuples with every leaf of a kind changed."""
    if isinstance(tree, kind):
        return change(tree)
    if isinstance(tree, (list, tuple)):
        return type(tree)([map_leaves(item, kind, change) for item in tree])
    return tree


@cache
def _flop_counters() -> dict[Any, Callable[..., float]]:
    # Not at the top: the backend is loaded while torch itself is being imported.
    from torch.utils.flop_counter import flop_registry  # noqa: PLC0415

    return dict(flop_registry)


def make_plan(spec: Spec, func: Any, args: Any, kwargs: dict[str, Any]) -> Plan:
    """Work out results and duration of an operation that makes or changes tensors.

    Raises
    ------
    NotImplementedError
        If the results' shapes depend on the values of the arguments.
    ValueError
        If an argument would be given another shape to hold the result.
    """
    given: list[torch.Tensor] = []
    new: list[torch.Tensor] = []

    def to_meta(tensor: torch.Tensor) -> torch.Tensor:
        shape, stride, dtype = form_of(tensor)
        given.append(torch.empty_strided(shape, stride, dtype=dtype, device="meta"))
        return given[-1]

    def to_slot(tensor: torch.Tensor) -> Slot:
        for number, argument in enumerate(given):
            if argument is tensor:
                return Slot(given=True, number=number)
        new.append(tensor)
        return Slot(given=False, number=len(new) - 1)

    meta_args = map_leaves(args, torch.Tensor, to_meta)
    meta_kwargs = {name: map_leaves(value, torch.Tensor, to_meta) for name, value in kwargs.items()}
    if "device" in kwargs:
        meta_kwargs["device"] = "meta"
    forms = [form_of(tensor) for tensor in given]
    with standing_in():
        outcome = func(*meta_args, **meta_kwargs)
    if [form_of(tensor) for tensor in given] != forms:
        raise ValueError(f"{func} would resize a tensor that it is given, which is not simulated")
    result = map_leaves(outcome, torch.Tensor, to_slot)
    counter = _flop_counters().get(func.overloadpacket)
    flops = float(counter(*meta_args, **meta_kwargs, out_val=outcome)) if counter else 0.0
    dtype = str(given[0].dtype).removeprefix("torch.") if given else ""
    rate = spec.flops.get(dtype, spec.flops["float32"])
    size = sum(tensor.nbytes for tensor in (*given, *new))
    return Plan(
        forms=tuple(form_of(tensor) for tensor in new),
        sizes=tuple(tensor.untyped_storage().nbytes() for tensor in new),
        result=result,
        seconds=spec.seconds(size, flops / rate),
        flops=flops,
    )
