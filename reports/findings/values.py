# SPDX-License-Identifier: MIT
"""Numbers by launch and sizes: what is estimated of them, and how sentences spell them."""

import numpy as np
import pandas as pd
from msgspec.structs import replace

from frobench.reports.findings.select import Curve
from frobench.suite.statistics import estimate
from frobench.suite.stored.types import Estimate
from frobench.suite.units import format_estimate, format_point, format_value

VALUE, SIZE = "{value}", "{size}"
"""Stand in a sentence for the estimate with its interval, and for a size."""


def axis_pattern(axis: str) -> str:
    """Return how a size is spelled in a sentence, such as n = 4,096."""
    return f"{axis}\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{SIZE}"


N = axis_pattern("n")


def estimate_of(by_launch: pd.Series) -> Estimate:
    """Estimate a number over the launches that have it."""
    numbers = by_launch.to_numpy(float)
    return estimate(numbers[~np.isnan(numbers)].tolist())


def is_above(by_launch: pd.Series, level: float = 1.0) -> bool:
    """Tell whether the whole interval of a number lies above a level, of a ratio above 1."""
    low = estimate_of(by_launch).low
    return low is not None and low > level


def is_below(by_launch: pd.Series, level: float = 1.0) -> bool:
    """Tell whether the whole interval of a number lies below a level, of a ratio below 1."""
    high = estimate_of(by_launch).high
    return high is not None and high < level


def text(by_launch: pd.Series, unit: str) -> str:
    """Spell a number with its interval."""
    return format_estimate(estimate_of(by_launch), unit)


def most(by_launch: pd.Series) -> Estimate:
    """Return the largest launch, for what is attainable, with the median's interval for digits."""
    return replace(estimate_of(by_launch), value=float(by_launch.max()))


def at_least(by_launch: pd.Series, unit: str) -> str:
    """Spell the largest launch, for what is attainable."""
    return f"at least {format_point(most(by_launch), unit)}"


def size(number: float, pattern: str = SIZE) -> str:
    """Spell a size, such as n = 4,096."""
    return pattern.replace(SIZE, format_value(number, "n"))


def behind(*curves: Curve) -> tuple[str, ...]:
    """Name all cases behind some curves, each once."""
    names = (name for curve in curves for cases in curve.cases.values() for name in cases)
    return tuple(dict.fromkeys(names))
