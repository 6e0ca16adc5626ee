# SPDX-License-Identifier: MIT
"""Parts of the purchase page say what the numbers say: verdicts, the front, the best, rent.

In a table ``+ name | speeds | fields`` is a machine, so many times as fast as the baseline in two
parts of training; the fields are those of `Machine`, and of the baseline and of what the reader
sets in the heading. ``= part | words`` is what a part of the page says, ``! part | words`` what it
does not; ``= best column`` names the machine that is marked in a column of the cards. ``~ part |
selector | attributes | values`` is what a part draws.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest

from frobench.reports.findings.finding import RATIO
from frobench.reports.purchase import purchase, script
from tests.instruments.runs.made_up_machines import Machine, data, machine
from tests.reports.pages import Markup, parsed, text_of
from tests.reports.purchase.test_purchase import of_view
from tests.reports.tables import Row, matches, named, rows

TABLE = """
## front
# the last step ends at the cheaper of two that are as fast | price=4000
+ fast | 2 2 | price=9000
+ cheap | 2 2 | price=8000
= front | From base to cheap: 2.00x [1.97, 2.03] the speed for 4,000 USD more …
# each machine has its point and the front joins those that beat all cheaper | price=4000
+ NVIDIA RTX A2000 Laptop GPU | 4 1 | price=9000
+ NVIDIA Quadro RTX 4000 Max-Q | 1 3 | price=1000
+ other | 1.001 2.99 | price=1100
+ other | 0.9 0.9 | price=900
= front | From NVIDIA Quadro RTX 4000 Max-Q to NVIDIA RTX A2000 Laptop GPU: 1.15x [1.13, 1.18] the
    speed for 8,000 USD more …all that cost less 1,000 2,000 5,000 10,000 0.7x 1x 1.5x 2x … Where it
    stands NVIDIA RTX A2000 Laptop GPU 2.00x [1.97, 2.03] 9,000 USD on the front NVIDIA Quadro RTX
    4000 Max-Q 1.73x [1.71, 1.76] 1,000 USD on the front other (D) 1.73x [1.71, 1.75] 1,100 USD not
    conclusively faster than NVIDIA Quadro RTX 4000 Max-Q base 1x 4,000 USD beaten by NVIDIA Quadro
    RTX 4000 Max-Q and other (D) other (E) 0.900x [0.888, 0.913] 900 USD on the front
~ front | circle | class cx cy | dot 94.59% 59.36; ring 94.59% 59.36; dot 9.49% 88.42; ring 9.49%
    88.42; dot 13.18% 88.65; dot 63.18% 199.36; dot 5.41% 220.64; ring 5.41% 220.64
~ front | .whisker | x1 x2 y1 y2 | 94.59% 94.59% 62.16 56.56; 9.49% 9.49% 91.22 85.62; 13.18% 13.18%
    91.45 85.85; 63.18% 63.18% 199.36 199.36; 5.41% 5.41% 223.44 217.84
~ front | .step | x1 y1 x2 y2 | 5.41% 220.64 9.49% 220.64; 9.49% 220.64 9.49% 88.42; 9.49% 88.42
    94.59% 88.42; 94.59% 88.42 94.59% 59.36
~ front | .tick | x y | 9.49% 298; 36.34% 298; 71.82% 298; 98.67% 298; -8 275.4; -8 203.36; -8
    121.46; -8 63.36
~ front | .named | y dx text-anchor | 77.36 -13 end; 78.42 13 start; 106.65 13 start; 217.36 -13
    end; 238.64 13 start
= heading | 5 machines: NVIDIA RTX A2000 Laptop GPU is fastest under training
= ranks | The order depends on the workload: NVIDIA RTX A2000 Laptop GPU is first under 1 of 2 Rank
    by workload; joined where a direct comparison is not conclusive Training LLM decode RTX A2000
    Laptop GPU 1 B 1 Quadro RTX 4000 Max… 2 to 3 C 2 to 3 other (D) 2 to 3 D 2 to 3 base 4 A 4 other
    (E) 5 E 5 3 to 4 RTX …Machine Training LLM decode NVIDIA RTX A2000 Laptop GPU 1 3 to 4 NVIDIA …
