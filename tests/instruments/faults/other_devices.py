# SPDX-License-Identifier: MIT
"""Figures that a device cannot have by its cache, its generation or the best card that there is."""

from frobench.suite.stored.types import Case, Run
from tests.instruments.faults.judging import keep, name_again, of_its_name
from tests.instruments.faults.spoiling import Spoil, case, last, product, put, work

Facts = dict[str, object]
RTX_2070_SUPER: Facts = {
    "name": "NVIDIA GeForce RTX 2070 SUPER",
    "capability": "7.5",
    "memory_bytes": 8 * 2**30,
    "multiprocessors": 40,
}
"""A device with 4 MiB of cache."""
L4: Facts = {
    "name": "NVIDIA L4",
    "capability": "8.9",
    "memory_bytes": 23 * 2**30,
    "multiprocessors": 58,
}
"""A device with a large cache, 48 MiB, and a slow memory."""
UNLISTED: Facts = {"name": "NVIDIA Graphics Device", "capability": "9.0", "multiprocessors": 40}
"""A device that the catalog does not know, of a generation that it knows."""
STRANGE: Facts = {"name": "Another", "capability": None, "multiprocessors": None}
"""A device of which nothing is known."""
OF_UNITS = 40 * 256 * 1.98e9
"""Float32 operations that 40 units of an H100 do in a second at the stored highest clock."""


def copied(facts: Facts, size: int, rate: float) -> Spoil:
    """Let a copy of so many bytes be made within another device, which reads and writes them.

    rate : bytes read and written in a second
    """

    def spoil(run: Run) -> None:
        one = case(run, "bench_within", device="cuda:0")
        name_again(run, one, size=size)
        work(one, bytes=2.0 * size)
        alone_on(run, facts, one, 2.0 * size / rate)

    return spoil


def multiplied(facts: Facts, rate: float) -> Spoil:
    """Let a float32 product run at so many FLOP/s on another device."""
    return lambda run: alone_on(run, facts, product(run), 2.0 * 16384**3 / rate)


def alone_on(run: Run, facts: Facts, one: Case, seconds: float) -> None:
    """Let a case be the only one of a run whose accelerators are others."""
    told = run.frobench.environment
    for place, device in enumerate(told.accelerators):
        put(device, **facts)
        told.unknown |= {
            f"accelerators.{place}.{name}": "it is not told"
            for name, value in facts.items()
            if value is None
        }
    of_its_name(told)
    keep(run, lambda other: other is one)
    last(run, seconds, one)


REFUSED: dict[str, tuple[str, Spoil]] = {
    "a copy at 1.85 times the memory's rate where the cache is small": (
        "above-memory",
        copied(RTX_2070_SUPER, 380_000_000, 1.85 * 448e9),
    ),
    "a product above twice what the units of its generation can do": (
        "above-peak",
        multiplied(UNLISTED, 2.1 * OF_UNITS),
    ),
    "a product at four times the best card's rate on a device that is not known": (
        "above-peak",
        multiplied(STRANGE, 4.1 * 163.4e12),
    ),
}
"""What is done to the good run, with the code that refuses it."""

DOUBTED: dict[str, tuple[str, Spoil]] = {
    "a copy above the memory's rate where the cache is small": (
        "faster-than-memory",
        copied(RTX_2070_SUPER, 380_000_000, 1.15 * 448e9),
    ),
    "a copy out of caches twenty times as fast as the memory": (
        "faster-than-memory",
        copied(L4, 25_000_000, 20 * 300e9),
    ),
    "a product above what the units of its generation can do": (
        "near-peak",
        multiplied(UNLISTED, 1.2 * OF_UNITS),
    ),
    "a product above the best card's rate on a device that is not known": (
        "near-peak",
        multiplied(STRANGE, 1.2 * 163.4e12),
    ),
}
"""What is done to the good run, with the code that warns of it: an honest machine can be so."""
