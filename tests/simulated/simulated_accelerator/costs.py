# SPDX-License-Identifier: MIT
"""How long an operation takes on the device, and what its results will look like.

Both depend on the shapes and types of the arguments alone. They are worked out once with
PyTorch's own meta tensors and its own count of floating-point operations, then remembered.
"""

from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, NamedTuple

import torch

from simulated_accelerator.spec import Spec

Layout = tuple[torch.Size, tuple[int, ...], torch.dtype]


class Plan(NamedTuple):
    """What is known of an operation before its values are.

    layouts : of its new results, in order
    result : what it returns, with `New` or `Given` in place of each tensor
    seconds : on a device of nominal speed
    flops : 0 unless it is a product or a convolution
    """

    layouts: tuple[Layout, ...]
    result: Any
    seconds: float
    flops: float


class Slot(NamedTuple):
    """A tensor's place in a result: the argument or the new tensor of that number."""

    given: bool
    number: int


def layout(tensor: torch.Tensor) -> Layout:
    """Return shape, strides and dtype."""
    return tensor.shape, tensor.stride(), tensor.dtype


def map_leaves(tree: Any, kind: type | tuple[type, ...], change: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """Return a tree of lists and tuples with every leaf of a kind changed."""
    if isinstance(tree, kind):
        return change(tree)
    if isinstance(tree, (list, tuple)):
        return type(tree)([map_leaves(item, kind, change) for item in tree])
    return tree


def key_of(argument: Any) -> Hashable:  # noqa: ANN401
    """Return what of an argument a plan depends on."""
    if isinstance(argument, torch.Tensor):
        return layout(argument)
    if isinstance(argument, (list, tuple)):
        return tuple(key_of(item) for item in argument)
    return type(argument), argument


@cache
def _flop_counters() -> dict[Any, Callable[..., float]]:
    # Not at the top: the backend is loaded while torch itself is being imported.
    from torch.utils.flop_counter import flop_registry  # noqa: PLC0415

    return dict(flop_registry)


def make_plan(spec: Spec, func: Any, args: Any, kwargs: dict[str, Any]) -> Plan:  # noqa: ANN401
    """Work out results and duration of an operation that makes or changes tensors.

    Raises
    ------
    NotImplementedError
        If the results' shapes depend on the values of the arguments.
    """
    given: list[torch.Tensor] = []
    new: list[torch.Tensor] = []

    def to_meta(tensor: torch.Tensor) -> torch.Tensor:
        shape, stride, dtype = layout(tensor)
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
    outcome = func(*meta_args, **meta_kwargs)
    result = map_leaves(outcome, torch.Tensor, to_slot)
    counter = _flop_counters().get(func.overloadpacket)
    flops = float(counter(*meta_args, **meta_kwargs, out_val=outcome)) if counter else 0.0
    dtype = str(given[0].dtype).removeprefix("torch.") if given else ""
    rate = spec.flops.get(dtype, spec.flops["float32"])
    size = sum(tensor.nbytes for tensor in (*given, *new))
    seconds = spec.kernel + max(flops / rate, size / spec.bandwidth)
    return Plan(tuple(layout(tensor) for tensor in new), result, seconds, flops)
