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

from msgspec import Struct

from frobench.reports.findings import peaks
from frobench.reports.findings.exercises import copies, layers
from frobench.reports.findings.select import NotMeasuredError, cases_of
from frobench.reports.findings.values import estimate_of, size
from frobench.suite.checks.ceilings import LARGEST_CACHE, find_sheet
from frobench.suite.datasheets import catalog
from frobench.suite.stored.machine_identity import is_cpu
from frobench.suite.stored.types import Case, Estimate, Run
from frobench.suite.terminal.answers import ModelSpeed
from frobench.suite.units import counted, format_capacity, format_estimate

CONTEXT = 2048
"""Tokens of a prompt, and of the cache that decoding reads."""
DECODE, PROMPT = "decode", "prompt"
"""Names of rates, beside the types of small weights that are decoded with."""
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
    def amounts(self) -> dict[str, float]:
        """What a token takes, by the names of rates: bytes that decoding reads, and operations.

        Of the attention to a prompt it is the causal half.
        """
        cache = self.layers * 2 * self.keys * CONTEXT * BFLOAT16
        attention = 2.0 * self.layers * self.width * (CONTEXT + 1)
        small = {weights: each * self.parameters + cache for weights, each in SMALL.items()}
        return {DECODE: self.weights + cache, PROMPT: 2.0 * self.parameters + attention, **small}


_HUB = "https://huggingface.co"
MODELS = (
    Model("Llama 3.2 1B", 1_235_814_400, 16, 2048, 512, f"{_HUB}/meta-llama/Llama-3.2-1B"),
    Model("Llama 3.1 8B", 8_030_261_248, 32, 4096, 1024, f"{_HUB}/meta-llama/Llama-3.1-8B"),
    Model("Qwen2.5 14B", 14_770_033_664, 48, 5120, 1024, f"{_HUB}/Qwen/Qwen2.5-14B"),
    Model("Qwen2.5 32B", 32_763_876_352, 64, 5120, 1024, f"{_HUB}/Qwen/Qwen2.5-32B"),
    Model("Llama 3.1 70B", 70_553_706_496, 80, 8192, 1024, f"{_HUB}/meta-llama/Llama-3.1-70B"),
)


class Serving(Struct, frozen=True, kw_only=True):
    """The rates that tokens per second of language models are computed from.

    rates : bytes/s of decoding, FLOP/s of a prompt, those that are known
    basis : what was decoded, if not with small weights
    cases : of all these rates
    """

    rates: dict[str, Estimate] = {}
    basis: str = ""
    cases: tuple[str, ...] = ()

    @property
    def small(self) -> dict[str, Estimate]:
        """Those of decoding with small weights, by their type."""
        return {name: rate for name, rate in self.rates.items() if name in SMALL}


def serving(run: Run, place: str) -> Serving:
    """Return the rates of a device of a run: of its widest layers, replayed if they were.

    Decoding is as fast as copies where a cache may hold the weights that were measured.
    """
    rates: dict[str, Estimate] = {}
    names, basis = tuple[str, ...](), ""
    with suppress(NotMeasuredError):
        rate, names = copies.bandwidth_of(cases_of(run, "copies"), "within", place)
        rates[DECODE], basis = estimate_of(rate), "copies in its memory"
    decoding, prefill = (
        next((one.replayed or one.case for one in layers.models(cases, place, work)), None)
        for cases in [cases_of(run, "transformer")]
        for work in (layers.DECODING, layers.PREFILL)
    )
    measured: dict[str, Case] = {}
    if decoding and _exceeds_caches(run, place, decoding, BFLOAT16):
        width = size(peaks.number(decoding, "width"))
        measured[DECODE], names, basis = decoding, (), f"decoding with layers of width {width}"
    if prefill and not is_cpu(place):
        measured[PROMPT] = prefill
    measured |= {
        weights: case
        for weights, case in layers.decoding(cases_of(run, "small_weights"), place).items()
        if weights in SMALL and _exceeds_caches(run, place, case, SMALL[weights])
    }
    for name, case in measured.items():
        what = "flop_rate" if name == PROMPT else "byte_rate"
        rates[name] = estimate_of(cases_of(run, case.group).one(what, case=case.fullname))
    names += tuple(case.fullname for case in measured.values())
    return Serving(rates=rates, basis=basis, cases=names)


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
        fitting = {
            name: per(rate, model.amounts[name])
            for name, rate in known.rates.items()
            if SMALL.get(name, BFLOAT16) * model.parameters <= room
        }
        yield ModelSpeed(
            name=model.name,
            bytes=model.weights,
            fits=model.weights <= room,
            decode=fitting.pop(DECODE, None),
            prompt=fitting.pop(PROMPT, None),
            small=fitting,
        )


def per(rate: Estimate, amount: float) -> Estimate:
    """Return a rate for each of so many, with its interval."""
    low, high = (end and end / amount for end in (rate.low, rate.high))
    return Estimate(rate.value / amount, low, high, rate.launches)


def note(sides: Mapping[str, Serving]) -> str:
    """Say how the numbers were computed.

    sides : what they are of, by what stands before each
    """
    rates = [
        f"{side}{format_estimate(rate, 'B/s')} in "
        + (one.basis if name == DECODE else f"decoding with {name} weights")
        for side, one in sides.items()
        for name, rate in one.rates.items()
        if name != PROMPT
    ]
    free = f"{format_capacity(FREE)} are kept free beside the weights."
    if not rates:
        return free
    example = MODELS[1]
    return (
        f"Tokens per second are computed: {', '.join(rates)}, over the weights and the cache that "
        f"a token reads ({example.name}: {format_capacity(example.amounts[DECODE])}). "
        f"Batch 1, bf16, {counted(CONTEXT, 'token')} of context; {free}"
    )
