# SPDX-License-Identifier: MIT
"""What further cases would change in the scores of training and of LLM decode.

``python -m studies.workloads`` prints the table of `docs/decisions/cases-of-workloads.md`. Made-up
cards are compared with one of them, by the scores as they are and as they would be. A card differs
from that one in its rates, or in what torch's kernels make of them.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from frobench.reports.compare import workload
from tests.instruments.runs.made_up_cards import CARD, Card, faster, run

WEIGHTS = {"training": 11, "decode": 4}
"""What the parts of a card weigh today."""
WIDTH, TOKENS = 4096, 1024
LAYER = 12 * WIDTH**2
"""Weights of a layer."""
STEP, ATTENTION, SMALL = 4, 1, 1
"""What the new parts would weigh: a compiled step as much as a replayed one."""


class Kernels(NamedTuple):
    """What torch's kernels make of a card.

    attention : rate of long prefills, as a part of the peak
    compiled : how many times as fast a compiled step is
    small : bandwidth of products with small weights, as a part of the memory's
    kinds : bytes of the small weights that there are kernels for
    """

    attention: float = 0.5
    compiled: float = 1.3
    small: float = 0.7
    kinds: tuple[float, ...] = (1.0, 0.5, 1.0)


CARDS: dict[str, tuple[Card, Kernels]] = {
    "twice the compute": (faster(CARD, compute=2), Kernels()),
    "twice the memory's bandwidth": (faster(CARD, memory=2), Kernels()),
    "twice both": (faster(CARD, 2, 2), Kernels()),
    "a host twice as fast": (
        CARD._replace(launch=CARD.launch / 2, readback=CARD.readback / 2),
        Kernels(),
    ),
    "attention at half the rate": (CARD, Kernels(attention=0.25)),
    "a compiler that gains nothing": (CARD, Kernels(compiled=1.0)),
    "kernels for small weights at half the bandwidth": (CARD, Kernels(small=0.35)),
    "kernels for int8 alone": (CARD, Kernels(kinds=(1.0,))),
}


def added(card: Card, kernels: Kernels, name: str) -> Iterator[tuple[float, float]]:
    """Yield weight and seconds of the cases that a workload would have besides."""
    peak = card.flops["bfloat16"]
    if name == "training":
        step = max(6 * LAYER * TOKENS / peak, 32 * LAYER / card.memory)
        yield STEP, card.launch + card.readback + step / kernels.compiled
        for tokens in (8192, 32_768):
            yield ATTENTION / 2, 2 * WIDTH * tokens**2 / (kernels.attention * peak)
        return
    for cached in (8192, 32_768, 131_072):
        yield ATTENTION / 3, card.launch + card.readback + 4 * cached * WIDTH / card.memory
    for size in kernels.kinds:
        layer = size * LAYER / kernels.small + 4 * 2048 * WIDTH
        yield SMALL, card.launch + card.readback + layer / card.memory


def scores(card: Card, kernels: Kernels, name: str) -> tuple[float, float, float]:
    """Return the score today, the score with the further cases, and its coverage."""
    base, new = ([*added(*one, name)] for one in ((CARD, Kernels()), (card, kernels)))
    found = workload.score(workload.sides(run(CARD), run(card)), name)
    today, weight = math.log(found["speed"]["value"]), float(WEIGHTS[name])
    pairs = [*zip(base, new, strict=False)]
    logs = sum(weight * math.log(before / after) for (weight, before), (_, after) in pairs)
    measured = weight + sum(weight for (weight, _), _ in pairs)
    after = math.exp((weight * today + logs) / measured)
    return math.exp(today), after, measured / (weight + sum(weight for weight, _ in base))


def table() -> str:
    """Return the table of the decision."""
    lines = [
        "| card beside the first | training | with the cases | LLM decode | with the cases |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for title, made in CARDS.items():
        cells = [title]
        for name in WEIGHTS:
            today, after, coverage = scores(*made, name)
            cells += [f"{today:.2f}", f"{after:.2f}"]
            if coverage < 1:
                cells[-1] += f" (of {coverage:.0%} of the weight)"
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())  # noqa: T201 - the result
