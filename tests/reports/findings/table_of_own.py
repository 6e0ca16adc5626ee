# SPDX-License-Identifier: MIT
"""Answers about benchmarks without rules of their own, and about two versions of one."""

TABLE = """
## a_sort
# the speed-up at the largest size of both leads and advises
+ sort | cpu | n=10,1000,100000 | 0.01x | bytes=8x items=1x
+ sort | cuda:0 | n=10,1000,100000,10000000 | 90 + 0.001x | bytes=8x items=1x
* speed-up-sort-cuda:0 | 5.263158 | … at n = 100,000. → Up to n = 1,000 stay on the CPU.
= crossover-sort-cuda:0 | 10000 1000 100000 | From somewhere between n = 1,000 and n = 100,000.
= byte-rate-sort-cuda:0 | 7928642000 | … at n = 10,000,000; …% […] of the datasheet's memory…
= time-sort-cuda:0 | 0.01009 | …
! item-seconds-sort-cuda:0
# the crossover grows with the declared work
+ solve | cpu | n=8,512 | 0.512 134217.728 | flops=1x^3
+ solve | cuda:0 | n=8,512 | 1000.000512 1134.217728 | flops=1x^3
= crossover-solve-cuda:0 | 100.0334 8 512 | …
# a slower accelerator is called slower and the advice is the CPU
+ x | cpu | n=10,1000,100000 | 1e6
+ x | cuda:0 | n=10,1000,100000 | 2e6
+ y | cpu | n=10,1000,100000 | 2e6
+ y | cuda:0 | n=10,1000,100000 | 1e6
* speed-up-x-cuda:0 | 0.5 | … on the CPU at n = 100,000. → Stay on the CPU.
= crossover-x-cuda:0 | none | Do bench_x: At no size measured, up to n = 100,000.
= crossover-y-cuda:0 | none | Do bench_y: From n = 10, the smallest measured, or below.
# bytes through a network have a rate and no ceiling | accelerators=1
+ send | cpu/2x1 | | 1000 | bytes=1e6 path=network
+ send | cuda/4x2 | | 1000 | bytes=1e6 path=network
+ send | cpu/0+cpu/1 | | 1000 | bytes=1e6
= byte-rate-send-cpu/2x1 | 1e9 | 1.00 GB/s […] on 2 nodes.
= byte-rate-send-cuda/4x2 | 1e9 | 1.00 GB/s […] on 4 nodes with 2x NVIDIA H200.
= byte-rate-send-cpu/0+cpu/1 | 1e9 | 1.00 GB/s […] on two halves of the CPU.
# only items give the time of each
+ parse | cpu | n=1,2 | 1000 2000 | items=1000x
* item-seconds-parse-cpu | 1e-06 | 1… µs […] per item on the CPU at n = 2.
= speed-up-parse, crossover-parse | | Not measured: no accelerator.
# operations are a part of the fastest product in their precision
+ solve | cpu | n=10 dtype=float32,float64 | 1e5 | flops=1e10
+ matmul/square | cpu | n=1000 dtype=float32 | 1e4 | flops=2e09
* flop-rate-solve-cpu | 1e11 | … with dtype = float32; 50.00% […] of the fastest float32 product …
# without a measured ceiling the link's rate and the datasheet's peak count, none for a group
+ x | cuda:0 | | 1000 | flops=1e9 bytes=1e6 path=host check=0,bfloat16
+ x | cuda:0+cuda:1 | | 1000 | flops=1e9 check=0,bfloat16
* flop-rate-x-cuda:0 | | … of the datasheet's dense bfloat16 peak…
= byte-rate-x-cuda:0 | | … of the link's rate in one direction…
= flop-rate-x-cuda:0+cuda:1 | 1e12 | … TFLOP/s […] on 2x NVIDIA H200.
# what no device can run says why once
- x | device=none n=1 | needs two accelerators
! speed-up-x
* time-x | | Not measured: needs two accelerators.
# a single size has a speed-up and no crossover
+ sort | cpu | n=10 | 0.1 | bytes=80 items=10
+ sort | cuda:0 | n=10 | 90.01 | bytes=80 items=10
* speed-up-sort-cuda:0 | | 900.1x [900.1, 900.1] the speed of the NVIDIA H200 on the CPU…
! crossover-sort-cuda:0
~ bench_sort | NVIDIA H200 / CPU | sort
# what varies beside the size is named and the headline leads
+ sort | cpu | n=10,1000 dtype=float16 | 0.01x
+ sort | cpu | n=10,1000,100000 dtype=float64 | 0.01x | bytes=8 headline=no
+ sort | cuda:0 | n=10,1000,100000 dtype=float64 | 90 + 0.001x | bytes=8 headline=no
+ sort | cpu | n=10,1000,100000 dtype=float32 | 0.01x | bytes=8
+ sort | cuda:0 | n=10,1000,100000 dtype=float32 | 90 + 0.001x | bytes=8
* speed-up-sort-cuda:0 | | … at n = 100,000. → Up to n = 1,000 with dtype = float32 stay on the CPU.
= crossover-sort-cuda:0 | 10000 | …
~ bench_sort | NVIDIA H200, dtype = float32 / CPU, dtype = float32 / NVIDIA H200, dtype = float64 /
    CPU, dtype = float64
# of two sizes the one with more values is the axis
+ x | cpu | batch=1 n=0,10,20,30 | 1 + 1x^2 | flops=1x
+ x | cpu | batch=8 n=10,20,30 | 8x | flops=1x
* flop-rate-x-cpu | | … with batch = 1 at n = 10.
= time-x-cpu | | … with batch = 1 at n = 30.
~ bench_x | CPU, batch = 1 / CPU, batch = 8 | 10; 20; 30
# of several functions the one of the exercise's name leads and each is named
+ x | cpu | | 1000
+ a_sort | cpu | | 5
* time-a_sort-cpu | 5e-06 | Do bench_a_sort: 5… µs […] on the CPU.
= time-x-cpu | 0.001 | Do bench_x: …
# of two versions one that takes 1.25 times as long is told through all noise
+ new | cpu | | 1000 | against=1.25
= versions-bench_new[cpu] | 0.8 | …x […] as long. It is faster….
! bench_new
"""
