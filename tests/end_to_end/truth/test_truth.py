# SPDX-License-Identifier: MIT
"""What a run finds on a simulated accelerator is what the accelerator is made to be.

The runs are made in the simulation's own time, which passes by known costs alone: what is found
there does not depend on the machine, and must be true to a fraction of a percent.
"""

import math
import re
from pathlib import Path

import pytest

from tests.instruments.devices.measured import EXACT, GROUPS, STRANGE, Measured, measured, of_module
from tests.instruments.processes.command import KNOWN

pytestmark = pytest.mark.long

PART = 0.02
"""How near the truth a difference of times must come."""
STEPS = 100
LARGEST, SMALLEST = 512, 64
WIDTH, LAYERS = 250, 16
CPU_FLOPS, CPU_CALL = 0.5e9, 20e-6
"""What `bench_matmul` in `KNOWN` lets the CPU take."""


strange = of_module(
    STRANGE | {"devices": 4},
    "(bench_square and float32 and (16- or 64- or 512- or 16384) and not narrow and not graph)"
    " or (bench_norm_logging and (item or log_on_device or launch_only or norm_only or log_kept)"
    " and 100 and not 1000)"
    " or (bench_parallel and (sequence or one_thread or in_turn) and (64 or 512) and not process)"
    " or (bench_parameters and (scalar or tensor or state or flat or write_copy) and 1000000"
    " and not 100000000)",
)


def test_a_product_takes_its_launch_its_rate_and_the_waiting(strange: Measured) -> None:
    spec = strange.spec
    for n in (16, 64, 512):
        name, there = f"bench_square[acme:0-{n}-float32]", spec.launch + strange.product(n)
        truths = {name: there + spec.synchronise, f"{name} enqueue": spec.launch}
        strange.holds(truths | {f"{name} span": there})
    strange.holds({"best-rate-acme:0": 2 * LARGEST**3 / strange.product(LARGEST)})


def test_a_loops_parts_are_found_from_differences(strange: Measured) -> None:
    parts, spec = strange.plot("parts"), strange.spec
    each, log = (name for name in parts["launching"])
    launching, step = 2 * spec.launch, strange.step()
    assert parts["launching"][each] == pytest.approx(launching, rel=PART)
    assert parts["computing"][each] == pytest.approx(step - launching, rel=PART)
    assert parts["reading back"][each] == pytest.approx(strange.reading(), rel=PART)
    assert parts["keeping the log"][log] == pytest.approx(0, abs=EXACT * step)
    stack = spec.kernel + 8 * STEPS / spec.bandwidth
    once = (stack + spec.links.d2h_pageable.seconds(4 * STEPS) + spec.synchronise) / STEPS
    assert parts["reading back"][log] == pytest.approx(once, rel=0.05)


def test_the_penalty_of_reading_back_is_found(strange: Measured) -> None:
    step = strange.step()
    strange.holds({"penalty-acme:0": (step + strange.reading()) / step})
    strange.holds({"read-back-acme:0": strange.reading()}, PART)


def test_devices_share_what_their_launches_allow_and_in_turn_nothing(strange: Measured) -> None:
    spec = strange.spec
    (lines,) = strange.plot(f"efficiency-{GROUPS[2]}").values()
    for count, group in GROUPS.items():
        for n in (SMALLEST, LARGEST):
            product, name = strange.product(n), f"bench_in_turn[{group}-{n}]"
            # Each is launched after the one before, and waited for when that one has ended.
            together = count * spec.launch + product + spec.synchronise
            efficiency = (spec.launch + 2 * product + spec.synchronise) / 2 / together
            if count == 2 or n == SMALLEST:  # four large ones take longer than a call may
                strange.holds({name: count * (spec.launch + product + 2 * spec.synchronise)})
                strange.holds({f"{name} concurrency": 0.0}, within=EXACT)
            if count == 2:
                assert lines[n] == pytest.approx(efficiency, rel=EXACT)
        strange.holds({f"efficiency-one_thread-{group}": efficiency})
        shared = {f"bench_one_thread[{group}-{LARGEST}] concurrency": 1 - spec.launch / product}
        strange.holds(shared)
    assert strange.value(f"overlap-one_thread-{GROUPS[2]}") > 0.99
    pair = f"bench_one_thread[{GROUPS[2]}-{SMALLEST}] concurrency"
    strange.holds({pair: 1 - spec.launch / strange.product(SMALLEST)}, within=EXACT)


def test_latency_and_rate_of_reading_are_those_of_the_link(strange: Measured) -> None:
    spec, link, size = strange.spec, strange.spec.links.d2h_pageable, 4 * WIDTH**2
    fixed = spec.launch + 2 * spec.synchronise
    scalar = strange.seconds("bench_read_scalar[acme:0-1000000]") - fixed - 2 * spec.metadata
    tensor = strange.seconds("bench_read_tensor[acme:0-1000000]") - fixed
    assert scalar == pytest.approx(link.latency, rel=PART)
    assert (size - 4) / (tensor - scalar) == pytest.approx(link.rate, rel=PART)


