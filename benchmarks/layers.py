# SPDX-License-Identifier: MIT
"""What layers of tanh must make of a batch, in float64 on the CPU."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from frobench import Check, close_to, worst

PIECES = 32
"""Rows that are checked: at least one in each micro-batch."""
Model = tuple[Tensor, Sequence[Tensor]]
"""A batch, and the weights of the layers that it is sent through."""


def exact(tensor: Tensor) -> Tensor:
    """Return a tensor in float64 on the CPU."""
    return tensor.detach().cpu().double()


def truth(numbers: Tensor, layers: Sequence[Tensor]) -> Tensor:
    """Return what layers make of numbers, in float64 on the CPU."""
    for weights in layers:
        numbers = torch.tanh(torch.mm(numbers, weights))
    return numbers


def slopes(words: Tensor, parameters: Sequence[Tensor]) -> Callable[[Sequence[Tensor]], Check]:
    """Check the gradients of the table and of each layer."""

    def check(seen: Sequence[Tensor]) -> Check:
        table, *layers = (exact(value).requires_grad_() for value in parameters)
        loss = truth(table[words], layers).pow(2).mean()
        true = torch.autograd.grad(loss, [table, *layers])
        return worst(close_to(t, 1e-4, "gradients")(s) for t, s in zip(true, seen, strict=True))

    return check


def outputs(batch: Tensor, layers: Sequence[Tensor]) -> Callable[[Sequence[Tensor]], Check]:
    """Check what became of a batch, in a row of each piece of it, drawn at random."""

    def check(results: Sequence[Tensor]) -> Check:
        seen, piece = torch.cat([result.cpu() for result in results]), len(batch) // PIECES
        shape = len(batch), layers[-1].shape[1]
        if seen.shape != shape:
            return Check(f"shape {tuple(seen.shape)} with {shape}", math.inf, 0.0)
        chance = torch.Generator()
        chance.seed()  # no body can foresee it
        rows = torch.randint(piece, (PIECES,), generator=chance) + torch.arange(PIECES) * piece
        expected = truth(exact(batch)[rows], list(map(exact, layers)))
        return close_to(expected, 1e-5, f"{PIECES} rows")(seen[rows])

    return check


def all_outputs(tasks: Sequence[Model]) -> Callable[[Sequence[Tensor]], Check]:
    """Check what independent models made of their batches."""
    return lambda results: worst(
        outputs(*task)([result]) for task, result in zip(tasks, results, strict=True)
    )
