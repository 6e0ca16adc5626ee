# SPDX-License-Identifier: MIT
"""Two versions of a body, sampled side by side.

What a launch, a clock or a neighbour does to one sample it does to the one beside it, so that
a far smaller difference shows than between two runs.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

from suite.measure.sampling import Measurement
from suite.profiles import LEAST_SAMPLES
from suite.stored.run import Settings

if TYPE_CHECKING:
    from suite.measure.sampler import Sampler


def sample_beside(
    sampler: "Sampler", other: "Sampler", seen: Measurement, settings: Settings
) -> None:
    """Take samples of another version before or after the body's own, at random.

    They take the same number of calls. Span samples, which would favour one of the two, come
    after all pairs.
    """
    leads, begun = other_leads(), sampler.clock()
    sampler.took(seen.iterations)
    pairs = _pairs(sampler.clock() - begun, settings)
    while not seen.enough(settings, sampler.clock() - begun):
        new, old = _middle(sampler, other, seen, islice(leads, pairs))
        seen.host.append(new)
        seen.against.append(old)
    for _ in range(LEAST_SAMPLES):
        seen.observe(sampler)


def other_leads() -> Iterator[bool]:
    """Yield whether the other version comes first: in one of every two pairs, at random which.

    A fixed order can fall into step with what comes and goes, such as the time slices of a
    shared core, and always the same version is hit: in simulation identical code was called
    different in up to 40%.
    """
    random = Random()  # noqa: S311 - no secret, but out of reach of a body that seeds
    while True:
        first = random.random() < 0.5  # noqa: PLR2004 - a coin
        yield first
        yield not first


def _pairs(sample: float, settings: Settings) -> int:
    """Return how many pairs of samples take as long as a sample may, an odd number.

    sample : seconds of one, with what comes before it
    """
    return int(settings.case_seconds / settings.most_samples / (2 * sample)) | 1


def _middle(
    sampler: "Sampler", other: "Sampler", seen: Measurement, leads: Iterable[bool]
) -> tuple[float, float]:
    """Take several pairs, in which the other version leads or not; return the one in the middle.

    By its ratio, that is: what hits single calls in a handful of short pairs moves nothing.
    """
    pairs = []
    for other_first in leads:
        seen.result = seen.other = None  # the memory of one result each is enough
        if other_first:
            old = seen.sample_other(other)
        new = seen.sample(sampler)
        if not other_first:
            old = seen.sample_other(other)
        pairs.append((new, old))
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]
