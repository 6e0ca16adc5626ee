# SPDX-License-Identifier: MIT
"""A launch that lost a rank, and nodes that are not alike, are named."""

from frobench.suite import checks
from frobench.suite.stored.types import NodeFacts, Scalar
from tests.instruments.faults.judging import made, said


def test_a_lost_rank_is_named_with_its_launch() -> None:
    run = made()
    run.frobench.launches[2].lost = "rank 1 on node 1 did not answer in time"
    assert said(run, "rank-lost") == [
        "launch 3 lost its group: rank 1 on node 1 did not answer in time"
    ]
    assert "rank-lost" not in {one.code for one in checks.conclude(made())}


def test_a_node_is_unlike_by_what_moves_numbers() -> None:
    run = made()
    many: dict[str, Scalar] = {f"software.flags.{name}": "on" for name in "abcd"}
    shown = [f"{fact} is on" for fact in many][:3]
    run.frobench.nodes = [
        NodeFacts(ranks=1),
        NodeFacts(ranks=1, differs={"cpu.governor": "powersave", "cpu.memory_bytes": 1}),
        NodeFacts(ranks=1, differs={"software.kernel": "6.1"}),
        NodeFacts(ranks=1, differs=many),
    ]
    assert said(run, "unlike-nodes") == [
        "node 1 differs from node 0: cpu.governor is powersave",
        f"node 3 differs from node 0: {', '.join(shown)}, and 1 more differ",
    ]
