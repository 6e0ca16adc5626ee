# SPDX-License-Identifier: MIT
"""What does compiling gain in a training step, and from when does it pay?

A sample is the time that a user waits for a training step of `bench_transformer`: forward,
backward and AdamW, on the same layers and tokens. Each sample of the compiled step stands beside
one of the same step as it is launched from Python. The recorded step that is replayed is a case of
`bench_transformer`.

``torch.compile`` makes two graphs of the step, each as a whole: the loss, whose backward pass is
compiled with it, and the update of the weights. Compiling is no part of a sample; it happens once a
launch, with empty caches, and its time is kept apart. It ends with the first compiled step. It
takes as long as tens of other cases in each launch, so only the rigorous profile has these cases.
Operations, bytes and items are counted as in `bench_transformer`.
"""

from inspect import unwrap

import torch
from decoders import (
    Shape,
    Training,
    autocast,
    prepared,
    skip_unsuited,
    through,
    tightest,
    training_work,
)
from torch import Tensor
from torch.nn.functional import mse_loss

from frobench import Check, Device, Measure, cases, compiled, cpu_twins

pytestmark = cpu_twins()

NARROW = 256
"""Width of the layer that CPUs have."""
TOKENS = {"bfloat16": 1024, "float32": 128}
"""Tokens of a step, by the type that products are made in."""


@cases("rigorous", width=[4096], layers=[1], dtype=["bfloat16"])
@cases("rigorous", width=[2048], layers=[4], dtype=["bfloat16"])
@cases("rigorous", width=[NARROW], layers=[1], dtype=["float32"])
def bench_step(measure: Measure, device: Device, width: int, layers: int, dtype: str) -> None:
    """Train layers by a compiled step: forward, backward and AdamW."""
    skip_unsuited(device, wide=width > NARROW)
    tokens = TOKENS[dtype]
    training = prepared(
        device, Shape(width, layers, dtype), tokens, capturable=device.is_accelerator
    )
    step = CompiledStep(training)
    body, seconds = compiled(device, step, step.loss, step.update)
    measure(
        body,
        against=training.step,
        before=training.begin,
        work=training_work(width, layers, tokens),
        check=step.check,
        apart={"compile": seconds},
    )


class CompiledStep:
    """A step of a training, in two parts that can be compiled.

    has_compiled_loss, has_compiled_update : whether the last call of a part was of compiled code
    """

    def __init__(self, training: Training) -> None:
        self.training = training
        self.has_compiled_loss = self.has_compiled_update = False
        training.step()  # by which the optimizer gets its moments: without, it is compiled twice

    def __call__(self) -> Tensor:
        """Take a step, as the training does by itself."""
        self.training.optimizer.zero_grad()
        loss = self.loss()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it so
        with torch.no_grad():
            self.update()
        return loss.detach()

    def loss(self) -> Tensor:
        """Send the inputs forward."""
        training = self.training
        self.has_compiled_loss = torch.compiler.is_compiling()
        with autocast(training.device, training.dtype):
            outputs = through(training.model, training.inputs, [None] * len(training.model))
        return mse_loss(outputs, training.targets)

    def update(self) -> None:
        """Update the weights, without the wrappers of a step, which end a graph."""
        self.has_compiled_update = torch.compiler.is_compiling()
        optimizer = self.training.optimizer
        unwrap(type(optimizer).step)(optimizer)

    def check(self, loss: Tensor) -> Check:
        """Check the step, and that both of its parts were compiled."""
        plain = 2 - self.has_compiled_loss - self.has_compiled_update
        used = Check("parts of the step that were not compiled", float(plain), 0.5)
        return tightest([used, self.training.check(loss)])
