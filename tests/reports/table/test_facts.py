# SPDX-License-Identifier: MIT
"""A page says what a run was measured on, and how, in words and units of people."""

from msgspec.structs import replace

from frobench.reports.table import facts
from tests.instruments.runs import factory

MACHINE = """Accelerator cuda:0 and cuda:1: name NVIDIA H200; type cuda; memory 144 GB;
 capability 9.0; driver 580.95.05; multiprocessors 132; power limit 700 W; power limit default
 700 W; max clock 1.98 GHz; ECC yes; persistence yes; MIG no; PCIe generation 5; PCIe width 16;
 PCIe generation max 5; PCIe width max 16
Processor: model AMD EPYC 9654 96-Core Processor; architecture x86_64; physical cores 2; logical
 cores 2; usable cores 2; quota cores not known: no limit is set; governor not known: the kernel
 offers no frequency control; max frequency 3.7 GHz; last level cache 32 MiB; NUMA nodes 1; memory
 16 GB
Torch build, folded away: cuda 13.0; hip none"""
METHOD = """Settings: profile standard; devices cpu, cuda:0, cuda:1; launches 8 fresh processes;
 cases 176 a launch, in an order drawn from seed 0; samples 14,920 in all; at most 30 of a case in a
 launch; longest call 200 ms; what takes longer is left out; sampling a case at most 100 ms in a
 launch; budget 270 s; selection -k 'matmul'; commit 0a1b2c3d4e5f, with uncommitted changes
Time: whole run 280 s; planning 20 s; inside timed samples 53.7 s, 19% of the run; warming up
 64.6 s, 23% of the run
The clock and the harness: an empty body on cpu 94.00 ns [94.00, 94.00]; an empty body on cuda:0
 6.100 µs [6.100, 6.100]; an empty body on cuda:1 6.100 µs [6.100, 6.100]; clock step 31 ns"""


def test_a_page_tells_what_a_run_was_measured_on_and_how() -> None:
    run = factory.run(accelerators=2)
    run.commit_info.dirty = True
    run.frobench.settings = replace(run.frobench.settings, expression="matmul")
    lines = [
        f"{title}{', folded away' * long}: {'; '.join(map(' '.join, rows))}"
        for title, rows, long in facts.machine(run) + facts.method(run)
    ]
    assert lines[:2] + lines[3:4] == MACHINE.replace("\n ", " ").split("\n")
    assert all("folded away" in line for line in lines[3:7])
    name = "2\N{MULTIPLICATION SIGN} NVIDIA H200 + AMD EPYC 9654 96-Core Processor, 2 cores"
    assert facts.machine_title(run) == name
    assert lines[7:] == METHOD.replace("\n ", " ").split("\n")