def test_a_model_is_moved_at_the_rate_of_its_link(strange: Measured) -> None:
    spec, links = strange.spec, strange.spec.links
    sizes = LAYERS * [4 * WIDTH**2, 4 * WIDTH]
    for name, way, views in (
        ("read_state_dict", links.d2h_pageable, 1),
        ("write_copy", links.h2d_pageable, 0),
    ):
        calls = 2 * LAYERS * (spec.launch + spec.synchronise + views * spec.metadata)
        truth = sum(map(way.seconds, sizes)) + calls + spec.synchronise
        strange.holds({f"bench_{name}[acme:0-1000000]": truth})
    host = busy = 0.0  # copies that nobody waits for are launched while others run
    for size in sizes:
        host += spec.launch
        busy = max(busy, host) + links.h2d_pinned.seconds(size)
    strange.holds({"bench_write_copy_pinned[acme:0-1000000]": busy + spec.synchronise})


def test_the_best_way_to_read_a_model_is_found(strange: Measured) -> None:
    spec, size = strange.spec, 4 * LAYERS * (WIDTH**2 + WIDTH)
    joined = spec.launch + spec.kernel + 2 * size / spec.bandwidth
    read = spec.links.d2h_pageable.seconds(size) + 2 * spec.synchronise
    strange.holds({"read-acme:0": LAYERS * spec.metadata + joined + read})
    assert "joined on the device" in strange.finding("read-acme:0").answer


def test_a_slow_second_device_halves_the_gain(tmp_path: Path) -> None:
    select = "bench_parallel and (sequence or one_thread) and 512 and not process"
    seen = measured(tmp_path, STRANGE | {"faults": {"speeds": [1.0, 0.5]}}, select)
    spec, product = seen.spec, seen.product(LARGEST)
    one = spec.launch + 2 * product + spec.synchronise
    two = 2 * spec.launch + 2 * product + spec.synchronise
    seen.holds({"efficiency-one_thread-acme:0+acme:1": one / 2 / two})
    shared = seen.part("bench_one_thread[acme:0+acme:1-512]", "concurrency")
    assert shared > 0.99  # the quick one works only while the slow one does


known = of_module(
    {"virtual": True, "memory": 64 << 20, "flops": {"float32": 2e9}},
    "square or foreseen or wrong or right or last",
    *("--benchmarks", KNOWN, "--devices", "cpu,sim:0"),
    code=1,
)


def test_the_crossover_is_where_both_take_as_long(known: Measured) -> None:
    spec = known.spec
    fixed = spec.launch + spec.kernel + spec.synchronise - CPU_CALL
    crossover = math.cbrt(fixed / 2 / (1 / CPU_FLOPS - 1 / spec.flops["float32"]))
    known.holds({"crossover": crossover}, PART)


def test_the_speed_up_is_that_of_the_rates_and_the_costs(known: Measured) -> None:
    spec = known.spec
    here = CPU_CALL + 2 * 256**3 / CPU_FLOPS
    there = spec.launch + known.product(256) + spec.synchronise
    assert known.plot("speed-up")["product alone"][256] == pytest.approx(here / there, rel=EXACT)


def test_memory_that_runs_out_costs_the_case_and_nothing_else(known: Measured) -> None:
    unforeseen = known.outcome("bench_unforeseen[sim:0-1000]")
    assert unforeseen.status == "failed"
    known_part = "OutOfMemoryError: out of memory. Tried to allocate "
    assert (unforeseen.reason or "").startswith(known_part)
    assert known.outcome("bench_foreseen[sim:0-1000]").status == "skipped"
    assert known.outcome("bench_last[sim:0-20]").status == "passed"


def test_a_device_that_is_lost_fails_its_case_and_a_broken_one_is_left_out(tmp_path: Path) -> None:
    faults = {"lost_after": 4900, "broken": [1]}
    spec = {"virtual": True, "flops": {"float32": 1e9}, "faults": faults}
    options = ("--benchmarks", KNOWN, "--devices", "", "--deadline", 20)
    seen = measured(tmp_path, spec, "first or many or lacking or last", *options, code=1)
    assert seen.run.frobench.settings.devices == ["cpu", "sim:0"]
    troubles = seen.run.frobench.troubles
    assert isinstance(troubles, list)
    [left_out] = [one for one in troubles if one.code == "unused-accelerator"]
    assert left_out.severity == "warning"
    assert left_out.message == "sim:1 left out: torch cannot compute there"
    assert "sim:1: sim error: device 1 is lost" in seen.messages  # in torch's words
    lacking = seen.outcome("bench_lacking[sim:0-5000]")
    assert (lacking.status, lacking.reason) == ("skipped", "no adding here: AcceleratorError")
    many = seen.outcome("bench_many[sim:0-5000]")
    assert many.status == "failed"
    assert re.fullmatch(r"AcceleratorError \(bench_mishaps\.py:\d+\)", many.reason or "")
    for name, launches in (("first", 10), ("last", 20)):
        truth = launches * seen.spec.launch + seen.spec.kernel + seen.spec.synchronise
        seen.holds({f"bench_{name}[sim:0-{launches}]": truth})
