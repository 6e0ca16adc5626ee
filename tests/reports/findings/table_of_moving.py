# SPDX-License-Identifier: MIT
"""Answers about moving data: copies, where tensors are created, and parameters."""

from tests.reports.findings.table import FOUR, PAIR

SIZES = "size=4,1024,262144,67108864"
TABLE = f"""
## copies
# a link has a latency, a bandwidth and a size that gets half of it
+ to_device | cuda:0 | {SIZES} memory=pageable | 20 + 0.0001x | bytes=1x
* bandwidth-to-device-cuda:0 | 1e10 | 10… GB/s […] for copies from pageable memory to the NVIDIA
    H200, 16…% […] of the link's rate in one direction (63 GB/s, PCIe 5.0 x16); a latency of 20 µs
    […]; half of that bandwidth at 195.3 KiB […]. → Join copies below 195 KiB.
~ bandwidth-cuda:0 | to it, pageable / the link, one way: 63 GB/s
# where no line fits there is a rate and no latency
+ to_host | cuda:0 | {SIZES} memory=pinned | 20.0004 20.1024 46.2144 33654.432 | bytes=1x
* rate-to-host-pinned-cuda:0 | 1994057000 | … for 64 MiB from the NVIDIA H200 to pinned memory, 3.2%
    […] of the link's rate in one direction (…); 20 µs […] for 4 B. → Join small copies.
# a copy within a device reads and writes, but its size is that of the tensor
+ within | cpu | {SIZES} | 20 + 0.0001x | bytes=2x
- between | device=none size=4 | needs two
* bandwidth-within-cpu | 2e10 | … half of that bandwidth at 195.3 KiB […].…
= to-device, between, non-blocking, both-ways | | Not measured: no accelerator.
# a launch that was disturbed does not hide the line of the others
+ within | cpu | size=4,1024,16384,4194304,67108864 | 20 + 0.0001x | launches=1 bytes=1x
+ within | cpu | size=262144 | 46.2144 | launches=1*4,3,1*3 bytes=262144
* bandwidth-within-cpu | 1e10 | 10.0 GB/s [9.4, 10.0] …; a latency of 20.0 µs [20.0, 20.6]; half …
# a cache that is left is no line
+ within | cuda:0 | size=4,1024,16384,262144,4194304,67108864 | 20.0004 20.1024 21.6384 52
    1757.7216 26923.5456 | launches=1 bytes=1x
* rate-within-cuda:0 | | … → Work in pieces of 256 KiB or less: caches copy them faster.
~ bandwidth-within | NVIDIA H200 / accelerator's memory: 4.8 TB/s
# both directions at once are compared with their control in turn
+ both_ways | cuda:0 | {SIZES} | 20 + 0.0001x | bytes=2x concurrency=0.8
* both-ways | 1.4 | 1.400x […] as fast both at once as strictly in turn, 64 MiB each way.
# copies that are not waited for hold the thread less long, and slow those of other devices down
+ to_device | cuda:0 | {SIZES} memory=pinned | 20 + 0.0001x | bytes=1x enqueue=6700
+ to_device | cuda:0 | {SIZES} memory=non_blocking | 20 + 0.0001x | bytes=1x enqueue=5
+ all_at_once | {PAIR} | size=67108864 direction=to_device | 6730.8864 | bytes=134217728
+ all_at_once | {FOUR} | size=67108864 direction=to_device | 13461.7728 | bytes=268435456
= non-blocking | 5e-06 | 5… µs […] for launching a non_blocking copy of 64 MiB.
= all-to-device-{PAIR} | 1 | … of 2 times the rate of one copy alone, 64 MiB each.
= all-to-device-{FOUR} | 0.5 | … of 4 times the rate of one copy alone, 64 MiB each.
# cold caches are compared with warm ones size by size; an array and a print have their times
+ within | cpu | {SIZES} | 20 + 0.0001x | bytes=2x
+ within_cold | cpu | {SIZES} | 160.0032 80.4096 69.3216 7000.121856
= cold-copy-cpu | 8 | 8.000x […] … at 4 B. → Up to 256 KiB keep inputs in the caches.
~ cold-copy | CPU | 4=8; 1024=4; 262144=1.5; 67108864=1.04
+ numpy | cpu | size=4096,16777216 | 1
+ print | cpu | size=4,4000 | 4 4000
= numpy-cpu | 1e-06 | … for a NumPy array of 16 MiB, which shares its memory.
= print-cpu | 0.004 | … for printing 1,000 numbers.
## placement
# the detour is a ratio for the largest, and a line beside the direct way
+ create | cuda:0 | n=64,4096,1048576 values=randn | 10 + 1e-06x | bytes=4x
+ create_then_move | cuda:0 | n=64,4096,1048576 values=randn | 30 + 0.001x | bytes=4x
+ create | cpu | n=64,4096,1048576 values=randn | 1 + 0.001x | bytes=4x
+ stay | cpu | n=64,4096,1048576 | 1 + 1e-09x
* detour-randn | 97.62127 | … random numbers on the NVIDIA H200. → Create tensors with device=.
= create-randn-cuda:0 | 1.104858e-05 | …
~ create-randn | on the CPU, then moved to the NVIDIA H200 / on the NVIDIA H200 / on the CPU
~ move | CPU, to, on the device already
# without an accelerator the CPU answers, and the rest says why not
+ create | cpu | n=64,4096,1048576 values=randn | 1 + 0.001x | bytes=4x
+ create | cpu | n=64,4096,1048576 values=full | 1 + 0.0006x | bytes=4x
- create_then_move | device=none n=64 | no accelerator
* create-randn-cpu | 0.001049576 | … to draw 1,048,576 random numbers on the CPU. → Do not draw…
= create-full-cpu | 0.0006301456 | … to write 1,048,576 equal numbers on the CPU.
= detour-randn, detour-full, move | | Not measured: no accelerator.
# two ways to move are compared, and what stays takes the thread a moment
+ move | cuda:0 | n=64,4096,1048576 | 20 + 0.001x
+ empty_then_copy | cuda:0 | n=64,4096,1048576 | 25 + 0.00125x
+ stay | cuda:0 | n=64,4096,1048576 | 15 + 1e-09x | enqueue=0.5
+ stay | cpu | n=64,4096,1048576 | 0.3 + 1e-09x
+ empty_then_copy | cpu | n=64,4096,1048576 | 1 + 0.001x
* move | 1.25 | 1.250x […] as long by empty_like and copy_ as by to, 1,048,576 numbers.
= stay-cuda:0 | 5e-07 | … for 1,048,576 numbers, of which none is copied.
= stay-cpu | 3.010486e-07 | …
## parameters
# the best way to read and to write is advised
+ read_state_dict,read_flat | cpu | parameters=1000000 | 3000 2000 | bytes=4e6 items=32
+ write_rebuild,write_copy,write_load | cpu | parameters=1000000 | 2e4 1000 2000 | bytes=4e6
* read-cpu | 0.002 | …, joined on the device, in one copy. → Read them joined on the device…
= write-cpu | 0.001 | …, in place with copy_. → Write them in place with copy_.
= move | | Not measured: no accelerator.
~ reading-1000000 | CPU | tensor by tensor; joined on the device, in one copy
# an interval wider than a factor of two supports none
+ read_state_dict | cpu | parameters=1000000 | 1000 | launches=0.333333333333,3 bytes=4e6 items=32
+ read_flat | cpu | parameters=1000000 | 1001 | launches=3,1,1 bytes=4e6 items=32
+ write_rebuild | cpu | parameters=1000000 | 2e4 | bytes=4e6
+ read_state_dict | cuda:0 | parameters=1000000 | 2000 | launches=1.01,1 bytes=4e6 items=32
+ read_flat | cuda:0 | parameters=1000000 | 1990 | launches=1,1.01 bytes=4e6 items=32
= write-cpu | | Not measured: a single way was measured.
* read-cuda:0 | | … → Read them tensor by tensor: nothing was measurably faster.
= read-cpu | | 1.0 ms [1.0, 3.0] to read 1,000,000 parameters, joined on the device, in one copy.
"""
