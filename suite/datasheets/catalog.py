# SPDX-License-Identifier: MIT
"""What datasheets say of an accelerator, and which part of it a measured rate is.

`catalog.csv` has a `Figure` a row. A ``peak_`` is the most that a matrix product can reach in a
precision: dense, with the accumulator that PyTorch uses, on the fastest units. One name of torch
can mean several devices; memory and multiprocessors tell them apart, and where they do not, only
the figures count on which all of them agree. A CPU has no datasheet here.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from frobench.suite.stored.types import Accelerator
from frobench.suite.units import format_value

PATH = Path(__file__).with_name("catalog.csv")
PRECISIONS = ("float64", "float32", "tfloat32", "bfloat16", "float16", "float8_e4m3fn", "int8")
"""Named as the benchmarks name them; a device has a ``peak_`` for those it has units for."""
MEMORY_SEEN = (0.88, 1.02)
"""What torch sees of the memory on the label: ECC and the driver take up to a tenth."""
PCIE = {
    1: (2.5e9, 8 / 10),
    2: (5e9, 8 / 10),
    3: (8e9, 128 / 130),
    4: (16e9, 128 / 130),
    5: (32e9, 128 / 130),
    6: (64e9, 242 / 256),
}
"""Bits a second of one lane in one direction, by generation, and the part of them that the encoding
(from generation 6: the error correction) leaves; source: PCI-SIG."""


class NotInCatalogError(LookupError):
    """Raised for what is not listed; the message says what, as the end of a sentence."""


class Figure(NamedTuple):
    """A number of a datasheet.

    torch_name : a regular expression that the name given by torch matches
    value : in ``unit``, one of FLOP/s, op/s, B/s, B, Hz, W and count
    clock_hz : what a peak assumes; ``None`` where its source does not tell
    conditions : for a peak begins with "dense", the units that compute, and the accumulator
    """

    device: str
    vendor: str
    torch_name: str
    quantity: str
    value: float
    unit: str
    clock_hz: float | None
    conditions: str
    source: str


def by_width(wide: float, two_bytes: float, one_byte: float, precision: str) -> float:
    """Return the operations in a clock that a precision needs, by the width of its numbers.

    Units for tfloat32 are at most those for two bytes; an unknown precision may have half a byte.
    """
    known = {"float64": wide, "float32": wide, "int8": one_byte, "float8_e4m3fn": one_byte}
    known |= {"tfloat32": two_bytes, "bfloat16": two_bytes, "float16": two_bytes}
    return known.get(precision, 2 * one_byte)


class Generation(NamedTuple):
    """The most that devices of a compute capability have, in SI units.

    slot : newest PCI Express of its cards; 0 where a chip may share the memory of its host
    peer, memory : bytes a second to another device in one direction, and of the memory
    wide, narrow : operations of a multiprocessor in a clock, in float32 or float64, and on numbers
        of two bytes
    """

    slot: float
    peer: float
    memory: float
    wide: float
    narrow: float

    def operations(self, precision: str) -> float:
        """Return the operations in a clock; of an unknown precision, those on half a byte."""
        return by_width(self.wide, max(self.wide, self.narrow), 2 * self.narrow, precision)


class PeakRate(NamedTuple):
    """The peak rate of products, memory or a link, at a clock if it depends on one.

    name : such as "the datasheet's dense bfloat16 peak"
    figure : such as "989 TFLOP/s at a boost clock of 1.83 GHz"
    """

    rate: float
    name: str
    figure: str
    clock_hz: float | None = None


class Sheet(NamedTuple):
    """The catalog's names of what an accelerator may be, almost always one, and their figures."""

    devices: tuple[str, ...]
    figures: Mapping[str, Figure]

    def figure(self, quantity: str) -> Figure:
        """Return a figure; raises `NotInCatalogError` if the devices have none or do not agree."""
        if quantity not in self.figures:
            what = quantity.replace("_", " ", 1)
            raise NotInCatalogError(f"the catalog has no {what} of {' or '.join(self.devices)}")
        return self.figures[quantity]


