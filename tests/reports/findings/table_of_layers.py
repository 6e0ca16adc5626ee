# SPDX-License-Identifier: MIT
"""Answers about layers: transformers, contexts, weights, compiling, convolutions."""

CEILINGS = """\
+ attainable_peak/product | cuda:0 | dtype=bfloat16 | 1250 | flops=1e+12 search=alone
+ copies/within | cuda:0 | size=16777216 | 8.388608 | bytes=33554432"""
WIDE = "width=4096 layers=1 dtype=bfloat16"
LAYER = "width=4096 dtype=bfloat16"
TABLE = f"""
## transformer
# tokens are counted for each layer that they pass
+ train | cuda:0 | width=2048 layers=4 dtype=bfloat16 | 1e4 | flops=3.2e12 bytes=1.2e10 items=1000
+ train | cuda:0 | {WIDE} | 1e4 | flops=4.8e12 bytes=1.2e10 items=1000
{CEILINGS}
* train-cuda:0 | 100000 | 100,000 tokens/s […] per layer in training (width 4,096, bfloat16); 60.00%
    […] of the fastest bfloat16 product (800 TFLOP/s); 30.00% […] of the memory bandwidth (4.0
    TB/s); compute limits it. → For training choose by the rate of bfloat16 products.
~ tokens | NVIDIA H200, width 4,096, bfloat16 | training=100000
~ tokens | NVIDIA H200, width 2,048, bfloat16 | training=400000
# decoding answers by its replay and names the batch, and a graph by what it gains most
+ decode | cuda:0 | {WIDE} batch=1 | 3e4 | flops=8e10 bytes=8e9 items=1
+ decode | cuda:0 | {WIDE} batch=32 | 1e4 | flops=1.6e12 bytes=1.6e10 items=32
+ decode_graph | cuda:0 | {WIDE} batch=1 | 1e4 | flops=8e10 bytes=3.6e10 items=1
+ train,train_graph | cuda:0 | {WIDE} | 1e4 | flops=4.8e12 bytes=1.2e10 items=1000
{CEILINGS}
= decode-1-cuda:0 | 100 | … in decoding at batch 1 (width 4,096, bfloat16, replayed from a graph);
    …; memory bandwidth limits it. → For decoding at batch 1 choose by memory …
= decode-32-cuda:0 | 3200 | … decoding at batch 32 (width 4,096, bfloat16); …; none limits it alone.
= replay | 3 | … at batch 1 (width 4,096, bfloat16). → Replay decoding at batch 1 from a graph.
# work that a graph more than halves is limited by launching
+ prefill | cuda:0 | {WIDE} | 4e4 | flops=1.6e12 bytes=4e09 items=1000
+ prefill_graph | cuda:0 | {WIDE} | 1e4 | flops=6.4e12 bytes=1.6e10 items=1000
{CEILINGS}
* prefill-cuda:0 | 25000 | …; launching limits it. → Replay prefill from a graph.
# bytes that come faster than from memory come from caches and limit nothing
+ decode_narrow | cpu | width=256 layers=1 batch=1 | 1e4 | flops=8e11 bytes=1.2e11 items=1000
+ attainable_peak/product | cpu | dtype=float32 | 1250 | flops=1e12 search=alone
+ copies/within | cpu | size=16777216 | 8.388608 | bytes=33554432
* decode-1-cpu | | …of the memory bandwidth (4.0 TB/s), from caches.
- prefill_narrow | device=cpu width=256 | takes 3 s
= prefill-cpu | | Not measured: takes 3 s.
= train-accelerator | | Not measured: no accelerator.
# without ceilings in the run those of the datasheet serve
+ train | cuda:0 | {WIDE} | 1e4 | flops=4e12 bytes=1.2e10 items=1000
* train-cuda:0 | | …dense bfloat16 peak (989 …); …% […] of the datasheet's memory bandwidth (4.8…
## long_context
# rates are those of the longest, and attention outweighs products where both take as long
+ products | cuda:0 | tokens=1,2048,8192,32768 {LAYER} | 20 409.6 1638.4 6553.6 | flops=1e9
+ prefill | cuda:0 | tokens=2048,8192,32768 {LAYER} | 4e-05x^2 | flops=16000x^2 bytes=1e6 items=1x
+ decode | cuda:0 | cached=2048,8192,32768 {LAYER} | 0.001x | flops=1e6 bytes=3200x items=1
{CEILINGS}
* prefill-cuda:0 | 4e14 | … attention of 32,768 tokens; 50.00% […] of the fastest bfloat16…
= decode-cuda:0 | 3.2e12 | … from a cache of 32,768 tokens; 80.00% […] of the memory bandwidth (…).
= prefill-length-cuda:0 | 5000 2048 8192 | … → Beyond 8,192 tokens compare devices by their…
= decode-length-cuda:0 | 20000 8192 32768 | … → Beyond 32,768 tokens a smaller cache gains more…
~ prefill | NVIDIA H200: attention | 2048; 8192; 32768
~ prefill | NVIDIA H200: products | 1; 2048; 8192; 32768
~ decode | NVIDIA H200: attention | 2048; 8192; 32768
~ decode | NVIDIA H200: products | 2048=2e-05; 8192=2e-05; 32768=2e-05
## small_weights
# weights gain what they are faster and lose their error, replayed where a graph is
+ decode | cuda:0 | weights=bfloat16,int8,int4 {LAYER} | 300 180 300 | flops=1e6 bytes=9.6e8 items=1
+ decode_graph | cuda:0 | weights=bfloat16 {LAYER} | 100 | flops=1e6 bytes=1.6e8 items=1 check=0.004
+ decode_graph | cuda:0 | weights=int8 {LAYER} | 60 | flops=1e6 bytes=1.92e8 items=1 check=0.007
+ decode_graph | cuda:0 | weights=int4 {LAYER} | 100 | flops=1e6 bytes=3.2e8 items=1 check=0.08
{CEILINGS}
- decode | device=cuda:0 weights=float8_e4m3fn | no product of float8_e4m3fn weights here
* int8-cuda:0 | 1.666667 | 1.667x […] as fast with int8 weights as with bfloat16 (width 4,096,
    replayed from a graph); 80.00% […] of the memory bandwidth (4.0 TB/s). → Decode with int8…
= int4-cuda:0 | 1 | No measurable difference: 1.000x … (4.0 TB/s).
= float8_e4m3fn-cuda:0 | | Not measured: no product of float8_e4m3fn weights here.
~ time | NVIDIA H200 | bfloat16=0.0001; int8=6e-05; int4=0.0001
~ error | NVIDIA H200 | bfloat16=0.004; int8=0.007; int4=0.08
## compiled_training
# compiling gains what a step is faster, and pays when it has saved as long as it took
+ step | cuda:0 | {WIDE} | 8000 | flops=1e12 items=1024 compile=1.2e7 against=2.5
+ transformer/train_graph | cuda:0 | {WIDE} | 9000 | flops=1e12
* gain-cuda:0 | 2.5 | … compiled, in training (width 4,096, bfloat16). → Compile long trainings.
= pays-cuda:0 | 20 | … compiling takes 12… s […]. → Compile trainings of more than 20… s.
~ step | NVIDIA H200, width 4,096, bfloat16 | launched from Python=0.02; replayed=0.009;
    compiled=0.008
# compiling that is not faster never pays
+ step | cuda:0 | dtype=bfloat16 | 11000 | flops=1e12 compile=1.2e7 against=0.909090909091
* gain-cuda:0 | 0.9090909 | 0.909… (width 0, bfloat16).
= pays-cuda:0 | none | Never, as far as this run shows: compiling takes 12… s […].
## convolutions
# the faster layout answers with its share of the peak
+ step,forward | cuda:0 | dtype=bfloat16 images=256 channels=256 layout=channels_last,contiguous |
    1e4 15000 3333.33333333 3333.33333333 | flops=3.2e12 bytes=1e9 items=256
{CEILINGS}
* step-cuda:0 | 25600 | … (channels last, 256 channels, bfloat16); 40.00% […] of the fastest…
+ step | cpu | dtype=bfloat16 channels=256 layout=channels_last,contiguous | 2e4 1e4 | items=256
= forward-cuda:0 | 76800 | … per block in the forward pass (…
= layout-cuda:0 | 1.5 | … as fast with channels last, in training. → Keep images with channels last.
= layout-cpu | 0.5 | … → Keep images contiguous.
~ images | NVIDIA H200, channels last / NVIDIA H200, contiguous | training; the forward pass
~ images | CPU, channels last / CPU, contiguous | training
"""
