# SPDX-License-Identifier: MIT
"""Whoever changes the arithmetic of a benchmark's body makes its case fail."""

from pathlib import Path

import pytest

from frobench.suite.kit.device import Device
from tests.instruments.faults.faulty import Fault, changed, checked
from tests.instruments.processes.alone import load, run_pytest

CPU = Device("cpu")


FAULTS = {
    "nothing copied": Fault(
        "copies.within", "target.copy_(source)", "target.add_(0)", {"device": CPU, "size": 4**6}
    ),
    "a copy of only a half": Fault(
        "copies.to_device",
        "target.copy_(source,",
        "target.zero_()[: len(target) // 2].copy_(source[: len(target) // 2],",
        {"accelerator": CPU, "size": 4**6, "memory": "pageable"},
    ),
    "nothing sent to the other device": Fault(
        "copies.between",
        "return target.copy_(source, non_blocking=True)",
        "return target.neg_()",
        {"pair": [CPU] * 2, "size": 4**6, "way": "direct"},
    ),
    "another tensor printed": Fault(
        "copies.print", "print(source,", "print(source.flip(0),", {"device": CPU, "size": 4000}
    ),
    "an operand transposed": Fault(
        "matmul.square", "a @ b,", "a @ b.t(),", {"device": CPU, "n": 16, "dtype": "float32"}
    ),
    "half the digits": Fault(
        "matmul.square",
        "lambda: a @ b,",
        "lambda: (a.bfloat16() @ b.bfloat16()).to(a.dtype),",
        {"device": CPU, "n": 64, "dtype": "float32"},
    ),
    "another factor while the caches are cold": Fault(
        "matmul.square_cold", "a @ b,", "a @ a,", {"device": CPU, "n": 16}
    ),
    "nothing copied while the caches are cold": Fault(
        "copies.within_cold", "target.copy_(source)", "target.neg_()", {"device": CPU, "size": 4**6}
    ),
    "one copy left out": Fault(
        "matmul.square_with_copies",
        "a.to(there) @ b",
        "b.to(there) @ b",
        {"accelerator": CPU, "n": 64},
    ),
    "a tall matrix's rows shifted": Fault(
        "matmul.oblong",
        "a @ b,",
        "a.roll(1, 0) @ b,",
        {"device": CPU, "rows": 64, "inner": 8, "columns": 8},
    ),
    "a batch in the wrong order": Fault(
        "matmul.batched", "a @ b,", "a @ b.flip(0),", {"device": CPU, "batch": 4, "n": 16}
    ),
    "a norm of the wrong axis": Fault(
        "norm_logging.item", "norm(a @ b)", "(a @ b).norm(dim=0)[0]", {"device": CPU, "steps": 10}
    ),
    "a norm that is not Frobenius's": Fault(
        "norm_logging.batched",
        "norm(left @ right)",
        "norm(left @ right, ord=1)",
        {"device": CPU, "steps": 20},
    ),
    "a stale norm": Fault(
        "norm_logging.log_on_device",
        "norm(a @ b) for a, b in pairs",
        "norm(pairs[0][0] @ b) for a, b in pairs",
        {"device": CPU, "steps": 20},
    ),
    "a log that is a step late": Fault(
        "norm_logging.numpy",
        "for a, b in pairs",
        "for a, b in pairs[-1:] + pairs[:-1]",
        {"device": CPU, "steps": 20},
    ),
    "a loop that ends early": Fault(
        "norm_logging.norm_only",
        "drop_norms(pairs)",
        "drop_norms(pairs[:-1])",
        {"device": CPU, "steps": 20},
    ),
    "the second product forgotten": Fault(
        "parallel_matmul.sequence",
        "a @ b for a, b in pairs",
        "pairs[0][0] @ pairs[0][1] for _ in pairs",
        {"accelerator": CPU, "n": 64},
    ),
    "tensors joined in the wrong order": Fault(
        "parameters.read_flat",
        "in model.parameters()",
        "in reversed([*model.parameters()])",
        {"device": CPU, "parameters": 1_000_000},
    ),
    "another parameter": Fault(
        "parameters.read_scalar",
        "weight[0, 0]",
        "weight[1, 0]",
        {"device": CPU, "parameters": 1_000_000},
    ),
    "nothing written": Fault(
        "parameters.write_copy",
        "value.copy_(new, non_blocking=non_blocking)",
        "value.view_as(new)",
        {"device": CPU, "parameters": 1_000_000},
    ),
    "another value filled in": Fault(
        "parameters.write_fill",
        "value.fill_(FILL)",
        "value.fill_(FILL / 2)",
        {"device": CPU, "parameters": 1_000_000},
    ),
    "initial values kept": Fault(
        "parameters.write_rebuild",
        "        load(model, state)\n",
        "",
        {"device": CPU, "parameters": 1_000_000},
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
def test_wrong_arithmetic_does_not_pass_the_check(fault: Fault, tmp_path: Path) -> None:
    assert not checked(fault, tmp_path).passed


def test_wrong_arithmetic_in_a_worker_does_not_pass_the_check(tmp_path: Path) -> None:
    body = "lambda: [a @ b for a, b in pairs], products"
    fault = Fault("parallel_matmul.processes", body, body.replace("a @ b", "b @ a"), {})
    multiply, check = load(changed(fault, tmp_path)).in_worker(CPU, 16, 2)
    assert not check(multiply()).passed


def test_a_case_whose_check_does_not_pass_fails(tmp_path: Path) -> None:
    module = changed(FAULTS["an operand transposed"], tmp_path)
    run = run_pytest(f"{module}::bench_square[cpu-16-float32]")
    assert run.returncode == 1
    assert "wrong result: every entry is off by" in run.stdout