~ ranks | line:not(.grid) | class x1 y1 x2 y2 | k2 0% 40 100% 150; k3 0% 106 100% 62; k4 0% 106 100%
    62; k1 0% 172 100% 150; k1 0% 216 100% 216
~ ranks | .tick | x y text-anchor | 0% 6 middle; 100% 22 end
~ ranks | rect | class y | f2 35.5; f2 145.5; f4 101.5; f4 57.5
~ ranks | .brief | x y | 0 44; 0 110; 0 128; 0 176; 0 220; 100% 154; 100% 66; 100% 84; 100% 172;
    100% 220
# where fewer than two prices are known it is a chart of power | watts=500 price=1
+ fast | 2 2 | watts=400
+ slow | 0.5 0.5 | watts=450
= front | On the front: fast …all that draw less …Power of a device, W … fast 2.00x [1.97, 2.03] 400
    W on the front …slow 0.500x [0.493, 0.507] 450 W beaten by fast
# one point is said to be alone | price=4000 watts=None
+ one | 2 2 | watts=None
= front | base alone …base 1x 4,000 USD on the front Not shown: one (price …or speed unknown or 0).
# what is said of rent names the first and the last and who is missing | price=4000
    rent=0.21,USD,2026-01-01,on_demand,a_host
+ late | 1.2 1.2 | price=9000 watts=None rent=3,USD,2026-01-01,on_demand,a_host
+ mid | 1.2 1.2 | price=2000 watts=None rent=2,USD,2026-01-01,on_demand,a_host
+ soon | 1.5 1.5 | price=50 watts=2000 rent=0.7,USD,2026-01-01,on_demand,a_host
= holding | What fits, and whether to rent
= rent | Buying pays for soon after 500 h of use, for late after 3,000 h …have no interval. Not
    shown, because a price is unknown or the rent is less than the energy: base Hours until buying
    pays Machine Hours soon 500 h mid 1,000 h late 3,000 h

## best
# three percent of power are no difference | watts=721
+ low | 1 1 | watts=700
= best Power |
# what is conclusively more than all others is marked | memory=0.1
+ one | 2 2 | memory=1
+ two | 1.5 1.5 | memory=2
= best Memory | two

## faults
# an invalid run is the best in nothing and says why beside its name | price=4000
+ fast | 2 2 | price=900 watts=300
+ broken | | watts=1 price=1 memory_bytes=1000000000000000 invalid=clock:_it_stood_still
= cards | … broken invalid run Not ranked: clock: it stood still not measured …
= best Price | fast
= best Power | fast
= summary | …broken is not ranked: its run is invalid: clock: it stood still.…
! verdicts | broken
! weighs | broken
# a doubtful run leads no sentence, verdict or headline | price=4000 joules=1,1
+ noisy | 9 9 | price=100 joules=9,9 doubt=9_of_20_cases_noisy
+ fast | 2 2 | price=9000 joules=2,2
= best Speed | fast
= summary | …noisy is not ranked, because its run is doubtful: 9 of 20 cases noisy.…
= heading | base, noisy and fast: fast is fastest under training
! verdicts | noisy
= front | From base to fast…noisy (doubtful run)…
= weighs | fast is faster than base…
# where no run can be judged none is the fastest | doubt=odd
+ one | 2 2 | doubt=odd
= verdicts | Fastest under training not judged All runs are doubtful. …
# nor is the only one that can be
+ one | 2 2 | doubt=odd
= verdicts | Fastest under training not judged Only the run of base is not doubtful. …
# where no case was measured there is nothing to compare | set.workload=small memory_bytes=None
+ one | 2 2 | memory_bytes=None
= summary | Under small operations nothing can be compared with base: no case of this workload was …
= verdicts | Fastest under small operations not measured No case of this workload was measured…
= weighs | What the score is made of No two machines measured a part of this workload.
= fits | No capacity is known, so what fits is unknown.
# a score without two thirds of its weight is no rank and no headline | price=4000
+ half | 2 | price=900
= summary | …Under training, half is not compared with base: only 50% of its weight was measured …
= verdicts | Fastest under training not measured Only 50% of its weight was measured on both…
= heading | base and half: not measured under training
= notes | …copies: missing on it, not selected…
= weighs | … copies 50% not measured Score not measured Covered 50%

