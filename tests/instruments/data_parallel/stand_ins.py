# SPDX-License-Identifier: MIT
"""What PyTorch lacks of `nn.DataParallel` for devices that are not CUDA's, made of plain copies.

Only three functions are missing, all of which PyTorch has in C++ for CUDA alone. As there, what
stays on its device is not copied: the first replica shares its tensors with the module itself.
"""

import torch
from torch import Tensor


def install() -> None:
    """Put them where PyTorch looks for them, unless those that are there serve the devices."""
    if not hasattr(torch._C, "_scatter") or _on(0).type != "cuda":
        torch._C._broadcast_coalesced = _broadcast
        torch._C._scatter = _scatter
        torch._C._gather = _gather


def _on(index: int) -> torch.device:
    kind = torch.accelerator.current_accelerator()
    assert kind is not None
    return torch.device(kind.type, index)


def _broadcast(
    tensors: list[Tensor],
    devices: list[int],
    buffer_size: int,  # noqa: ARG001 - of the copies that PyTorch joins
) -> list[list[Tensor]]:
    return [[tensor.to(_on(index)).detach() for tensor in tensors] for index in devices]


def _scatter(
    tensor: Tensor,
    devices: list[int],
    chunk_sizes: list[int] | None,
    dim: int,
    streams: object,  # noqa: ARG001 - of copies from the host
) -> list[Tensor]:
    parts = torch.split(tensor, chunk_sizes or -(-tensor.shape[dim] // len(devices)), dim)
    return [part.to(_on(index)) for index, part in zip(devices, parts, strict=False)]


def _gather(tensors: list[Tensor], dim: int, destination_index: int | None) -> Tensor:
    return torch.cat([tensor.to(_on(destination_index or 0)) for tensor in tensors], dim)
