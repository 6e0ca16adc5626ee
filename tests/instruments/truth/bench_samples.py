# SPDX-License-Identifier: MIT
"""What is a sample, where what comes before it and what is beside it would show?"""

import torch

from frobench import Device, Measure, Work, cases, same_bytes


@cases("quick", size=[4**10])
def bench_renewed(measure: Measure, accelerator: Device, size: int) -> None:
    """Copy what is copied before each sample too, while the caches are to be cold."""
    source, target = accelerator.uniform(size // 4), accelerator.uniform(size // 4)
    measure(
        lambda: target.copy_(source),
        work=Work(bytes=2 * size, path="within"),
        check=same_bytes([source.cpu()]),
        before=lambda: target.copy_(source),
        cold=True,
    )


@cases("quick", size=[4**6])
def bench_beside(measure: Measure, accelerator: Device, size: int) -> None:
    """Copy beside the same copy."""
    source, target = accelerator.uniform(size // 4), accelerator.uniform(size // 4)

    def body() -> torch.Tensor:
        return target.copy_(source)

    work, check = Work(bytes=2 * size, path="within"), same_bytes([source.cpu()])
    measure(body, work=work, check=check, against=body)
