# SPDX-License-Identifier: MIT
"""What a run finds of transformers, their parts and convolutions is what devices make of them.

The run is made in the simulation's own time (see `test_truth.py`), on sizes that are smaller than
those of GPUs. What it should find is foretold from the operations of the same bodies, which a CPU
computes here: an operation takes the host its launch and then the device its kernel and the longer
of its arithmetic and its bytes.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from frobench.reports.findings.exercises.limits import COMPUTE, MEMORY, parts_of
from frobench.reports.findings.select import cases_of
from frobench.suite.kit.device import Device
from frobench.suite.stored.types import Work
from tests.instruments.devices.measured import EXACT, STRANGE, Measured, measured
from tests.instruments.processes.alone import load, smaller

pytestmark = pytest.mark.long

LAUNCH, KERNEL, WAIT = 5e-6, 1.25e-6, 3.25e-6
PEAK, BANDWIDTH = 8e9, 2e9
SPEC = STRANGE | {
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
PROMPTS, CACHES, WIDTH = (64, 256, 1024), (64, 256, 1024), 128
IMAGES, CHANNELS = 4, 32
TRAINED, CACHED = 32, 64
SMALLER = {
    "transformer": {
        "TRAINED, CACHED = 1024, 2048": f"TRAINED, CACHED = {TRAINED}, {CACHED}",
        "width=[4096]": f"width=[{WIDTH}]",
        "width=[2048], layers=[4]": "width=[64], layers=[2]",
    },
    "long_context": {
        "NARROW = 256": "NARROW = 64",
        "cached=[2048, 32_768], width=[4096]": f"cached={[*CACHES[:2]]}, width=[{WIDTH}]",
        "width=[4096]": f"width=[{WIDTH}]",
        "[2048, 8192, 32_768]": str([*PROMPTS]),
        "[1, 2048, 8192, 32_768]": str([1, *PROMPTS]),
        "[2048, 8192, 32_768, 131_072]": str([*CACHES]),
        "tokens=[2048, 8192]": f"tokens={[*PROMPTS[:2]]}",
        "tokens=[1, 2048, 8192]": f"tokens={[1, *PROMPTS[:2]]}",
    },
    "small_weights": {
        "NARROW = 1024": "NARROW = 64",
        "width=[4096]": f"width=[{WIDTH}]",
        "[NARROW, 4096]": f"[{WIDTH}]",
        "CACHED = 2048": "CACHED = 64",
    },
    "convolutions": {
        "NARROW = 32": "NARROW = 8",
        "images=[256], channels=[256]": f"images=[{IMAGES}], channels=[{CHANNELS}]",
    },
}
VIEWS = (torch.ops.aten._unsafe_view.default,)
CPU = Device("cpu", seed=5)


class Foretold(NamedTuple):
    """Of a body: seconds a user waits and the device works, and its declared work by the limit."""

    waited: float
    worked: float
    work: dict[str, float]


class Account(TorchDispatchMode):
    """Adds up what operations would take a device."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it so
        self.host = self.busy = self.worked = 0.0

    def __torch_dispatch__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401 - as torch's
        """Compute an operation, and let it take its time."""
        result = func(*args, **(kwargs or {}))
        given, made = (
            [one for one in tree_leaves(tree) if isinstance(one, Tensor)]
            for tree in ((args, kwargs), result)
        )
        aliases = [one.alias_info for one in func._schema.returns if one.alias_info]
        is_view = func in VIEWS or not all(one.is_write for one in aliases)
        if is_view or "empty" in func.overloadpacket.__name__:
            return result
        new = [one for one in made if not any(one is other for other in given)]
        count = flop_registry.get(func.overloadpacket)
        flops = count(*args, **(kwargs or {}), out_val=result) if count else 0
        moved = sum(one.nbytes for one in (*given, *new))
        seconds = KERNEL + max(flops / PEAK, moved / BANDWIDTH)
        self.worked += seconds
        self.host += LAUNCH
        self.busy = max(self.busy, self.host) + seconds
        return result