## verdicts
# the parts that are shown come to the score, as do those that the reader weighs | set.workload=own
    set.weight.matmul=3
+ fast | 2 16
= verdicts | Fastest under your own weights fast 3.36x […] the … Fastest under 2 of 2 workloads …
= weighs | fast is faster than base in 2 of 2 parts of the score … matmul 75% 2.00x [1.96, 2.04]
    copies 25% 16.0x [15.7, 16.3] Score 3.36x [3.31, 3.42] Covered 100%
# such as one alone | set.workload=own set.weight.matmul=1000 set.weight.copies=0
+ fast | 2 16
= weighs | fast is faster than base in 1 of 1 part of the score …Part Weight fast matmul 100% …
# where the other machine is slower, the sentence begins with the base | memory_bytes=1e9
+ slow | 0.5 0.5 | memory_bytes=1e9
= weighs | base is faster than slow in 2 of 2 parts of the score …matmul 50% 0.500x [0.490, 0.510]…
= summary | No price in USD is known for any of them.
= ranks | base is first under every workload …
= fits | None of these models fits in bf16 …
# a conclusive lead of less than two percent is called slight
+ fast | 1.01 1.01 | error=0.001
= verdicts | …1.010x [1.009, 1.011] the speed of base: less than 2% apart…
# a machine without a price has no value | by_host=1
+ cheap | 1 1 | price=500
+ unknown | 2 2
= verdicts | …Mostly the host's: all are beside a processor. …cheap 2.00x […] per 1,000 USD; the
    only one with a price and a result …
# several devices are no dearer for the work of one | price=1000
+ eight | 1 1 | price=8000 devices=8 watts=5600 memory_bytes=687194767360
= description | …Best value by purchase price: base or 8x eight (not conclusive).…
= summary | …have 1 to 8 devices; a ratio is that of equally many on either side…
# value by price and by cost of ownership are told apart where they disagree
+ cheap | 2 2 | price=1000 watts=3000
+ thrifty | 2 2 | price=1100 watts=100
= verdicts | …Best value by purchase price cheap 2.00x […] per 1,000 USD; 1.10x [1.08, 1.12] the
    value of thrifty Best under 2 of 2 … By cost of 3 years of use, energy included: thrifty …
# the verdict on energy is conclusive where a direct comparison is | joules=1,1
+ thrifty | 1 1 | joules=2,2
+ other | 1 1 | joules=1.5,1.5
= verdicts | …training thrifty 1.33x [1.31, 1.36] the work per joule of other, measured
# sensors leave less than three percent open | joules=1,1
+ thrifty | 1 1 | joules=1.02,1.02 error=0.001
+ other | 1 1 | joules=1,1 error=0.001
= verdicts | …measured: no difference, since sensors are no better than 3%
# without measured energy no machine is named for its power limit | watts=350
+ low | 1 1 | watts=300
= verdicts | …Least energy per work under training not measured Energy was measured on fewer…
# what the host launches is said to be the host's and names it | by_host=1
+ quick | 4 1 | host=A_fast_processor
= verdicts | …Fastest under 1 of 2 workloads, tied under 1 Mostly the host's: quick
    is beside A fast processor and base is beside a processor. …

