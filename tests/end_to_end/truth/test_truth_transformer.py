# SPDX-License-Identifier: MIT
"""What a run finds of transformers is what simulated devices make of them.

The run is made in the simulation's own time (see `test_truth.py`), on layers that are
narrower than those of GPUs. The devices take long for products in training and prefill, long for
bytes in decoding, and launching takes longer still where the layers are launched from Python.
"""

import pytest

from frobench.reports.findings.exercises.limits import COMPUTE, MEMORY, parts_of
from frobench.reports.findings.select import cases_of
from tests.instruments.devices.measured import EXACT, Measured, measured
from tests.instruments.processes.alone import smaller

pytestmark = pytest.mark.long

WIDTH, TRAINED, CACHED = 256, 32, 64
LAUNCH, KERNEL, WAIT = 0.6e-3, 5e-6, 13e-6
PEAK, BANDWIDTH = 2e9, 0.5e9
SPEC = {
    "virtual": True,
    "name": "acme",
    "devices": 1,
    "graphs": True,
    "memory": 256 << 20,
    "launch": LAUNCH,
    "metadata": 0.0,
    "kernel": KERNEL,
    "synchronise": WAIT,
    "flops": {"float32": PEAK, "bfloat16": PEAK},
    "bandwidth": BANDWIDTH,
}
SMALLER = {
    "TRAINED, CACHED = 1024, 2048": f"TRAINED, CACHED = {TRAINED}, {CACHED}",
    "width=[4096]": f"width=[{WIDTH}]",
    "width=[2048], layers=[4]": "width=[128], layers=[2]",
}
KINDS = "train", "prefill", "decode"
PARAMETERS = 12 * WIDTH**2
WEIGHTS = 2 * PARAMETERS
"""Bytes of a layer's weights in bfloat16, but for those of its normalisations."""
REST = 1.35
"""What operations other than products add to a replay, at most."""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    changes = {"transformer": SMALLER, "matmul": {}, "copies": {}}
    folder = smaller(tmp_path_factory.mktemp("benchmarks"), changes)
    return measured(
        tmp_path_factory.mktemp("seen"),
        SPEC,
        "(transformer and not (128-2 or 1-32 or narrow)) or (bench_within and 16777216)"
        " or (bench_square and 256-bfloat16 and not graph)",
        *("--benchmarks", folder, "--devices", "acme:0", "--budget", 12),
    )


def seconds(seen: Measured, kind: str, more: str = "") -> float:
    return seen.seconds(f"bench_{kind}[acme:0-{WIDTH}-1{more}-bfloat16]")


def limits(seen: Measured, name: str) -> tuple[float, float]:
    """Return the parts of a case's time that its operations and its bytes are needed for."""
    cases = cases_of(seen.run, "transformer")
    (case,) = (one for one in cases.where() if one.name == name)
    parts = parts_of(cases, case)
    compute, memory = (parts[limit].by_launch.median() for limit in (COMPUTE, MEMORY))
    return float(compute), float(memory)


def test_every_work_gives_the_right_result_from_a_graph_too(seen: Measured) -> None:
    passed = {one.fullname.partition("::")[2].partition("[")[0] for one in seen.run.benchmarks}
    assert {f"bench_{kind}{way}" for kind in KINDS for way in ("", "_graph")} <= passed


def test_a_graph_takes_the_products_of_a_prefill_and_the_weights_of_decoding(
    seen: Measured,
) -> None:
    products = (2 * PARAMETERS * CACHED + 4 * WIDTH * CACHED**2) / PEAK
    for least, took in (
        (products, seconds(seen, "prefill_graph")),
        (WEIGHTS / BANDWIDTH, seconds(seen, "decode_graph", "-1")),
    ):
        assert least < took - LAUNCH - WAIT < REST * least


def test_tokens_are_counted_and_limits_are_those_of_the_device(seen: Measured) -> None:
    counted = {
        "train-acme:0": TRAINED / seconds(seen, "train"),
        "prefill-acme:0": CACHED / seconds(seen, "prefill"),
        "decode-1-acme:0": 1 / seconds(seen, "decode_graph", "-1"),
    }
    seen.holds(counted)
    products = 24 * WIDTH**2 * CACHED + 2 * WIDTH * CACHED * (CACHED + 1)
    peak = 2 * 256**3 / (KERNEL + 2 * 256**3 / PEAK)  # of the square product, by the device
    expected = products / seconds(seen, "prefill") / peak
    compute, memory = limits(seen, f"bench_prefill[acme:0-{WIDTH}-1-bfloat16]")
    assert compute == pytest.approx(expected, rel=EXACT)
    assert memory < 0.2 < 0.8 * compute
    compute, memory = limits(seen, f"bench_decode_graph[acme:0-{WIDTH}-1-1-bfloat16]")
    assert compute < 0.2 < 0.4 * memory


def test_a_graph_gains_the_launches_of_all_operations_but_one(seen: Measured) -> None:
    eager, replayed = (seconds(seen, kind, "-1") for kind in ("decode", "decode_graph"))
    seen.holds({"replay": eager / replayed})
    launches = (eager - WAIT) / LAUNCH
    assert 12 < launches < 40
