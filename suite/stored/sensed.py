# SPDX-License-Identifier: MIT
"""The types of what sensors said, of a case and of the whole run."""

from msgspec import Struct, field

from suite.stored.basics import Integer, Name, Number, Text


class Sensed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the sensors of one device said while a case was in flight, in all launches together.

    readings : how often they were read
    values : the least, the median and the greatest reading of each quantity; their names end
        with the unit (see ``Telemetry``)
    held_back : the part of the readings in which something held the clock back, by NVML's name
        of it; empty where nothing did, ``None`` where the device does not tell
    pcie_replays : packets that PCIe sent again; ``None`` where the device does not count them
    """

    readings: Integer
    values: dict[Name, tuple[Number, Number, Number]]
    held_back: dict[Name, Number] | None = None
    pcie_replays: Integer | None = None


class Energy(Struct, frozen=True, kw_only=True):
    """What a call costs while it is repeated for two seconds, launch by launch.

    joules : of all devices that take part, of one call; ``None`` where a launch did not tell
    seconds : of one call in that time
    """

    joules: list[Number | None]
    seconds: list[Number | None]


class Telemetry(Struct, kw_only=True):
    """What the sensors said from the first launch to the end of the run.

    Clocks are in hertz, power in watts, energy in joules since the first reading, temperature in
    degrees Celsius; ``fan`` and ``utilization`` are fractions, ``load`` is the system's own of the
    last minute, and the CPU's clock that of its fastest usable core.

    begun, step : when the series begin, in seconds since the run began, and how long a step is
    series : by device and quantity the median of each step's readings, ``None`` where nothing was
        read in a step, or where the quantity cannot be read at all
    held_back : by device and by what held the clock back, the part of each step's readings
    launches : when the first case of each launch began, in seconds since the run began
    unknown : why a quantity could not be read, or no longer, by dotted path (``cuda:0.fan``)
    cost : CPU seconds that sampling took, for each second of it
    idle_watts : by device, before the first launch, while nothing ran; without those that do not
        count their energy
    """

    begun: Number
    step: Number
    series: dict[Name, dict[Name, list[Number | None] | None]]
    held_back: dict[Name, dict[Name, list[Number | None]]]
    launches: list[Number]
    unknown: dict[Name, Text]
    cost: Number
    idle_watts: dict[Name, Number] = field(default_factory=dict)