@pytest.fixture(scope="module")
def benchmarks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of the benchmarks with smaller sizes."""
    return smaller(tmp_path_factory.mktemp("benchmarks"), SMALLER | {"matmul": {}, "copies": {}})


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, benchmarks: Path) -> Measured:
    return measured(
        tmp_path_factory.mktemp("seen"),
        SPEC,
        f"((long_context or convolutions) and bfloat16) or (small_weights and {WIDTH})"
        " or (transformer and not (64-2 or 1-32 or narrow))"
        " or (bench_within and 16777216) or (bench_square and 256-bfloat16 and not graph)",
        *("--benchmarks", benchmarks),
    )


Foretell = Callable[..., Foretold]


@pytest.fixture(scope="module")
def foretell(benchmarks: Path) -> Foretell:
    """Return what foretells a case of the run."""
    modules: dict[str, Any] = {name: load(benchmarks / f"bench_{name}.py") for name in SMALLER}
    foreach = partial(torch.optim.SGD, foreach=True)  # as on accelerators

    def find(name: str, function: str, **given: Any) -> Foretold:  # noqa: ANN401 - as the benchmark
        account, declared = Account(), dict[str, float]()

        def measure(body: Callable[[], object], work: Work, **_: object) -> None:
            with account:
                body()
            declared.update({COMPUTE: work.flops or 0.0, MEMORY: work.bytes or 0.0})

        with pytest.MonkeyPatch.context() as patch, sdpa_kernel(SDPBackend.MATH):
            patch.setattr(modules[name], "skip_unsuited", lambda *_, **__: None, raising=False)
            patch.setattr(torch.optim, "SGD", foreach)
            where = "accelerator" if name == "transformer" else "device"
            getattr(modules[name], f"bench_{function}")(
                measure, dtype="bfloat16", **given | {where: CPU}
            )
        return Foretold(account.busy + WAIT, account.worked, declared)

    return find


FLOPS, COPIED = 2 * 256**3, 2 * 2**24
FOUND = {
    COMPUTE: FLOPS / (KERNEL + FLOPS / PEAK),
    MEMORY: COPIED / (LAUNCH + KERNEL + COPIED / BANDWIDTH + WAIT),
}
"""FLOP/s of the square product, by the device, and bytes a second of the copy."""


def holds_share(seen: Measured, exercise: str, name: str, limit: str, rate: float) -> None:
    """Check the part of its limit that a case has, by its rate."""
    cases = cases_of(seen.run, exercise)
    (case,) = (one for one in cases.where() if one.name == name)
    part = float(parts_of(cases, case)[limit].by_launch.median())
    assert part == pytest.approx(rate / FOUND[limit], rel=EXACT)


def test_what_the_device_lacks_is_left_out(seen: Measured) -> None:
    assert "no product of int4 weights here" in seen.finding("int4-acme:0").answer


def test_attention_is_as_fast_as_its_operations(seen: Measured, foretell: Foretell) -> None:
    for name, length, size, limit in (
        ("prefill", "tokens", PROMPTS[-1], COMPUTE),
        ("decode", "cached", CACHES[-1], MEMORY),
    ):
        truth = foretell("long_context", name, width=WIDTH, **{length: size})
        rate = truth.work[limit] / truth.waited
        seen.holds({f"long_context/{name}-acme:0": rate})
        case = f"bench_{name}[acme:0-{size}-{WIDTH}-bfloat16]"
        holds_share(seen, "long_context", case, limit, rate)


@pytest.mark.parametrize("name", ["prefill", "decode"])
def test_attention_outweighs_products(seen: Measured, foretell: Foretell, name: str) -> None:
    """From the length on at which it takes the device longer."""
    size = "tokens" if name == "prefill" else "cached"
    products = partial(foretell, "long_context", "products", width=WIDTH)

    def longer(length: int) -> float:
        attention = foretell("long_context", name, width=WIDTH, **{size: length})
        return attention.worked - products(tokens=length if size == "tokens" else 1).worked

    low, high = PROMPTS[0], PROMPTS[-1]
    assert longer(low) < 0 < longer(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if longer(middle) > 0 else (middle, high)
    assert seen.value(f"{name}-length-acme:0") == pytest.approx(high, rel=EXACT, abs=1)


def test_small_weights_gain_the_bytes_that_they_spare(seen: Measured, foretell: Foretell) -> None:
    truths = {
        weights: foretell("small_weights", "decode", width=WIDTH, weights=weights)
        for weights in ("bfloat16", "int8", "float8_e4m3fn")
    }
    replayed = {weights: LAUNCH + truth.worked + WAIT for weights, truth in truths.items()}
    for weights, truth in truths.items():
        name = f"[acme:0-{WIDTH}-{weights}-bfloat16]"
        seen.holds({f"bench_decode{name}": truth.waited})
        rate = truth.work[MEMORY] / replayed[weights]
        holds_share(seen, "small_weights", f"bench_decode_graph{name}", MEMORY, rate)
        if weights != "bfloat16":
            seen.holds({f"{weights}-acme:0": replayed["bfloat16"] / replayed[weights]})


def test_layers_take_what_their_operations_take(seen: Measured, foretell: Foretell) -> None:
    """And a graph launches once."""
    cases: dict[str, tuple[dict[str, int], str]] = {
        "prefill": ({}, COMPUTE),
        "decode": ({"batch": 1}, MEMORY),
    }
    for kind, (more, limit) in cases.items():
        truth = foretell("transformer", kind, width=WIDTH, layers=1, **more)
        replayed = LAUNCH + truth.worked + WAIT
        name = f"[acme:0-{'-'.join(map(str, (WIDTH, 1, *more.values())))}-bfloat16]"
        seen.holds({f"bench_{kind}{name}": truth.waited, f"bench_{kind}_graph{name}": replayed})
        rate = truth.work[limit] / truth.waited
        holds_share(seen, "transformer", f"bench_{kind}{name}", limit, rate)
        if kind == "decode":
            seen.holds({"decode-1-acme:0": 1 / replayed, "replay": truth.waited / replayed})
    shape = f"[acme:0-{WIDTH}-1-bfloat16]"
    for kind, tokens in (("train", TRAINED), ("prefill", CACHED)):
        seen.holds({f"transformer/{kind}-acme:0": tokens / seen.seconds(f"bench_{kind}{shape}")})
    assert seen.seconds(f"bench_train_graph{shape}") > LAUNCH + WAIT


def test_images_are_as_fast_as_their_operations(seen: Measured, foretell: Foretell) -> None:
    shape: dict[str, Any] = {"images": IMAGES, "channels": CHANNELS}
    for function in ("step", "forward"):
        truth = foretell("convolutions", function, layout="channels_last", **shape)
        seen.holds({f"{function}-acme:0": IMAGES / truth.waited})
        name = f"bench_{function}[acme:0-{IMAGES}-{CHANNELS}-channels_last-bfloat16]"
        holds_share(seen, "convolutions", name, COMPUTE, truth.work[COMPUTE] / truth.waited)
    seen.holds({"layout-acme:0": 1.0})