## settings
# a machine that has just the least memory fits, and is the only one | set.memory=90 joules=1,1
+ one | 2 2 | memory_bytes=90000000000 joules=2,2
+ two | 1.5 1.5 | memory_bytes=89999999999
= heading | one: one is fastest under training
= verdicts | Fastest under training one The only one with a result … The only one that fits.
= fits | one holds Qwen2.5 32B in bf16 …
# it is said how many machines have less | set.memory=96
+ two | 2 2 | memory_bytes=None
+ three | 2 2
= heading | No machine has 96 GB or more (2 have less, 1 has an unknown capacity)
# costs are of the use that the reader says | set.kwh=0.5 set.hours=10 set.years=1 set.share=50
+ one | 1 1 | price=1000 watts=1000
= cards | …Cost of 1 year USD … 1,912 power: datasheet…
= usual | 0.3 USD a kWh and 8 hours a day at 100% of that power for 3 years
# a use that cannot be is passed over | set.kwh=1000001 set.hours=25 set.years=101 set.share=101
    set.budget=-1 set.memory=-1
= heading | base and one: no measurable difference under training
+ one | 1 1 | price=1000 watts=1000
= cards | …Cost of 3 years USD … 3,628 power: datasheet…
# and the most that can be is not | set.kwh=1000000 set.hours=24 set.years=100 set.share=0.1
+ one | 1 1 | price=1000 watts=1000
= cards | …Cost of 100 years USD … 876,001,000 power: datasheet…
# a budget that no machine fits leaves no sentence standing | price=4000 set.budget=2.5
+ fast | 2 2 | price=9000
+ unpriced | 3 3
= heading | No machine costs 2.5 USD or less (2 cost more, 1 has no known price)
= verdicts | …No machine costs 2.5 USD or less…
= front | Not shown: unpriced (price unknown), fast (over the budget) and base (over the budget).
! verdicts | is fastest
! front | From base
# and one that the reader gives is said to be hers | price=4000 set.price.card=500
+ card | 2 2 | price=900
= cards | …500 your figure…
# what costs more than the budget is not rented | price=4000 set.budget=5000
+ dear | 2 2 | price=9000 watts=None rent=2,USD,2026-01-01,on_demand,a_host
! rent | dear
# sentences speak of the machines that fit | price=4000 set.budget=4500
+ large | 4 4 | price=9000
+ mid | 2 2 | price=4500
= heading | base and mid: mid is fastest under training
! verdicts | large
= front | From base to mid…large (over the budget)…
= weighs | mid is faster than base…
! ranks | large

## numbers
# all numbers have their intervals, their best, and what they rest on | price=4000 joules=1,1
    memory=1 driver=r570 price_date=2025-02-03
+ one | 4 1.1 | price=9000 memory=2 joules=2,2 overhead=5e-6 driver=r580 price_date=2025-02-04
+ pair | 1 3 | price=1000 load=400 rent=2,EUR,2026-01-15,on_demand,a_host devices=2 host=A_host
    price_date=2024-02-02
+ few | 1.1 1 | error=None price=3000 watts=300 watts_source=limit
= cards | The machines Baseline, 1x: base. Sorted by speed under training. Bold: conclusively the
    best. Covers: share of the weight that both measured. Machine Speed x base Memory TB/s Capacity
    GB Overhead µs, per operation, mostly the host's Power W Work per joule x base Price USD Value x
    per 1,000 USD Cost of 3 years USD one beside a processor 2.10x [2.07, 2.13] , rank 1 to 2,
    covers 100% 2.0 [1.8, 2.2] 85.9 5 no interval 700 datasheet 2.00x [1.97, 2.03] 9,000 2025-02
    0.233x [0.230, 0.236] 10,840 power: datasheet 2x pair beside A host 1.73x [1.71, 1.76] , rank 2
    to 3, covers 100% unknown 85.9 unknown 800 [780, 820] , measured not measured 1,000 ▲ 2 years
    old 3.46x [3.42, 3.51] , not conclusive 3,100 [3,050, 3,150] , power: measured few beside a
    processor 1.05x no interval, rank 1 to 4, covers 100% unknown 85.9 unknown 300 limit not
    measured 3,000 2026-01 0.35x no interval, not conclusive 3,788 power: limit base beside a
    processor 1x baseline, rank 3 to 4, covers 100% 1.00 [0.90, 1.10] 85.9 unknown 700 datasheet 1x
    baseline 4,000 ▲ 1 year old 0.25x 5,840 power: datasheet
