# SPDX-License-Identifier: MIT
"""Answers about loops of small operations, and trainings that report losses."""

PAIR = "cuda:0+cuda:1"
NET = "network=small batch=64"
TABLE = f"""
## norm_logging
# reading every norm back has a penalty, a time and a place among the parts of a step
+ launch_only,norm_only,log_kept | cpu | steps=1000 | 5000 25000 26000 | items=1000
+ log_on_device,item | cpu | steps=1000 | 28000 35000 | items=1000
+ read_ready,read_ready_log | cpu | steps=1000 | 9000 2000 | items=1000
* penalty-cpu | 1.25 1.25 1.25 | 1.250x [1.250, 1.250] as long as with a log that is read once. →
    Keep the log on the device and read it once.
= length-cpu | | Not measured: a single size was measured, 1,000 steps.
= read-back-cpu | 7e-06 | 7… µs […] for a read-back, against a log.
= parts-cpu | 1e-05 | 10… µs […] of a step for reading its norm back.
= sum-cpu | 0.9714286 | 97.14% […] of the loop that reads each norm back.
~ parts | launching / computing | CPU: .item() at every step; CPU: log on the device, one .tolist()
    at the end
~ parts | keeping the log | CPU: log on the device, one .tolist() at the end=1e-06
~ parts | reading back | CPU: .item() at every step=1e-05; CPU: log on the device, one .tolist() at
    the end=2e-06
# a ratio of (0.98, 1.02) is said as far as it is conclusive
+ log_on_device | cpu | steps=1000 | 1000 | launches=1 items=1000
+ item | cpu | steps=1000 | 1000 | launches=0.98,1.02 items=1000
+ log_on_device,item | cuda:0 | steps=1000 | 1000 900 | items=1000
* penalty-cuda:0 | 0.9 | No cost: 0.9000x […] as long as with a log that is read once.
= penalty-cpu | | No measurable difference: … → Read norms back when you like.
# a ratio of (0.9, 2.8) is said as far as it is conclusive
+ log_on_device | cpu | steps=1000 | 1000 | launches=1 items=1000
+ item | cpu | steps=1000 | 1000 | launches=0.9,2.8 items=1000
* penalty-cpu | | 1.8x […] as long as with a log that is read once.
# the length of the log stops mattering where its fixed cost is spread
+ log_on_device | cpu | steps=1,10,100,1000 | 40 + 20x | items=1x
* length-cpu | 38.38772 10 100 | From somewhere between 10 steps and 100 steps.
# many reasons are counted and the first is named
+ log_on_device | cpu | steps=1000 | 2e4 | items=1000
- item | device=cpu steps=10 | takes 1 s
- item | device=cpu steps=100 | takes 2 s
- item | device=cpu steps=1000 | takes 3 s
* penalty-cpu | | Not measured: takes 1 s; and 2 other reasons.
## many_or_one
# what each operation adds is its cost
+ pieces | cuda:0 | pieces=1,10,100,1000,10000 | 12 + 4x | items=1x
- pieces_graph | device=cuda:0 pieces=1000 | no graphs here
- chain_compiled | device=cuda:0 n=64 | no compiler here
* launch-cuda:0 | 4e-06 | 4… µs […] …
= graph | | Not measured: no graphs here.
= compile-cuda:0 | | Not measured: no compiler here.
# a line ends where the times leave it
+ pieces | cuda:0 | pieces=1,10,100,1000,10000 | 16 52 412 4012 80024 | items=1x
* launch-cuda:0 | 4e-06 | …
# where no line fits there is no launch
+ pieces | cuda:0 | pieces=1,10,100,1000,10000 | 10 31.6227766017 100 316.227766017 1000 | items=1x
* operation-cuda:0 | 1e-07 | … for each of 10,000 operations on the NVIDIA H200.
! launch-cuda:0
# a launch is hidden where a queue takes twice as long
+ chain | cuda:0 | n=0,1,64,65536 | 400 | items=100
+ chain_large | cuda:0 | n=131072,262144,524288,1048576,2097152 | 400 414.5728 729.1456 1358.2912
    2616.5824 | items=100
* hidden-cuda:0 | 583333.3 | …
~ size | NVIDIA H200 | 1; 64; 65536; 131072; 262144; 524288; 1048576; 2097152
# one call and a graph have their gains
+ pieces | cuda:0 | pieces=1,10,100,1000,10000 | 12 + 4x | items=1x
+ pieces_foreach | cuda:0 | pieces=1000 | 501.5 | items=1000
+ pieces_graph | cuda:0 | pieces=1000 | 250.75 | items=1000
= foreach-cuda:0 | 8 | …
= graph | 16 | … a recorded graph, 1,000 operations.
~ operations | NVIDIA H200, one after the other / NVIDIA H200, one call of torch._foreach_mul
~ operations | NVIDIA H200, replaying a recorded graph | 1000=0.00025075
# compiling has its gain, its time and the calls that make up for it
+ chain | cpu | n=64,65536 | 200.64 855.36 | items=100
+ chain_compiled | cpu | n=64,65536 | 100.0128 113.1072 | items=100 compile=3e6
* compile-cpu | 2.006143 | … → Compile what is called more than 29,810 times.
~ size | CPU / CPU, compiled
## loss_reporting
# the slow-down is the ratio of pairs, and drawn by how rarely losses are read
+ reading | cpu | {NET} every='5' | 6120 | items=1920 against=0.983660130719
+ reading | cpu | {NET} every='15' | 6040 | items=1920 against=0.996688741722
+ reading | cpu | {NET} every='1' | 6600 | items=1920 against=0.912121212121
+ reading | cpu | network=large batch=64 every='1' | 6600 | items=1920 against=1
= slow-down-large-64-cpu | 1 | … → Read the loss at every step.
= slow-down-small-64-cpu | 1.1 1.1 1.1 | … network. → Read losses back together, every few steps.
= every-small-64-cpu | 10 5 15 | From somewhere between once in 5 and once in 15.
= slow-down, loading, others | | Not measured: no accelerator.
! versions-bench_reading[cpu-small-64-5]
~ every | CPU: small, batches of 64 | 1=1.1; 5=1.02; 15=1.00667
~ every | CPU: large, batches of 64 | 1=1
# without the training that reads each loss its own reason is given
+ reading | cpu | {NET} every='5','15' | 6120 | items=1920 against=0.983660130719
- reading | device=cpu {NET} every='1' | takes 882 ms
= slow-down-small-64-cpu, every-small-64-cpu | | Not measured: takes 882 ms.
~ every | CPU: small, batches of 64 | 5; 15
# ways to load stand beside data on the device
+ loading | cuda:0 | {NET} memory=pageable | 7800 | items=1920 against=0.769230769231
+ loading | cuda:0 | {NET} memory=pinned,prefetched,at_once | 6900 | items=1920 against=0.9
* loading-small-64-cuda:0 | 1.3 | 1.300x […] as long with …
~ loading | NVIDIA H200: small, batches of 64 | each batch from pageable memory; each batch from
    pinned memory; each batch prefetched; all data in one copy
# others are compared by when they were at work, on {PAIR} | accelerators=4
+ one_thread | {PAIR} | {NET} reading=nobody | 1e5 | span=1e6
+ one_thread | {PAIR} | {NET} reading=first | 1e5 | span=1.6e6
+ threads | {PAIR} | {NET} reading=nobody,first | 1e5 | span=1e6
* others-one_thread-small-64-{PAIR} | 1.6 | …, driven by one thread.
= others-threads-small-64-{PAIR} | 1 | No measurable difference: …
# loading without a silent twin is answered as any benchmark is | accelerators=0
+ loading | cuda:0 | {NET} memory=pinned | 1000
! loading
"""
