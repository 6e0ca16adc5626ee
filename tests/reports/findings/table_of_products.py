# SPDX-License-Identifier: MIT
"""Answers about matrix products: one at a time, the fastest, and several side by side."""

from tests.reports.findings.table import FOUR, HALVES, PAIR

EIGHT = "cuda:0+cuda:1+cuda:2+cuda:3+cuda:4+cuda:5+cuda:6+cuda:7"
SIZES = "n=16,64,128,256,1024 dtype=float32"
TABLE = f"""
## matmul
# the speed-up is of one size on all machines, paired within launches
+ square | cpu | n=16,64,128,256,1024,4096 dtype=float32 | 2e-05x^3 | flops=2x^3
+ square | cuda:0 | n=16,64,128,256,1024,4096 dtype=float32 | 41.94304 | flops=2x^3 device=0
+ square_with_copies | cuda:0 | n=16,64,128,256,1024 | 100 | flops=2x^3
* speed-up | 512 512 512 | 512… in float32 at n = 1,024. → Up to n = 64 in float32 stay on the CPU.
= speed-up-at-ends | 32768 | 32,770… of the CPU on the NVIDIA H200 in float32 at n = 4,096. → …
= crossover | 128 64 128 | …From somewhere between n = 64 and n = 128.
= crossover-with-copies | 170.9976 128 256 | …
= best-rate-cuda:0 | | … n = 4,096 in bursts… → Half of the float32 rate needs n of 4,096 or more.
= best-rate-cpu | 1e11 | 100 GFLOP/s […] in float32 at n = 16.
# a speed-up at another size is not given
+ square | cpu | n=16,64,128,256 dtype=float32 | 2e-05x^3 | flops=2x^3
+ square | cuda:0 | {SIZES} | 41.94304 | flops=2x^3
- square | device=cpu n=1024 dtype=float32 | takes 3 s
* best-rate-cuda:0 | | …
= speed-up | | Not measured: takes 3 s.
# a failed case answers nothing and its reason stands there instead | status=failed
+ square | cpu | {SIZES} | 2e-05x^3 | flops=2x^3
+ square | cuda:0 | n=16 dtype=float32 | 0.001 | flops=2x^3
- square | device=cuda:0 n=16 dtype=float32 | off by 3
= speed-up | | …off by 3.
# a crossover that some launches miss has no number
+ square | cpu | {SIZES} | 2e-05x^3 | flops=2x^3
+ square | cuda:0 | n=16,64,256,1024 dtype=float32 | 41.94304 | launches=1e13*3,1*5
= crossover | none | …(5 of 8 launches get there by n = 1,024).
# without an accelerator the CPU leads, by the best rate of the best precision that was made
+ square | cpu | {SIZES} | 2e-05x^3 | flops=2x^3
+ square | cpu | n=16,64,128,256,1024 dtype=bfloat16 | 1e-05x^3 | flops=2x^3
+ square | cpu | n=16 dtype=tfloat32 | 1e-9 | flops=2x^3 check=0,float32
+ square_cold | cpu | {SIZES} | 4e-05x^3
* best-rate-cpu | 2e11 | 200 GFLOP/s […] in bfloat16 at n = 16.…
= crossover | | Not measured: no accelerator.
= cold-product-cpu | 2 | …x […] as long with cold caches at n = 16. → Up to n = 1,024 keep…
~ rate-cpu | float32 / bfloat16 | 16; 64; 128; 256; 1024
# a rate is that of the device in bursts, as a part of its datasheet's peak; a graph has its gain
+ square,square_graph | cuda:0 | n=16 dtype=float32 | 12 5
+ square | cuda:0 | n=4096 dtype=bfloat16 | 1000 | flops=137438953472 device=800 sustained=900
* best-rate-cuda:0 | 1.717987e14 | … bfloat16 at n = 4,096 in bursts, 17% […] of the datasheet's…
= graph | 2.4 | 2.400x […] as fast from a graph at n = 16.
# an accelerator that was left out is not called absent | accelerators=1 devices=cpu
+ square | cpu | {SIZES} | 2e-05x^3 | flops=2x^3
= speed-up | | Not measured: the run left the accelerator out.
## attainable_peak
# the fastest precision of the accelerator leads with its shape and how sure it is
+ product | cpu | dtype=float32 | 1.5e6 | flops=1.5e11 search=alone
+ product | cuda:0 | dtype=float32,bfloat16 | 375 250 | flops=1.5e11 search=0.985
    launches=0.8,1,2.5
- product_narrow | device=cuda:0 dtype=int8 | no int8 here
* peak-cuda:0 | 6e14 | At least 750 TFLOP/s (median: 600 TFLOP/s […]) in bfloat16, in bursts, …% […]
    of the datasheet's dense bfloat16 peak (989 TFLOP/s at a boost clock of 1.83 GHz); 4,096 x 8,192
    x 2,048 on the NVIDIA H200. → Use bfloat16 where its precision is enough.
= searched-cuda:0 | | In bfloat16: 87 shapes tried in 3.1 s; the runner-up reaches 98.5% …float32: …
= peak-cpu | 1e11 | At least 125 GFLOP/s (median: …) in float32, in bursts; 4,096…
~ peak | NVIDIA H200 | bfloat16=6e14; float32=4e14
~ peak | CPU | float32=1e11
# what was made in TF32 is called so and not advised if it is not faster; it leads by what lasts
+ product | cuda:0 | dtype=float32 | 260 | flops=1.5e11 search=0.996 launches=0.9,1.2 sustained=310
+ product | cuda:0 | dtype=tfloat32 | 250 | flops=1.5e11 check=1e-06,tfloat32 sustained=300
* peak-cuda:0 | 5e14 | … in tfloat32, sustained; at least 750 TFLOP/s in bursts…NVIDIA H200.
= searched-cuda:0 | | In tfloat32: the shape was not searched for; in …; the runner-up ties.
# float32 is not advised where it is the fastest
+ product | cpu | dtype=bfloat16,float32 m=2048 n=2048 k=2048 | 2e4 16000 | flops=1e12
* peak-cpu | 6.25e13 | … in float32, …the CPU.
= peak-accelerator | | Not measured: no accelerator.
## parallel_matmul
# products are split from the size on that gains
+ process_sequence | {HALVES} | n=64,256,1024 | 2000 | items=2
+ processes | {HALVES} | n=64,256,1024 | 4000 1333.33333333 1041.66666667 | items=2
* efficiency-processes-{HALVES} | 0.96 | 96.00% …at n = 1,024. → Split products from n = 256 on.
= threshold-processes-{HALVES} | 1011.209 256 1024 | From somewhere between n = 256 and n = 1,024.
# nearly twice as fast is reached where the cost of starting fades
+ process_sequence | {HALVES} | n=64,256,1024 | 8e-05x^3 | items=2
+ processes | {HALVES} | n=64,256,1024 | 20.97152 681.5744 42960.15872 | items=2 concurrency=0.9
+ processes_in_turn | {HALVES} | n=64,256,1024 | 8e-05x^3 | items=2 concurrency=0
- one_thread | device=none n=64 | needs two accelerators; 0 measured here
~ efficiency-{HALVES} | begun by a process each | 64; 256; 1024
= threshold-processes-{HALVES} | 170.7777 64 256 | From somewhere between n = 64 and n = 256.
= overlap-processes-{HALVES} | 0.9 | 90.00% […] of the time that they can share, at n = 1,024.
= efficiency-accelerators | | Not measured: needs two accelerators; 0 measured here.
= streams | | Not measured: no accelerator.
# two streams are compared with a sequence
+ sequence,two_streams | cuda:0 | n=1024 | 2000 1600 | items=2
* efficiency-accelerators | | Not measured: the run has no such case.
= streams | 1.25 | 1.250x […] as fast in two streams as in sequence, n = 1,024.
= overlap-streams | | Not measured: no control strictly in turn.
# more and more devices are followed from two to all
+ sequence | cuda:0 | n=64,512 | 2000 | items=2
+ one_thread | {EIGHT} | n=64,512 | 1800 | items=8
+ one_thread | {FOUR} | n=64,512 | 1400 | items=4
+ one_thread | {PAIR} | n=64,512 | 1200 | items=2
* scaling-one_thread | 0.5555556 | 55.56% […] of 8 times as fast as one, n = 512.
= efficiency-one_thread-{PAIR} | 0.8333333 | … → Split products from n = 64 on.
~ scaling | begun by one thread, n = 512 | 2=0.8333333; 4=0.7142857; 8=0.5555556
~ efficiency-{PAIR} | begun by one thread | 64=0.8333333; 512=0.8333333
# a group without a common size is no part of a series
+ sequence | cuda:0 | n=64,512,1024 | 2000 | items=2
+ one_thread | {PAIR} | n=64,512 | 2400 | items=2
+ one_thread | {FOUR} | n=64,512 | 1400 | items=4
+ one_thread | {EIGHT} | n=1024 | 1000 | items=8
* efficiency-one_thread-{PAIR} | 0.4166667 | … → Do not split products up to n = 512.
! scaling-one_thread
"""
