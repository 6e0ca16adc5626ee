# SPDX-License-Identifier: MIT
"""Language models that everyone knows: which fit into a device, and their tokens per second.

They are computed and not measured. Decoding a token reads every weight, and the keys and values of
the tokens before it, at the rate at which layers were measured to read theirs. A token of a prompt
takes two operations a weight, and its attention, at the rate of the measured prefill. Batch 1,
`CONTEXT` tokens, bfloat16; decoding also with the small weights that were measured.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

import pandas as pd
from msgspec import Struct

from frobench.reports.findings import peaks
from frobench.reports.findings.exercises import copies, layers
from frobench.reports.findings.select import Cases, NotMeasuredError, cases_of
from frobench.reports.findings.values import estimate_of, size
from frobench.suite.checks.ceilings import LARGEST_CACHE, find_sheet
from frobench.suite.datasheets import catalog
from frobench.suite.stored.machine_identity import is_cpu
from frobench.suite.stored.types import Case, Estimate, Run
from frobench.suite.terminal.answers import ModelSpeed
from frobench.suite.units import counted, format_capacity, format_estimate

CONTEXT = 2048
"""Tokens of a prompt, and of the cache that decoding reads."""
BFLOAT16 = 2.0
SMALL = {"int8": 1.0, "float8_e4m3fn": 1.0, "int4": 4.5 / 8}
"""Bytes of a weight; those of int4 have a scale of 16 bits for every 32."""
FREE = 2e9
"""Bytes that are kept free beside the weights."""
CACHES = 2
"""Caches that measured weights must exceed, or they may be read from a cache."""


class Model(NamedTuple):
    """A model; the numbers are those of its configuration.

    keys : numbers of the keys of a token in a layer, and of its values
    """

    name: str
    parameters: int
    layers: int
    width: int
    keys: int
    source: str

    @property
    def weights(self) -> float:
        """The bytes of its weights."""
        return BFLOAT16 * self.parameters

    @property
    def cache_bytes(self) -> float:
        """The bytes of the cache that decoding a token reads."""
        return BFLOAT16 * 2 * self.layers * self.keys * CONTEXT

    @property
    def token_bytes(self) -> float:
        """The bytes that decoding a token reads."""
        return self.weights + self.cache_bytes

    def small_token_bytes(self, weights: str) -> float:
        """Return the bytes that decoding a token reads if its weights are small."""
        return SMALL[weights] * self.parameters + self.cache_bytes

    @property
    def token_flops(self) -> float:
        """The operations of a token of a prompt; of attention, the causal half."""
        return 2.0 * self.parameters + 2.0 * self.layers * self.width * (CONTEXT + 1)


_HUB = "https://huggingface.co"
MODELS = (
    Model("Llama 3.2 1B", 1_235_814_400, 16, 2048, 512, f"{_HUB}/meta-llama/Llama-3.2-1B"),
    Model("Llama 3.1 8B", 8_030_261_248, 32, 4096, 1024, f"{_HUB}/meta-llama/Llama-3.1-8B"),
    Model("Qwen2.5 14B", 14_770_033_664, 48, 5120, 1024, f"{_HUB}/Qwen/Qwen2.5-14B"),
    Model("Qwen2.5 32B", 32_763_876_352, 64, 5120, 1024, f"{_HUB}/Qwen/Qwen2.5-32B"),
    Model("Llama 3.1 70B", 70_553_706_496, 80, 8192, 1024, f"{_HUB}/meta-llama/Llama-3.1-70B"),
)


class Serving(Struct, frozen=True, kw_only=True):
    """The rates that tokens per second are computed from.

    decode : bytes/s; ``None`` where nothing tells
    basis : what read them
    prefill : FLOP/s; ``None`` where no wide layers were measured
    small : bytes/s of decoding with small weights, by their type
    cases : of all these rates
    """

    decode: Estimate | None = None
    basis: str = ""
    prefill: Estimate | None = None
    small: dict[str, Estimate] = {}
    cases: tuple[str, ...] = ()


def serving(run: Run, place: str) -> Serving:
    """Return the rates of a device of a run: of its widest layers, replayed if they were."""
    transformer = cases_of(run, "transformer")
    decoding, prefill = (
        next((one.replayed or one.case for one in layers.models(transformer, place, work)), None)
        for work in (layers.DECODING, layers.PREFILL)
    )
    rate, basis, names = _decoding(run, place, transformer, decoding)
    if prefill and not is_cpu(place):
        names += (prefill.fullname,)
        flops = estimate_of(transformer.one("flop_rate", case=prefill.fullname))
    else:
        flops = None
    decode = None if rate is None else estimate_of(rate)
    small, behind = _small(run, place)
    return Serving(decode=decode, basis=basis, prefill=flops, small=small, cases=names + behind)


def _decoding(
    run: Run, place: str, cases: Cases, case: Case | None
) -> tuple[pd.Series | None, str, tuple[str, ...]]:
    """Return the bytes a second of decoding, or those of copies where a cache may hold weights."""
    if case and _exceeds_caches(run, place, case, BFLOAT16):
        rate = cases.one("byte_rate", case=case.fullname)
        width = size(float(str(case.params["width"])))
        return rate, f"decoding with layers of width {width}", (case.fullname,)
    with suppress(NotMeasuredError):
        rate, names = copies.bandwidth_of(cases_of(run, "copies"), "within", place)
        return rate, "copies in its memory", names
    return None, "", ()


def _small(run: Run, place: str) -> tuple[dict[str, Estimate], tuple[str, ...]]:
    """Return the bytes a second of decoding with small weights that no cache holds, by type."""
    cases = cases_of(run, "small_weights")
    found = {
        weights: case
        for weights, case in layers.decoding(cases, place).items()
        if weights in SMALL and _exceeds_caches(run, place, case, SMALL[weights])
    }
    rates = {
        weights: estimate_of(cases.one("byte_rate", case=case.fullname))
        for weights, case in found.items()
    }
    return rates, tuple(case.fullname for case in found.values())


def _exceeds_caches(run: Run, place: str, case: Case, weight: float) -> bool:
    """Tell whether the weights of a case, each of so many bytes, cannot have come from a cache."""
    width, layers = (float(str(case.params.get(name, 1))) for name in ("width", "layers"))
    sheet = find_sheet(peaks.accelerator(run, place))
    cache = (catalog.last_level_cache(sheet.figures) if sheet else None) or LARGEST_CACHE
    return weight * 12 * width**2 * layers > CACHES * cache


def speeds(known: Serving, memory_bytes: float | None) -> Iterator[ModelSpeed]:
    """Yield all models on a device with so much memory; none where that is unknown."""
    if not memory_bytes:
        return
    room = memory_bytes - FREE
    for model in MODELS:
        fits = model.weights <= room
        yield ModelSpeed(
            name=model.name,
            bytes=model.weights,
            fits=fits,
            decode=_per(known.decode, model.token_bytes) if fits and known.decode else None,
            prompt=_per(known.prefill, model.token_flops) if fits and known.prefill else None,
            small={
                weights: _per(rate, model.small_token_bytes(weights))
                for weights, rate in known.small.items()
                if SMALL[weights] * model.parameters <= room
            },
        )


def _per(rate: Estimate, amount: float) -> Estimate:
    low, high = (end and end / amount for end in (rate.low, rate.high))
    return Estimate(rate.value / amount, low, high, rate.launches)


def note(sides: Mapping[str, Serving]) -> str:
    """Say how the numbers were computed.

    sides : what they are of, by what stands before each
    """
    rates = [
        f"{name}{format_estimate(rate, 'B/s')} in {basis}"
        for name, one in sides.items()
        for rate, basis in [
            (one.decode, one.basis),
            *((rate, f"decoding with {weights} weights") for weights, rate in one.small.items()),
        ]
        if rate
    ]
    free = f"{format_capacity(FREE)} are kept free beside the weights."
    if not rates:
        return free
    example = MODELS[1]
    return (
        f"Tokens per second are computed: {', '.join(rates)}, over the weights and the cache that "
        f"a token reads ({example.name}: {format_capacity(example.token_bytes)}). Batch 1, bf16, "
        f"{counted(CONTEXT, 'token')} of context; {free}"
    )
