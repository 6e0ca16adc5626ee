# SPDX-License-Identifier: MIT
"""How often the interval of the speed of two machines covers it, and how wide it is, by simulation.

The launches of either run go through `reports.table.scored`, and the script of the pages,
`static/score.js`, makes the score of what is left.
"""

import math
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from frobench.reports.purchase import script
from frobench.reports.purchase.machines import ERROR_STEP
from frobench.reports.table.launches import STEP, deviations, error, log_centres, shared
from studies.calibration.figures import Figure, Goal, Table
from studies.calibration.regimes import MODES_APART, NOISE, REGIMES, Regime, Values
from studies.calibration.work import Spread, Tell

LAUNCHES = ((6, 6), (8, 8), (6, 10), (10, 10))
"""Of the reference, and of the machine."""
PARTS, CASES = 4, 12
"""How many there are, and the cases of each."""
LOOKS = {"score": dict.fromkeys(map(str, range(PARTS)), 1), "one part": {"0": 1}}
"""Weights by part: of all parts the same, and of one alone."""
SCORES = """(pairs, looks) => {
    const alone = { accelerated: true, invalid: "", left: {}, specimens: [] };
    const machine = (seconds) => ({ ...alone, seconds });
    return pairs.map(({ parts, sides }) => looks.map((weights) => {
        const [base, one] = sides.map(machine);
        return model.score(one, base, model.weighed({ parts }, weights)).speed;
    }));
}"""
COVERED = Goal(least=0.93)
WIDTH = Goal(most=1.5)


class Effects(NamedTuple):
    """What moves the logarithms of a launch's times, as standard deviations.

    together, part, own : alike in all cases, in those of a part, and in each for itself
    astray : how often a launch is slower by as much as two modes differ, in all its cases
    regime : draws what launches share, beside all this
    stretch : how many times as wide the second machine spreads
    """

    name: str
    together: float
    part: float
    own: float
    astray: float = 0.0
    regime: Regime | None = None
    stretch: float = 1.0


EFFECTS = [
    Effects("cases err apart", 0.0, 0.0, NOISE),
    Effects("all cases share a launch's fate", NOISE, 0.0, NOISE / 2),
    Effects("those of a part share it", 0.0, NOISE, NOISE / 2),
    Effects("something of each", NOISE / 2, NOISE / 2, NOISE / 2),
    Effects("one launch in ten astray", NOISE / 2, 0.0, NOISE / 2, astray=0.1),
    Effects("something of each, one 3 times as wide", NOISE / 2, NOISE / 2, NOISE / 2, stretch=3),
]
FATES = [Effects(one.name, 0.0, 0.0, NOISE, regime=one) for one in REGIMES]

Cell = tuple[Effects, tuple[int, int]]


def study(tell: Tell, spread: Spread, runs: int) -> list[Table]:
    """Return the tables of coverage, of the score and of one part, and of widths.

    runs : pairs of them, simulated for each cell
    """
    cells: list[Cell] = list(product([*EFFECTS, *FATES], LAUNCHES))
    found = spread(partial(simulate, runs=runs), cells)
    figures: dict[str, list[Figure]] = {look: [] for look in (*LOOKS, "width")}
    for done, ((effects, launches), (shares, width)) in enumerate(
        zip(cells, found, strict=True), start=1
    ):
        column = f"{launches[0]} : {launches[1]}"
        for look, share in shares.items():
            figures[look].append(Figure.of(effects.name, column, share, "1", COVERED))
        figures["width"].append(Figure.of(effects.name, column, width, "", WIDTH))
        tell(done / len(cells), effects.name)
    title = (
        f"How often the interval of the speed of two machines covers it, over {PARTS} parts of "
        f"{CASES} cases with equal weights, in {runs:,} simulated pairs of runs a cell, by the "
        "launches of both"
    )
    return [
        Table(title=title, rows="launches", figures=figures["score"]),
        Table(title="The same for one of the parts", rows="launches", figures=figures["one part"]),
        Table(
            title="Mean width of the first of these intervals by that of Welch's t-test",
            rows="launches",
            figures=figures["width"],
        ),
    ]


def simulate(cell: Cell, runs: int) -> tuple[dict[str, float], float]:
    """Return how often the intervals cover, and how wide that of the score is by a t-interval."""
    effects, launches = cell
    random = np.random.default_rng([*launches, *effects.name.encode()])
    pairs, expected = [], 0.0
    for _ in range(runs):
        stretches = 1.0, effects.stretch
        sides = [draw(random, effects, *each) for each in zip(launches, stretches, strict=True)]
        pairs.append({"parts": _parts(), "sides": [*map(_seconds, sides)]})
        expected += _welch(*(side.mean(axis=0) for side in sides))
    found: Any = script.call(SCORES, pairs, [*LOOKS.values()])
    hits = {
        look: sum(abs(one[at]["log"]) <= 1.96 * one[at]["error"] for one in found) / runs
        for at, look in enumerate(LOOKS)
    }
    return hits, 1.96 * sum(first["error"] for first, _ in found) / expected


def draw(random: np.random.Generator, effects: Effects, launches: int, stretch: float) -> Values:
    """Draw the logarithms of the times of a run; cases x launches."""
    fates = effects.together * random.standard_normal(launches)
    fates += MODES_APART / 2 * (random.random(launches) < effects.astray)
    if effects.regime:
        fates += np.log(effects.regime.draw(random, 1, launches)[0])
    parts = effects.part * random.standard_normal((PARTS, 1, launches))
    own = effects.own * random.standard_normal((PARTS, CASES, launches))
    found: Values = stretch * (fates + parts + own).reshape(-1, launches)
    return found


def _parts() -> list[dict[str, Any]]:
    return [
        {
            "name": str(part),
            "cpu": False,
            "weights": {},
            "kinds": [[place] for place in range(part * CASES, (part + 1) * CASES)],
        }
        for part in range(PARTS)
    ]


def _seconds(logs: Values) -> dict[str, Any]:
    """Return what the page holds of a run with these logarithms."""
    index = pd.MultiIndex.from_product([range(PARTS), range(CASES), [0]])
    means = deviations(pd.DataFrame(logs, index=index)).to_numpy()
    return {
        "logs": np.round(log_centres(np.exp(logs)) / STEP).astype(int).tolist(),
        "errors": [round(error(mean) / ERROR_STEP) for mean in means],
        "shared": round(shared(means), 2),
    }


def _welch(base: Values, new: Values) -> float:
    """Return half the width of the interval by Welch's t-test."""
    parts = [side.var(ddof=1) / side.size for side in (base, new)]
    spent = sum(part**2 / (side.size - 1) for part, side in zip(parts, (base, new), strict=True))
    quantile = float(student.ppf(0.975, sum(parts) ** 2 / spent))
    return quantile * math.sqrt(sum(parts))