~ cards | tr:first-child rect | class width | f0 100%; f0 100%; f0 100%; f0 100%; f0 87.5%; f0 100%;
    f0 100%; f0 6.73%; f0 100%
~ cards | .best | data-l | Price, USD; Cost of 3 years, USD
= notes | one Run one, one, 8 cores, measured on 2026-02-03 Price 9,000 USD: list, 2025-02-04, says
    a shop May draw 700 W Differs from the baseline beyond the devices driver r570 / r580 2x pair …
    says a shop 2 EUR an hour: on demand, 2026-01-15, says a host …nothing that is known few …
= weighs | one is faster than base in 2 of 2 parts of the score …Part Weight one 2x pair few matmul
    50% 4.00x [3.92, 4.08] 1.000x [0.981, 1.020] not conclusive 1.1x no interval not conclusive …
~ weighs | td[class] | class | u3; hatch; hatch; u1; u3; hatch; u3; u3; hatch
= heading | base, one, 2x pair and few: one or few is fastest under training
= verdicts | Fastest under training one or few 2x the speed of few: too few launches to be
    conclusive Best value by purchase price 2x pair or few 3.46x [3.42, 3.51] and 0.35x per 1,000
    USD: not conclusive Least …
= specimens | …Below six launches there is no interval. Of each device there is one specimen.
## models
# that fit have tokens per second, where rates and room are those of a device | memory_bytes=8e10
+ card | 2 2 | memory_bytes=24e9 decode=1e12 prefill=1e14 int8=8e11
+ big | 1.5 1.5 | memory_bytes=200e9 devices=4 decode=1e12
= fits | Only 4x big holds Llama 3.1 70B in bf16 Tokens per second are computed for batch 1, bf16
    and a context of 2,048 tokens: card 1.00 TB/s [0.90, 1.10], 4x big 1.00 TB/s [0.90, 1.10] in
    copies, over the bytes that a token reads. 2 GB are kept free; int4: 4.5 bits a weight. Models
    that fit Model, bf16 card 24 GB 4x big 200 GB base 80 GB …Llama 3.1 8B 16.1 GB 61 tokens/s [55,
    67]; 5.94 GB left 61 tokens/s [55, 67]; 182 GB left fits 61.9 GB left …Qwen2.5 32B 65.5 GB int4
    only 3.57 GB left fits 132 GB left fits 12.5 GB left Llama 3.1 70B 141 GB no 17.7 GB short fits
    56.9 GB left int4 only 38.3 GB left Tokens of a prompt per second Computed from the operations a
    second of the measured prefill …Llama 3.1 8B 6,000 tokens/s [5,400, 6,600] not known not known
    …Llama 3.1 8B, int8 96 tokens/s [84, 108] not known not known …Qwen2.5 32B, int8 not known …
# are tight below four gigabytes, and fit to the last byte | memory_bytes=41686459904
+ just | 1 1 | memory_bytes=31540067328 prefill=1e14
+ roomy | 1 1 | memory_bytes=35540067328
+ short | 1 1 | memory_bytes=31540067327 prefill=1e14
= fits | base, just and roomy hold Qwen2.5 14B in bf16 …Qwen2.5 14B 29.5 GB fits 10.1 GB left fits 0
    B left fits 4 GB left int4 only 21.2 GB left …Llama 3.1 70B 141 GB int4 only 0 B left no 10.1 GB
    short …Qwen2.5 14B not known 3,300 tokens/s [2,900, 3,600] not known not known …
~ fits | .grid-table tr:nth-child(3) td | class | fit; tight; fit; tight
~ fits | .grid-table tr:nth-child(5) td | class | tight; nofit; nofit; nofit
## index
# specimens widen the intervals of speeds and axes by their range | memory=1 driver=r570
+ one | 2 2 | error=0 memory=1 driver=r570
+ again | 2.2 2.2 | of=one memory=1.5 driver=r580
+ less | 0.9 | of=base memory=0.5
+ more | 1.1 | of=base
+ alone | 0.5 0.5
= cards | …W one 2 specimens, which differ in driver 2.0x [1.8, 2.4] , rank 1, covers 100% 1.0 [0.9,
    1.5] …driver 1.00x [0.90, 1.10] , baseline, rank 2, covers 100% 1.0 [0.5, 1.1] 85.9 …