def rows(
    path: Path, columns: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a table below its header, each behind its place (``file:line``).

    optional : columns that a table may have behind the others; without them their cells are empty

    Raises `ValueError` for what is no table of text or has other columns.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:  # spreadsheets begin with a mark
            header, *lines = [*csv.reader(file)] or [[]]
    except (UnicodeError, csv.Error) as error:
        raise ValueError(f"{path.name}: no table of text: {error}") from error
    if header not in ([*columns], [*columns, *optional]):
        raise ValueError(f"{path.name}: the columns are not {', '.join((*columns, *optional))}")
    for number, row in enumerate(lines, 2):
        if len(row) != len(header):
            raise ValueError(f"{path.name}:{number}: {len(row)} columns, not {len(header)}")
        yield f"{path.name}:{number}", row + [""] * (len(columns) + len(optional) - len(row))


def read(path: Path = PATH) -> list[Figure]:
    """Return all rows of a catalog; raises `ValueError` as `rows`, or if a value is no number."""
    figures = []
    for where, row in rows(path, Figure._fields):
        text = Figure._make(row)
        try:
            clock_hz = float(text.clock_hz) if text.clock_hz else None
            figures.append(text._replace(value=float(text.value), clock_hz=clock_hz))
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error
    return figures


@cache
def devices() -> Mapping[str, Mapping[str, Figure]]:
    """Return the figures of each device by their quantity."""
    known: dict[str, dict[str, Figure]] = {}
    for figure in read():
        known.setdefault(figure.device, {})[figure.quantity] = figure
    return known


@cache
def generations() -> Mapping[str, Generation]:
    """Return what is known of generations by their compute capability."""
    table = rows(PATH.with_name("generations.csv"), ("capability", *Generation._fields, "examples"))
    return {row[0]: Generation._make(map(float, row[1:-1])) for _, row in table}


def generation(accelerator: Accelerator | None) -> Generation | None:
    """Return what is known of a device's generation, without the features that ROCm appends."""
    capability = accelerator.capability if accelerator else None
    return generations().get((capability or "").partition(":")[0])


@cache
def _named(name: str) -> dict[str, Mapping[str, Figure]]:
    return {
        device: figures
        for device, figures in devices().items()
        if re.search(next(iter(figures.values())).torch_name, name)
    }


def sheet(accelerator: Accelerator) -> Sheet:
    """Return what datasheets say of an accelerator of a stored run."""
    named = _named(accelerator.name)
    if not named:
        raise NotInCatalogError(f"the catalog has no datasheet of {accelerator.name!r}")
    fitting = {device: printed for device, printed in named.items() if _fits(printed, accelerator)}
    if not fitting:
        raise NotInCatalogError(
            f"memory or multiprocessors are not those of the catalog's {' or '.join(named)}"
        )
    first, *others = fitting.values()
    agreed = {
        quantity: figure
        for quantity, figure in first.items()
        if all(
            (other := figures.get(quantity))
            and (other.value, other.clock_hz) == (figure.value, figure.clock_hz)
            for figures in others
        )
    }
    return Sheet(tuple(fitting), agreed)


def _fits(figures: Mapping[str, Figure], accelerator: Accelerator) -> bool:
    """Tell whether nothing that is known of both contradicts."""
    memory, units = (figures.get(name) for name in ("memory_bytes", "multiprocessors"))
    low, high = MEMORY_SEEN
    shown, counted = accelerator.memory_bytes, accelerator.multiprocessors
    if memory and shown is not None and not low <= shown / memory.value <= high:
        return False
    return units is None or counted is None or counted == units.value


def peak(known: Sheet, precision: str, clock_hz: float | None = None) -> PeakRate:
    """Return the most that a matrix product can reach in one of the `PRECISIONS`.

    clock_hz : the clock that was seen while it ran, to which a peak with a known clock is scaled:
        cards run above the boost clock of their datasheet, and below it when power is short
    """
    figure = known.figure(f"peak_{precision}")
    rate, clock, at = figure.value, figure.clock_hz, ""
    if clock and clock_hz:
        rate, clock = rate * clock_hz / clock, clock_hz
        at = f" at the {format_value(clock, 'Hz', 4)} that were seen"
    elif clock:
        at = f" at a boost clock of {format_value(clock, 'Hz', 4)}"
    name = f"the datasheet's dense {precision} peak"
    return PeakRate(rate, name, f"{format_value(rate, figure.unit)}{at}", clock)


def memory_bandwidth(known: Sheet) -> PeakRate:
    """Return the bytes a second that the device's memory reads and writes together at most."""
    return _bandwidth(known.figure("memory_bandwidth"), "the datasheet's memory bandwidth")


def last_level_cache(figures: Mapping[str, Figure]) -> float | None:
    """Return the bytes of the last cache before a device's memory, where the figures tell.

    NVIDIA's and Intel's have none behind their L2.
    """
    second, last = figures.get("l2_bytes"), figures.get("last_level_cache_bytes")
    if last is None and second is not None and second.vendor in {"NVIDIA", "Intel"}:
        last = second
    return last.value if last else None


def host_link(accelerator: Accelerator) -> PeakRate:
    """Return the bytes a second between host and device in one direction at most.

    Unless the catalog knows a link of the device's own, the link is PCI Express, as wide as it was,
    and of the newest generation of device and slot: an idle link falls back to an older one.
    """
    name = "the link's rate in one direction"
    try:
        return _bandwidth(sheet(accelerator).figure("host_bandwidth"), name)
    except NotInCatalogError:
        generation, lanes = accelerator.pcie_generation_max, accelerator.pcie_width
    rate = pcie_rate(generation or 0, lanes or 0)
    return PeakRate(rate, name, f"{format_value(rate, 'B/s')}, PCIe {generation}.0 x{lanes}")


def pcie_rate(generation: int, lanes: int) -> float:
    """Return the bytes a second of a PCI Express link in one direction, after its encoding."""
    if generation not in PCIE or lanes < 1:
        raise NotInCatalogError(f"no rate is known of PCIe generation {generation} x{lanes}")
    bits, left = PCIE[generation]
    return bits * left * lanes / 8


def _bandwidth(figure: Figure, name: str) -> PeakRate:
    return PeakRate(figure.value, name, format_value(figure.value, figure.unit))
