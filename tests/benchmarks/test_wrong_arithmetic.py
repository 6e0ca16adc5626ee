# SPDX-License-Identifier: MIT
"""Whoever changes the arithmetic of a benchmark's body makes its case fail."""

from pathlib import Path

import pytest

from tests.benchmarks.calls import brief, called
from tests.instruments.processes.alone import planted, run_pytest

RIGHT = "as_they_are(original[place], dtype)"
FAULTS = [
    ("attainable_peak.product", "multiply(a, b),", "multiply(a.bfloat16().to(a.dtype), b),"),
    ("convolutions.forward", "torch.relu(self.between(", "(self.between("),
    ("convolutions.forward", ".eval()", ""),
    ("convolutions.step", "outputs.backward(self.slopes)", "pass"),
    ("convolutions.step", "        self.optimizer.step()", "        pass"),
    ("convolutions.step", "(self.device, self.dtype)", "(self.device, 'bfloat16')"),
    ("copies.print 4000", "print(source,", "print(source * 1.001,"),
    ("copies.to_device", "target.copy_(source,", "target.zero_()[:9].copy_(source[:9],"),
    ("data_parallel.one_device", "take(*batches[taken", "taken or take(*batches[taken"),
    ("data_parallel.by_hand two", "share, batch)", "share, len(share[0]))"),
    ("data_parallel.by_hand two", "optimizer.step", "optimizer is optimizers[0] or optimizer.step"),
    ("data_parallel.by_hand two", "total += other.to(total.device)", "pass"),
    ("data_parallel.forward_parts gather", "gather(outputs", "gather(outputs[::-1]"),
    ("data_parallel.forward_parts parallel_apply", "shares),\n", "shares[::-1]),\n"),
    ("long_context.decode", "keys, values),\n", "keys[:, :, -9:], values[:, :, -9:]),\n"),
    ("long_context.prefill", "is_causal=True)\n    skip", "is_causal=False)\n    skip"),
    ("long_context.products", "linear(mixed, merge)", "mixed"),
    ("loss_reporting.loading pageable", "batches)\n\n\ndef f", "batches[:1] * STEPS)\n\n\ndef f"),
    ("loss_reporting.one_thread", "Trained(one.model, its)", "Trained(one.start, its)"),
    ("loss_reporting.reading", "step(inputs, targets)", "step(inputs, targets.roll(1, 0))"),
    ("many_or_one.chain", "total + numbers", "(total.bfloat16() + numbers).float()"),
    ("many_or_one.pieces", "for part in parts", "for part in parts[:-1] + parts[:1]"),
    ("matmul.square", "lambda: a @ b,", "lambda: (a.bfloat16() @ b.bfloat16()).to(a.dtype),"),
    ("matmul.square_with_copies", "a.to(there) @ b", "b.to(there) @ b"),
    ("norm_logging.numpy", "for a, b in pairs", "for a, b in pairs[-1:] + pairs[:-1]"),
    ("parallel_matmul.processes", "lambda: [a @ b for a", "lambda: [b @ a for a"),
    ("parameters.read_flat", "in model.parameters()", "in reversed([*model.parameters()])"),
    ("parameters.read_scalar", "weight[0, 0]", "weight[1, 0]"),
    ("parameters.write_copy", "value.copy_(new, non_blocking=non_blocking)", "value.view_as(new)"),
    ("placement.create 4096", '"randn": torch.randn', '"randn": torch.rand'),
    ("placement.create_then_move 64", "return here, here.to(", "return here, create((n,)).to("),
    ("placement.stay", "values.to(device.handle)", "values.to(device.handle, copy=True)"),
    ("small_weights.decode float8", "SmallLinear(small)", f"SmallLinear({RIGHT})"),
    ("small_weights.decode int4", "SmallLinear(small)", f"SmallLinear({RIGHT})"),
    ("small_weights.decode int8", "(model, inputs, caches)", "(model, inputs, [None])"),
    ("small_weights.decode int4", "whole.flatten(1) + 8", "whole.flatten(1) + 7"),
    ("split_model.embedding", "embedding(words.to(table.device), table)", "table[: len(words)]"),
    ("split_model.pipeline two", "zip(lanes, stages,", "zip(lanes, stages[::-1],"),
    ("split_model.step", "seen.square().mean()", "seen.square().sum()"),
    ("split_model.tasks_at_once two", "zip(lanes, tasks", "zip(lanes, tasks[::-1]"),
    ("transformer.decode_narrow", "keys, values = cache\n", "pass\n"),
    ("transformer.decode_narrow", "cache.keys[:, :, -tokens:].copy_(keys)", "pass"),
    ("transformer.prefill_narrow", "is_causal=tokens > 1", "is_causal=False"),
    ("transformer.prefill_narrow", "cache.values[:, :, -tokens:].copy_(values)", "pass"),
    ("transformer.train_narrow", 'enabled=dtype == "bfloat16"', "enabled=True"),
    ("transformer.train_narrow", "mse_loss(outputs, self.targets)", "outputs.square().mean()"),
    ("transformer.train_narrow", "weight_decay=DECAY", "weight_decay=0.0"),
]
"""Calls of `CALLS`, what their code says, and what it is made to say."""


@pytest.mark.parametrize(("call", "old", "new"), FAULTS, ids=[call for call, *_ in FAULTS])
def test_wrong_arithmetic_does_not_pass(call: str, old: str, new: str, tmp_path: Path) -> None:
    module = brief(planted(tmp_path, f"bench_{call.partition('.')[0]}", old, new))
    assert not called(call, module).check.passed


def test_a_case_whose_check_does_not_pass_fails(tmp_path: Path) -> None:
    module = planted(tmp_path, "bench_matmul", "a @ b,", "a @ b.t(),")
    run = run_pytest(f"{module}::bench_square[cpu-16-float32]")
    assert run.returncode == 1
    assert "wrong result: every entry is off by" in run.stdout