= specimens | …, and the range of the specimens of one and base. Of the others there is one …
= devices | …one which differ in driver 2.0x [1.8, 2.4], covers 100% unknown 1.0 [0.9, 1.5] …
# devices have the name, the capacity and the price that are asked, of one of each | price=4000
    ask.name=CUDA_ca ask.memory=80 ask.budget=5000 ask.order=price
+ card | 2 2 | price=10000 devices=2 memory_bytes=160e9 watts=800
+ case | 3 3 | price=4999 memory_bytes=79999999999
+ cap | 2.5 2.5 | memory_bytes=90e9
+ cat | 1.5 1.5 | price=900 memory_bytes=80e9 watts=300
+ dog | 9 9 | price=900 memory_bytes=80e9
= lead | Fastest under training: card, 1.33x […] the speed of cat. Most speed for its price: cat.
= devices | … 0 0.5x 1x 1.5x 2x …cat 1.50x [1.48, 1.52], covers 100% unknown unknown 80 300
    datasheet 900 2026-01 1.67 [1.64, 1.69] card 2.00x [1.97, 2.03], covers 100% unknown unknown 80
    400 datasheet 5,000 2026-01 0.400 [0.394, 0.406]
~ devices | .best | class | best
# a doubtful run leads nothing, ties are told, and those without a score come last | price=4000
+ fast | 4 4 | price=9000 doubt=odd
+ a | 2 2 | price=1000
+ b | 2 2 | price=1000
+ few | 2.1 2.1 | price=800 error=None
+ c | 2 2 | price=1000
+ none | | price=700
= lead | Fastest under training: few or a or b or 1 other (not conclusive). Most speed for its
    price: few or a or b or 1 other (not conclusive). Left out: 1 device whose run is doubtful.
= devices | … 0 1x 2x 3x 4x …4.00x [3.94, 4.06], covers 100% odd unknown …datasheet 9,000 2026-01
    0.444 [0.438, 0.451] few 2.1x no interval, covers 100% …2.62 no interval a …base 1x baseline,
    covers 100% …none not measured no accelerator was measured unknown unknown 85.9 700 …
# machines are compared in the precision that most have | bf16=1e14 fp32=1e13 link=5e10 memory=1
+ one | 2 2 | bf16=2e14 fp32=4e13 link=1e10 memory=2
+ two | 1.5 1.5 | fp32=2e13 link=2e11 memory=0.5
= cards | one leads in compute and memory; two in link …Compute TFLOP/s, float32 Memory TB/s …one
    2.00x [1.97, 2.03] , rank 1, covers 100% 40 [36, 44] 2.0 [1.8, 2.2] 85.9 10.0 [9.0, 11.0] …
