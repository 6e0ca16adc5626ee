# SPDX-License-Identifier: MIT
"""What a run finds of long contexts, small weights and convolutions is what devices make of them.

The run is made in the simulation's own time (see `test_truth.py`), on sizes that are smaller than
those of GPUs. What it should find is foretold from the operations of the same bodies, which a CPU
computes here: an operation takes the host its launch and then the device its kernel and the longer
of its arithmetic and its bytes.
"""

from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from tests.instruments.simulated.simulated_accelerator.spec import Spec

pytestmark = pytest.mark.long

LAUNCH, KERNEL, WAIT = 20e-6, 5e-6, 13e-6
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
PROMPTS, CACHES, WIDTH = (32, 128, 512), (64, 256, 1024), 256
SMALLER = {
    "long_context": {
        "width=[4096]": f"width=[{WIDTH}]",
        "[2048, 8192, 32_768]": str([*PROMPTS]),
        "[1, 2048, 8192, 32_768]": str([1, *PROMPTS]),
        "[2048, 8192, 32_768, 131_072]": str([*CACHES]),
        "tokens=[2048, 8192]": f"tokens={[*PROMPTS[:2]]}",
        "tokens=[1, 2048, 8192]": f"tokens={[1, *PROMPTS[:2]]}",
        'cached=[2048, 32_768], width=[256], dtype=["bfloat16"]': f"cached={[*CACHES[:2]]}",
    },
    "small_weights": {"width=[4096]": f"width=[{WIDTH}]", "CACHED = 2048": "CACHED = 64"},
    "convolutions": {"images=[256], channels=[256]": "images=[4], channels=[32]"},
}
ALIKE = {"_unsafe_view", "detach", "t"}
EMPTY = ("empty", "new_empty")


class Foretold(NamedTuple):
    """Seconds of a body: what a user waits, and what the device works."""

    waited: float
    worked: float


class Account(TorchDispatchMode):
    """Adds up what operations would take a device."""

    def __init__(self, spec: Spec) -> None:
        super().__init__()
        self.spec, self.host, self.busy, self.worked = spec, 0.0, 0.0, 0.0

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: Any = (),
        kwargs: Any = None,  # noqa: ANN401 - as torch's
    ) -> Any:  # noqa: ANN401 - as torch's
        given = kwargs or {}
        result = func(*args, **given)
        inputs = [one for one in tree_leaves((args, given)) if isinstance(one, Tensor)]
        made = [one for one in tree_leaves(result) if isinstance(one, Tensor)]
        stores = {one.untyped_storage().data_ptr() for one in inputs}
        aliases = [alias for one in func._schema.returns if (alias := one.alias_info)]
        is_view = func is torch.ops.aten._unsafe_view.default or not all(
            a.is_write for a in aliases
        )
        if is_view or func.overloadpacket.__name__.startswith(EMPTY):
            return result
        new = [one for one in made if not any(one is other for other in inputs)]
        size = sum(one.nbytes for one in (*inputs, *new))
        count = flop_registry.get(func.overloadpacket)
        flops = count(*args, **given, out_val=result) if count else 0.0
        seconds = self.spec.kernel + max(flops / PEAK, size / self.spec.bandwidth)
        self.worked += seconds
        self.host += self.spec.launch
        self.busy = max(self.busy, self.host) + seconds
        return result
