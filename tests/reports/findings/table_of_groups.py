# SPDX-License-Identifier: MIT
"""Answers about several devices and nodes: split batches, split models, and networks."""

from tests.reports.findings.table import FOUR, HALVES, PAIR

TABLE = f"""
## data_parallel
# several devices are compared with one, the ways with each other, and a share with its time
+ one_device | cuda:0 | size=medium batch=1,64,2048 | 100 + 1x | items=1x
+ by_hand | {PAIR} | size=medium batch=1,64,2048 | 500 + 0.5x | items=1x
+ data_parallel | {PAIR} | size=medium batch=1,64,2048 | 1000 + 1x | items=1x
+ forward | cuda:0 | size=medium batch=2048 | 6000 | items=2048
+ forward_parts | {PAIR} | size=medium batch=2048 part=replicate,scatter,parallel_apply,gather,whole
    | 3000 1000 4000 2000 9800 | items=2048
* speed-up-by_hand-{PAIR}-medium | 1.409449 | … by hand, a batch of 2,048. → Split batches of 2,048.
= threshold-by_hand-{PAIR}-medium | 800 64 2048 | …between a batch of 64 and a batch of 2,048.
= speed-up-data_parallel-{PAIR}-medium | 0.7047244 | 0.7047x [0.7047, 0.7047] the speed of one
    NVIDIA H200 with nn.DataParallel, a batch of 2,048. → Do not split batches of 2,048 or fewer.
= threshold-data_parallel-{PAIR}-medium | none | At no size measured, up to a batch of 2,048.
= best-{PAIR}-medium | 2 | … by hand as with nn.DataParallel, a batch of 2,048. → Train by hand.
= loss-{PAIR}-medium | 0.6938776 | 69.39% […] of a forward pass, with a batch of 2,048.
~ parts-{PAIR}-medium | replicate / scatter / parallel_apply / gather | 2,048 samples
~ parts-{PAIR}-medium | all at once | 2,048 samples=0.0098
~ speed-up-{PAIR}-medium | by hand / with nn.DataParallel | 1; 64; 2048
# processes are compared with one process, by their steps however many are in a sample
+ one_device | cuda:0 | size=medium batch=1,64,2048 | 900 + 9x | items=1x
+ one_process | {PAIR} | size=medium batch=1,64,2048 | 100 + 1x | items=1x
+ distributed | {PAIR} | size=medium batch=1,64,2048 | 5000 + 5x | items=10x
+ by_hand | {PAIR} | size=medium batch=1,64,2048 | 100 + 1x | items=1x
+ data_parallel | {PAIR} | size=medium batch=1,64,2048 | 900 + 9x | items=1x
+ by_hand | {PAIR} | size=small batch=64 | 100 | items=1x
= speed-up-data_parallel-{PAIR}-medium | 1 | … → Do not expect a gain from splitting batches of…
= best-{PAIR}-small | | Not measured: by hand is the only way that was measured.
* speed-up-by_hand-{PAIR}-medium | 9 | …
= speed-up-distributed-{PAIR}-medium | 1.409449 | …
= best-{PAIR}-medium | 1.409449 | … as fast with DistributedDataParallel as by hand, …
# halves of the CPU are compared with one half and named so
+ one_process | {HALVES} | size=medium batch=1,64,2048 | 100 + 1x | items=1x
+ distributed | {HALVES} | size=medium batch=1,64,2048 | 500 + 0.5x | items=1x
- by_hand | device=none size=medium batch=1 | needs two accelerators; 0 measured here
* speed-up-distributed-{HALVES}-medium | 1.409449 | … the speed of one half…, a batch of 2,048.…
= threshold-distributed-{HALVES}-medium | 800 | …
= speed-up-accelerators | | Not measured: needs two accelerators; 0 measured here.
! best-{HALVES}-medium, loss-{HALVES}-medium, speed-up-by_hand-{HALVES}-medium
## split_model
# the fastest placement leads, and the boundary is what splitting adds
+ forward,embedding,layers | cpu | tokens=64,256 | 1000 8000 250 2000 750 6000
+ forward,split_forward | cuda:0 | tokens=64,256 | 2000 2000 3000 5000
+ boundary,layers | cuda:0 | tokens=256 | 2500 500
+ step,split_step | cuda:0 | tokens=64 | 2000 7000
* placement | 0.002 | … 256 words all on the NVIDIA H200. → With 256 words run it all on the…
= boundary | 0.003 | 3… ms […] more for a forward pass of 256 words.
= training | 3.5 | 3.500x […] as long in training when split, 64 words.
= embedding-cpu | 0.25 | 25.00% […] of a forward pass of 256 words.
~ parts | embedding | all on the CPU=0.002; split between the CPU and the NVIDIA H200=0.002
~ parts | boundary | split between the CPU and the NVIDIA H200=0.0025
~ parts | layers | all on the CPU=0.006; split between the CPU and the NVIDIA H200=0.0005
~ parts | the whole pass | all on the CPU=0.008; split between the CPU and the NVIDIA H200=0.005
# an embedding of 70% of the pass, and one of 9%
+ embedding,forward | cpu | tokens=16384 | 7e4 1e5
+ embedding,forward | cuda:0 | tokens=16384 | 9e3 1e5
= embedding-cpu | | 70… → Make the embedding faster before the layers.
= embedding-cuda:0 | 0.09 | … → Leave the embedding where it is.
# a pipeline of 4 equal stages has the bubble of theory, and shares its time
+ one_device | cuda:0 | n=1024 micro=1,4,8 | 1e6
+ pipeline | {FOUR} | n=1024 micro=1 | 1e6 | concurrency=0 busy=1e6
+ pipeline | {FOUR} | n=1024 micro=4 | 437500 | concurrency=0.75 busy=1e6
+ pipeline | {FOUR} | n=1024 micro=8 | 343750 | concurrency=0.875 busy=1e6
+ pipeline | {PAIR} | n=1024 micro=1 | 1e6 | concurrency=0 busy=1e6
+ forward | cuda:0 | tokens=64 | 2000
= placement | | Not measured: no two placements have a number of words in common.
= pipeline-{PAIR} | 1 | … as one device, in one piece.
= overlap-{PAIR} | | Not measured: there is no batch in one piece beside one in several.
* pipeline-{FOUR} | 2.909091 | … as fast as one device, in 8 …
= bubble-{FOUR} | 0.2727273 | … in 8 micro-batches; equal stages must wait for 27…%.
= overlap-{FOUR} | 0.875 | …
~ pipeline-{FOUR} | measured | 1=1; 4=2.28571; 8=2.90909
~ pipeline-{FOUR} | equal stages, nothing else | 1=1; 4=2.285714; 8=2.909091
# independent models are compared with a sequence on the first device
+ tasks_in_sequence | cuda:0 | n=1024 | 2e6 | items=2
+ tasks_at_once | {FOUR} | n=1024 | 1.25e6 | items=4
* tasks-{FOUR} | 3.2 | 3.200x […] as fast as 4 models in turn on one of them, width …
## collectives
# a message takes half a round trip over the slower link | links=1.25e9,2.5e9,1e9
+ send_receive | cpu/2x1 | size=8,65536,1048576,16777216 | 100 + 0.002x | bytes=2x path=network
* bandwidth-send-and-receive-cpu/2x1 | 1e9 | 1… of bus bandwidth, 80% [65, 96] of the link (1.25
    GB/s); a latency of 50 µs [42, 62]. → Join messages below 48.8 KiB.
~ bandwidth-cpu/2x1 | send and receive / link: 1.25 GB/s
# an all-reduce counts what each link carries; one unknown link has no part | links=1e9,1e9,1e9,
+ all_reduce | cpu/4x1 | size=8,65536,1048576,16777216 | 50 + 0.0015x | bytes=1.5x path=network
+ send_receive | {PAIR} | size=8,16777216 | 100 33554.432 | bytes=2x
= bandwidth-all-reduce-cpu/4x1 | 1e9 | 1,000 MB/s […] of bus bandwidth; a latency of 50 µs […].…
* rate-send-and-receive-{PAIR} | 1e9 | … of bus bandwidth at 16 MiB; 50… µs […] for 8 B.
# without a group the reason is the answer | expression=matmul
* absent | | Not measured: not among the cases that -k 'matmul' selects.
# a slow node is named | links=,,
+ neighbours | cpu/3x1 | size=16777216 | 2e6 | bytes=1x to_rank_0=2e6 to_rank_1=1e6 to_rank_2=2e6
* slowest-cpu/3x1 | 2 | The link of node 2 is slow: 2.000x […] as …
# a slow link is named | links=,,
+ neighbours | cpu/3x1 | size=16777216 | 2e6 | bytes=1x to_rank_0=1e6 to_rank_1=2e6 to_rank_2=1e6
* slowest-cpu/3x1 | 2 | One link is slow: 2.000x […] as long as from node 2 to node 0; 8.4 MB/s […]
    from node 0 to node 1. → Look at that link before you tune the training.
# no little is named | links=,,
+ neighbours | cpu/2x1 | size=16777216 | 12 | bytes=1x to_rank_0=12 to_rank_1=10
* slowest-cpu/2x1 | none | No link…: 1.4 TB/s […] from node 1 to node 0, the slowest of 2 links.
# links within a node are not the network's, and several slow ones are counted | links=,,,
+ neighbours | cuda/4x2 | size=16777216 | 90 | bytes=1x to_rank_0=20 to_rank_1=90 to_rank_2=10
    to_rank_3=90 to_rank_4=20 to_rank_6=10
* slowest-cuda/4x2 | 2 | 2 of 4 links are slow: … from node 0 to node 1; … from node 3 to node 0.…
# scaling is the bus bandwidth that more nodes keep | links=,,,,,,,
+ all_reduce | cpu/2x1 | size=8,65536,1048576,16777216 | 50 + 0.001x | bytes=1x path=network
+ all_reduce | cpu/8x1 | size=8,1048576,16777216 | 50 + 0.0035x | bytes=1.75x path=network
* bandwidth-all-reduce-cpu/8x1 | 500000000 | …
= scaling-all-reduce | | 50.…% […] of the bus bandwidth of 2 nodes with 8, 16 MiB.
# a step scales as it takes longer than one that exchanges nothing
+ step | cpu/4x1 | width=256 tokens=1024 way=alone,ddp,fsdp,exchange scaling=weak | 1e6
    1.25e6 2e6 5e5 | items=1
+ step | cpu/4x1 | width=256 tokens=1024 way=ddp scaling=strong | 5e5 | items=1
+ pipeline | {PAIR} | width=256 micro=1 way=alone,pipeline | 1e6 1.25e6 | items=1
* pipeline-{PAIR} | 0.8 | … with 1 micro-batch; … would leave 1x. → Do not split a batch.
= scaling-ddp-weak-cpu/4x1 | 0.8 | … as many tokens on each, a layer of 786,944 parameters.
= scaling-ddp-strong-cpu/4x1 | 0.5 | …
= scaling-fsdp-weak-cpu/4x1 | 0.5 | …
= hidden-cpu/4x1 | 0.5 | With 1,024 tokens a process, the most measured, 50… is hidden.
! scaling-fsdp-strong-cpu/4x1, scaling-all-reduce
# communication hides from the tokens whose step is no longer for it | links=,
+ step | cpu/2x1 | width=256,512,1024 tokens=1024 way=alone scaling=weak | 1e6 | items=1
+ step | cpu/2x1 | width=256,512,1024 tokens=1024 way=ddp scaling=weak | 1e6 1.5e6 1e6 | items=1
+ step | cpu/2x1 | width=256,512,1024 tokens=0 way=exchange scaling=weak | 5e5 1e6 5e5 | items=1
+ step | cpu/2x1 | width=512 tokens=4096 way=alone,ddp scaling=weak | 2e6 19e5 | items=1
= hidden-cpu/2x1 | 1 | From 4,096 tokens a process on, 100… is hidden.
~ scaling-cpu/2x1 | DistributedDataParallel, weak | 256=1; 512=0.666667; 1024=1
# a pipeline has the speedup of its best number of micro-batches, below the limit | links=,
+ pipeline | cpu/2x1 | width=256,1024 micro=4 way=alone | 1e6 | items=1
+ pipeline | cpu/2x1 | width=256,1024 micro=4 way=pipeline | 1e5 8e5 | items=1
+ pipeline | cpu/2x1 | width=1024 micro=1,16 way=alone | 1e6 | items=1
+ pipeline | cpu/2x1 | width=1024 micro=1,16 way=pipeline | 1.25e6 625000 | items=1
* pipeline-cpu/2x1 | 1.6 | … would leave 1.88x. → Split a batch into 16 micro-batches.
~ pipeline-cpu/2x1 | measured | 1=0.8; 4=1.25; 16=1.6
~ pipeline-cpu/2x1 | filling and emptying alone | 1=1; 4=1.6; 16=1.882353
"""