= devices | …one 2.00x [1.97, 2.03], covers 100% 200 [180, 220] bfloat16 …20 [18, 22] float32 …
# a price that the reader clears is unknown | price=4000 set.price.card= set.workload=decode
+ card | 2 3 | price=900
= cards | …card 3.00x [2.94, 3.06] , rank 1, covers 100% 85.9 700 datasheet unknown unknown …
= notes | …Price not known, as you set it else 900 USD: list, 2026-01-01, says a shop …
"""


def plain(markup: Markup) -> str:
    """Return what a part of the page says, with an x for times."""
    return text_of(markup).replace(RATIO, "x")


INDEX = """(data, asked) => {
    const all = index.read(data), workload = model.workload(data, "training");
    const usual = { reference: 0, name: "", memory: null, budget: null, order: index.FASTEST };
    const shown = index.view(all, { workload, ...usual, ...asked });
    return { lead: index.lead(shown), devices: String(index.table(shown, null)) };
}"""
"""What the index says of the same machines, as it is asked."""
AXES: dict[str, Callable[[float], tuple[Any, ...]]] = {
    "memory": lambda one: ("memory", "", "B/s", 1e12 * one, 0.9e12 * one, 1.1e12 * one),
    "bf16": lambda one: ("compute", "bfloat16", "FLOP/s", one, 0.9 * one, 1.1 * one),
    "fp32": lambda one: ("compute", "float32", "FLOP/s", one, 0.9 * one, 1.1 * one),
    "link": lambda one: ("link_to_device", "", "B/s", one, 0.9 * one, 1.1 * one),
    "overhead": lambda one: ("overhead", "", "s", one, None, None),
    "load": lambda one: ("load", "", "W", one, one - 10, one + 10),
    "decode": lambda one: ("decode", "copies", "B/s", one, 0.9 * one, 1.1 * one),
    "prefill": lambda one: ("prefill", "", "FLOP/s", one, 0.9 * one, 1.1 * one),
    "int8": lambda one: ("small", "int8", "B/s", one, 0.875 * one, 1.125 * one),
}
TUPLES, TEXTS = {"joules", "rent"}, {"price_date"}


def made(name: str, speeds: str = "", fields: str = "") -> Machine:
    """Return a machine of a table; an underline stands for a space."""
    known: dict[str, Any] = {}
    for key, text in named(fields).items():
        words = [number(one) for one in text.split(",")]
        known[key] = tuple(words) if key in TUPLES else text if key in TEXTS else words[0]
    axes = tuple(AXES[key](known.pop(key)) for key in AXES if key in known)
    return machine(name, *map(float, speeds.split()), axes=axes, **known)


def number(text: str) -> Any:  # noqa: ANN401 - or what else it says
    if text == "None":
        return None
    is_number = re.fullmatch(r"[\d.e-]+", text) and text.count("-") < 2
    return float(text) if is_number else text.replace("_", " ")


@pytest.mark.parametrize("row", [*rows(TABLE)], ids=lambda row: f"{row.section}: {row.what}")
def test_a_part_of_the_page_says(row: Row) -> None:
    settings = [[key[4:], one] for key, one in row.how.items() if key.startswith("set.")]
    of_all = row.how.keys() & {*Machine._fields, *AXES}
    fields = " ".join(f"{key}={row.how[key]}" for key in of_all)
    base = made("base", "1 1", fields)._replace(error=0.0)
    machines = data(base, *(made(*cells) for cells in row.lines["+"]), host="by_host" in row.how)
    asked = {key[4:]: number(one) for key, one in row.how.items() if key.startswith("ask.")}
    texts = of_view(PARTS, machines, repr(settings)) | script.call(INDEX, machines, asked)
    for part, words in row.lines["="]:
        if part.startswith("best "):
            assert best_of(texts["cards"], part.removeprefix("best ")) == words.split()
        else:
            assert matches(plain(texts[part]), words), plain(texts[part])
    for part, words in row.lines["!"]:
        assert words not in plain(texts[part])
    for part, chosen, names, marks in row.lines["~"]:
        drawn = parsed(texts[part]).select(chosen)
        found = [" ".join(str(one[name]) for name in names.split()) for one in drawn]
        assert found == marks.split("; ")
    if not settings:
        shown = purchase.show(machines)
        assert shown.parts == {part: texts[part] for part in shown.parts}
        assert (shown.heading, shown.description) == (texts["heading"], texts["description"])


PARTS = """(view) => ({ ...Object.fromEntries(Object.entries(compare.parts(view, "price"))
    .map(([part, make]) => [part, make().map(String).join("")])),
    heading: compare.heading(view), description: compare.description(view) })"""
"""What the script makes of each part of the page."""


def best_of(cards: str, column: str) -> list[str]:
    """Return the machines that are marked as the best in a column."""
    rows = parsed(cards).select(f"tr:has(.best[data-l^='{column}'])")
    return [plain(row).split()[0] for row in rows]
