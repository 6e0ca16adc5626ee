# SPDX-License-Identifier: MIT
"""What does the network between processes give, and how does training over it scale?

A sample begins after a barrier of all processes and ends when the slowest of them has passed a
second one. Both moments are readings of the first process's clock; the clocks of different machines
are never compared. A short call is repeated inside a sample until the sample lasts twenty times as
long as one of no call: the second barrier, which ends it, lengthens a call by a twentieth at most.
What a sample of no call takes is stored beside it, and subtracted from none.

Sizes are those of nccl-tests: all bytes of the larger of input and output of a process. The
algorithm bandwidth is this size divided by the time. The bus bandwidth is what each process's link
must carry at the least, divided by the time, so that it can be compared with the rate of the link
whatever the operation and the number of processes. Sending and receiving is a round trip between
the first process and the last: twice the size, and two latencies.

Where several nodes measure together (`frobench run --nodes`), a process runs on each accelerator
of every node, or one on each node that has none. On a machine by itself there is no network: two
halves of the CPU, or its accelerators, exchange data within the machine.

A step of training is forward, backward and AdamW of one layer of a transformer, as in the exercise
of that name: in bfloat16 (autocast) on accelerators, and in float32 on CPUs. ``ddp`` is
``DistributedDataParallel``, ``fsdp`` is ``fully_shard``. ``alone`` is the same step on every
process without any exchange, and ``exchange`` an all-reduce of as many bytes as the gradients have,
without a step or a token. What a step with DDP takes less than these two together is communication
that is hidden: with more tokens, a process computes longer for the same gradients. Scaling is weak
where each process has all tokens, and strong where they share them.

A pipeline (`torch.distributed.pipelining`, GPipe) has a layer on each process, and sends a batch of
16 sequences forward and backward through all of them, in micro-batches. ``alone`` sends the same
micro-batches through all layers on one process. While the first micro-batch fills the pipeline and
the last one empties it, processes have nothing to do: p processes with m micro-batches are, at
best, p m / (m + p - 1) times as fast as one.
"""

from networks import (
    all_gather,
    all_reduce,
    all_to_all,
    broadcast,
    neighbours,
    payload,
    reduce_scatter,
    round_trip,
)
from stages import pipeline
from steps import step

from frobench import Group, Measure, Work, cases, on_one_machine

KIB, MIB = 2**10, 2**20
HEADLINE = [8, 4 * KIB, MIB, 16 * MIB]
STANDARD = [8, 4 * KIB, 64 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB]
SIZES = [8 * 4**power for power in range(14)] + [1024 * MIB]  # bytes: 8 B to 1 GiB
WIDTHS = [256, 512, 1024, 2048, 4096]
FEW = {"size": [8, 64 * KIB, 4 * MIB]}

pytestmark = on_one_machine(
    bench_all_reduce=FEW,
    bench_send_receive=FEW,
    bench_all_gather={"size": [4 * MIB]},
    bench_reduce_scatter={"size": [4 * MIB]},
    bench_broadcast={"size": [4 * MIB]},
    bench_all_to_all={"size": [4 * MIB]},
    bench_step={
        "width": [256],
        "tokens": [0, 128],
        "way": ["alone", "ddp", "exchange"],
        "scaling": ["weak"],
    },
)


@cases("quick", size=HEADLINE)
@cases(size=STANDARD)
@cases("rigorous", size=SIZES)
def bench_all_reduce(measure: Measure, group: Group, size: int) -> None:
    """Add numbers up over all processes, for each of them."""
    with group.task(all_reduce, size) as body:
        count = len(group)
        moved = 2 * (count - 1) / count * size
        measure(body, work=Work(bytes=moved, path="network"), check=body.check)


@cases("quick", size=HEADLINE)
@cases(size=STANDARD)
@cases("rigorous", size=SIZES)
def bench_send_receive(measure: Measure, group: Group, size: int) -> None:
    """Send numbers from the first process to the last, and back."""
    with group.task(round_trip, size) as body:
        measure(body, work=Work(bytes=2 * size, path="network"), check=body.check)


@cases(size=STANDARD)
@cases("rigorous", size=SIZES)
def bench_all_gather(measure: Measure, group: Group, size: int) -> None:
    """Give every process the numbers of all."""
    with group.task(all_gather, size) as body:
        count = len(group)
        moved = (count - 1) / count * payload(size, count)
        measure(body, work=Work(bytes=moved, path="network"), check=body.check)


@cases(size=STANDARD)
@cases("rigorous", size=SIZES)
def bench_reduce_scatter(measure: Measure, group: Group, size: int) -> None:
    """Add numbers up over all processes, and give each of them a part of the sums."""
    with group.task(reduce_scatter, size) as body:
        count = len(group)
        moved = (count - 1) / count * payload(size, count)
        measure(body, work=Work(bytes=moved, path="network"), check=body.check)


@cases(size=STANDARD)
@cases("rigorous", size=SIZES)
def bench_broadcast(measure: Measure, group: Group, size: int) -> None:
    """Give every process the numbers of the first."""
    with group.task(broadcast, size) as body:
        measure(body, work=Work(bytes=size, path="network"), check=body.check)


@cases(size=STANDARD)
@cases("rigorous", size=SIZES)
def bench_all_to_all(measure: Measure, group: Group, size: int) -> None:
    """Give every process a part of the numbers of each."""
    with group.task(all_to_all, size) as body:
        count = len(group)
        moved = (count - 1) / count * payload(size, count)
        measure(body, work=Work(bytes=moved, path="network"), check=body.check)


@cases("quick", size=[MIB])
@cases(size=[16 * MIB])
def bench_neighbours(measure: Measure, group: Group, size: int) -> None:
    """Send numbers from each process to the next one, all at once; the last sends to the first."""
    with group.task(neighbours, size) as body:
        measure(body, work=Work(bytes=size, path="network"), check=body.check)


@cases("quick", width=[256, 2048], tokens=[128, 1024], way=["alone", "ddp"], scaling=["weak"])
@cases("quick", width=[256, 2048], tokens=[0], way=["exchange"], scaling=["weak"])
@cases(width=WIDTHS, tokens=[1024], way=["alone", "ddp", "fsdp"], scaling=["weak"])
@cases(width=[2048], tokens=[512, 4096], way=["alone", "ddp"], scaling=["weak"])
@cases(width=WIDTHS, tokens=[0], way=["exchange"], scaling=["weak"])
@cases(width=WIDTHS, tokens=[1024], way=["ddp", "fsdp"], scaling=["strong"])
def bench_step(  # noqa: PLR0913, PLR0917 - a parameter each
    measure: Measure, group: Group, width: int, tokens: int, way: str, scaling: str
) -> None:
    """Take a step of training on all processes at once, or exchange its gradients alone."""
    with group.task(step, width, tokens, way, scaling) as body:
        measure(body, work=Work(items=1), check=body.check)


@cases(width=[512, 4096], micro=[1, 4, 16], way=["alone", "pipeline"])
@cases("rigorous", width=WIDTHS, micro=[1, 2, 4, 8, 16], way=["alone", "pipeline"])
def bench_pipeline(measure: Measure, group: Group, width: int, micro: int, way: str) -> None:
    """Send micro-batches forward and backward through a layer on each process, or alone."""
    with group.task(pipeline, width, micro, way) as body:
        measure(body, work=Work(items=1), check=body.check)
