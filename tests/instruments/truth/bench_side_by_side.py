# SPDX-License-Identifier: MIT
"""How much of their time do lanes share, where it is known?"""

from itertools import chain

import torch

from frobench import Device, Lane, Measure, Work, cases, close_to, freivalds, worst

ROWS, LAYERS = 1024, 4
"""Rows of a pipeline's batch, and layers of each of its stages."""


@cases("quick", n=[8, 64], micro=[2, 4, 8, 16], way=["together", "in_turn"])
def bench_stages(measure: Measure, devices: list[Device], n: int, micro: int, way: str) -> None:
    """Send micro-batches through a stage on each device, together or strictly in turn."""
    lanes = [Lane(device) for device in devices]
    stages = [[device.uniform(n, n) for _ in range(LAYERS)] for device in devices]
    batch = devices[0].uniform(ROWS, n)

    def body() -> list[torch.Tensor]:
        results = []
        for piece in batch.chunk(micro):
            numbers = piece
            for lane, layers in zip(lanes, stages, strict=True):
                numbers = numbers.to(lane.device.handle, non_blocking=True)
                with lane:
                    for layer in layers:
                        numbers = numbers @ layer
                if way == "in_turn":
                    lane.device.synchronize()
            results.append(numbers)
        return results

    truth = batch.cpu().double()
    for layer in chain(*stages):
        truth = truth @ layer.cpu().double()
    right = close_to(truth, 1e-3, "the batch")
    measure(
        body,
        work=Work(flops=len(devices) * LAYERS * 2 * ROWS * n**2),
        check=lambda results: right(torch.cat([one.cpu() for one in results])),
        lanes=lanes,
    )


@cases("quick", n=[64, 256])
def bench_streams(measure: Measure, accelerator: Device, n: int) -> None:
    """Multiply in two streams of a device that has one engine for products."""
    lanes = [Lane(accelerator, accelerator.stream()) for _ in "12"]
    pairs = [(accelerator.uniform(n, n), accelerator.uniform(n, n)) for _ in lanes]

    def product(lane: Lane, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        with lane:
            return a @ b

    measure(
        lambda: [product(lane, *pair) for lane, pair in zip(lanes, pairs, strict=True)],
        work=Work(flops=4 * n**3),
        check=lambda results: worst(
            freivalds(*pair)(result) for pair, result in zip(pairs, results, strict=True)
        ),
        lanes=lanes,
    )
